from . import assets, books, records, rq_dashboard

__all__ = ["assets", "books", "records", "rq_dashboard"]
