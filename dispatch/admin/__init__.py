from . import books, records, rq_dashboard

__all__ = ["books", "records", "rq_dashboard"]
