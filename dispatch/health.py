"""Whether this installation works: what a load balancer and a supervisor ask."""

from collections.abc import Callable

from django.db import Error as DatabaseError
from django.db.models.functions import Now
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from dispatch.capacity.snapshot import CapacityUnavailable, ping
from dispatch.config import config
from dispatch.models import TickReport

# Ticks that may be late before nobody ticks.
INTERVALS = 3


@csrf_exempt
@never_cache
@require_safe
def live(request: HttpRequest) -> JsonResponse:
    """200 while the process answers, whatever is away: restarting it would help nobody."""
    return JsonResponse({"status": "live"})


@csrf_exempt
@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """200 when work goes on, else 503 with what does not."""
    problems = {name: problem for name, check in CHECKS.items() if (problem := check())}
    status = {"status": "not ready" if problems else "ready", "problems": problems}
    return JsonResponse(status, status=503 if problems else 200)


def _tick() -> str | None:
    """Return why nothing moves: PostgreSQL is away, or the last tick is three intervals old."""
    stale = Now() - INTERVALS * config().tick_interval
    try:
        if TickReport.objects.filter(created_at__gte=stale).exists():
            return None
        last = TickReport.objects.order_by("-created_at").values_list("created_at", flat=True).first()
    except DatabaseError:
        return "PostgreSQL cannot be asked."
    return f"No tick has run since {last:%Y-%m-%d %H:%M:%S} UTC." if last else "No tick has ever run."


def _capacity() -> str | None:
    try:
        ping()
    except CapacityUnavailable:
        return "Redis cannot be asked."
    return None


CHECKS: dict[str, Callable[[], str | None]] = {"tick": _tick, "redis": _capacity}
