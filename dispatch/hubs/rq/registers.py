"""One reading of everything RQ knows about our jobs, in two round trips however many jobs there are."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

from redis import Redis

from dispatch.hubs.base import Life, LiveWorker
from generation.stages import StageName

from . import keys


@dataclass
class Registers:
    """RQ ids by where they are. `running` maps to the stage whose queue they came from."""

    queued: dict[str, str] = field(default_factory=dict)
    running: dict[str, str] = field(default_factory=dict)
    finished: dict[str, str] = field(default_factory=dict)
    abandoned: dict[str, str] = field(default_factory=dict)
    beats: list[LiveWorker] = field(default_factory=list)

    def life(self, rq_id: str) -> Life:
        if rq_id in self.running:
            return Life.RUNNING
        if rq_id in self.queued:
            return Life.QUEUED
        # Its result waits to be fetched: neither alive nor lost.
        return Life.UNKNOWN if rq_id in self.finished else Life.ABSENT

    def everywhere(self) -> Iterable[tuple[str, str]]:
        """Yield (RQ id, stage) of every job in a register, running ones included."""
        for register in (self.queued, self.running, self.abandoned, self.finished):
            yield from register.items()


def read_beats(connection: Redis) -> list[LiveWorker]:
    """Return the live workers; forget those whose beat ended. A beat lives by its key's TTL, not by any clock."""
    pipeline = connection.pipeline(transaction=False)
    pipeline.smembers(keys.WORKERS)
    pipeline.smembers(keys.DRAINING)
    members, told_to_stop = pipeline.execute()
    names = sorted(cast(bytes, name).decode() for name in members)
    if not names:
        return []
    values = connection.mget([keys.beat(name) for name in names])
    dead = [name for name, value in zip(names, values, strict=True) if value is None]
    if dead:
        connection.srem(keys.WORKERS, *dead)
        connection.srem(keys.DRAINING, *dead)
    beats = []
    for name, value in zip(names, values, strict=True):
        if value is not None:
            told = json.loads(value)
            beats.append(
                LiveWorker(name, told["stage"], told["job"], told["draining"] or name.encode() in told_to_stop)
            )
    return beats


def read_registers(connection: Redis, stages: Sequence[str] = tuple(StageName.values)) -> Registers:
    """Read the queues of these stages. Raises redis.RedisError when Redis does not answer; a part is no reading."""
    registers = Registers(beats=read_beats(connection))
    pipeline = connection.pipeline(transaction=False)
    pipeline.time()
    for stage in stages:
        pipeline.lrange(keys.queue(stage), 0, -1)
        pipeline.lrange(keys.intermediate(stage), 0, -1)
        pipeline.zrange(keys.started(stage), 0, -1, withscores=True)
        pipeline.zrange(keys.finished(stage), 0, -1)
    answers = iter(pipeline.execute())
    now_s = next(answers)[0]
    for stage in stages:
        for _ in ("queue", "intermediate"):
            registers.queued.update((raw.decode(), stage) for raw in next(answers))
        for raw, expires_s in next(answers):
            (registers.running if expires_s > now_s else registers.abandoned)[keys.rq_id_of(raw)] = stage
        registers.finished.update((raw.decode(), stage) for raw in next(answers))
    for beat in registers.beats:
        if beat.job:
            registers.running[beat.job] = beat.stage
    return registers
