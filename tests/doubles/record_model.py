"""A small model of what SPEC §2 to §8 say about one book, to compare the record with after every step."""

from dataclasses import dataclass, field

SPOKEN = ("audio", "video")
STAGES = ("audio", "image", "video")
STAND_INS = ("audio", "image")


@dataclass
class Scene:
    content: int = 1
    audio_config: int = 1
    recheck: bool = False


@dataclass(frozen=True)
class Made:
    """What something is made from; `number` tells one result of an asset from another."""

    number: int
    content: int
    audio_config: int
    inputs: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Dispatch:
    intent: int
    made: Made


@dataclass
class Asset:
    scene: int
    stage: str
    state: str = "new"
    intent: int = 0
    task: int | None = None  # the task of its open target
    deferred: bool = False
    published: Made | None = None
    artifacts: list[Made] = field(default_factory=list)
    dispatch: Dispatch | None = None
    spent: int = 0


class Model:
    def __init__(self, scenes: int) -> None:
        self.scenes = {number: Scene() for number in range(1, scenes + 1)}
        self.assets = {(scene, stage): Asset(scene, stage) for scene in self.scenes for stage in STAGES}
        self.tasks: dict[int, tuple[str, str]] = {}  # task → (stage, status)
        self.failed: set[tuple[int, int]] = set()  # (task, scene) of failed targets; they go with their scene
        self.off: set[str] = set()
        self.cancelled: set[str] = set()
        self.paused = False
        self.numbers = 0

    # --- questions -------------------------------------------------------------------------------------------------

    def _ask(self, scene: int, stage: str) -> Asset:
        return self.assets[scene, stage]

    def made_now(self, asset: Asset) -> Made:
        scene = self.scenes[asset.scene]
        inputs = ()
        if asset.stage == "video":
            siblings = [self._ask(asset.scene, stage) for stage in ("image", "audio")]
            inputs = tuple(sorted((one.stage, one.published.number) for one in siblings if one.published))
        return Made(0, scene.content, scene.audio_config, inputs)

    def is_older(self, asset: Asset, made: Made) -> bool:
        scene = self.scenes[asset.scene]
        return made.content != scene.content or (asset.stage in SPOKEN and made.audio_config != scene.audio_config)

    def is_stale(self, asset: Asset) -> bool:
        made = asset.published
        if made is None:
            return False
        nothing = Made(-1, 0, 0)
        present = {stage: self._ask(asset.scene, stage).published or nothing for stage, _ in made.inputs}
        replaced = any(present[stage].number != number for stage, number in made.inputs)
        on = [stage for stage, _ in made.inputs if stage not in self.off]
        from_older = any(self.is_older(self._ask(asset.scene, stage), present[stage]) for stage in on)
        return self.is_older(asset, made) or replaced or from_older

    def satisfied(self, scene: int) -> bool:
        image = self._ask(scene, "image")
        return image.state == "ready" or ("image" in self.off and image.published is not None)

    def coming(self, scene: int, stage: str) -> bool:
        return self._ask(scene, stage).task is not None

    def lacks_image(self, asset: Asset) -> bool:
        return asset.stage == "video" and not self.satisfied(asset.scene) and not self.coming(asset.scene, "image")

    def may_exist(self, asset: Asset) -> bool:
        return asset.stage not in self.cancelled and asset.task is not None and asset.stage not in self.off

    def may_start(self, asset: Asset) -> bool:
        waits = asset.stage == "video" and any(self.coming(asset.scene, stage) for stage in ("image", "audio"))
        free = not (self.paused or asset.deferred or waits or self.lacks_image(asset))
        return self.may_exist(asset) and free

    # --- commands --------------------------------------------------------------------------------------------------

    def plan(self, stages, scenes, *, rebuild: bool, only_failed: bool = False) -> list[Asset]:
        chosen: list[Asset] = []
        for stage in STAGES:
            if stage not in stages or stage in self.off:
                continue
            for scene in scenes:
                asset = self._ask(scene, stage)
                if only_failed and asset.state != "failed":
                    continue
                has_image = any((one.scene, one.stage) == (scene, "image") for one in chosen)
                if self._is_target(asset, rebuild=rebuild) and not (self.lacks_image(asset) and not has_image):
                    chosen.append(asset)
        return chosen

    def _is_target(self, asset: Asset, *, rebuild: bool) -> bool:
        if rebuild:
            return True
        if asset.state == "ready" and not self.is_stale(asset):
            return False
        making = asset.dispatch.made if asset.dispatch else None
        current = asset.state == "generating" and making is not None and not self.is_older(asset, making)
        return not (asset.state == "pending" or current)

    def regenerate(self, stages, scenes, *, rebuild: bool) -> list[str] | None:
        """Return the stages that got a task, None when the command is refused."""
        if stages and all(stage in self.off for stage in stages):
            return None
        chosen = self.plan(stages or STAGES, scenes, rebuild=rebuild)
        self.cancelled -= set(stages or STAGES)
        return self.queue(chosen)

    def queue(self, chosen: list[Asset]) -> list[str]:
        stages = [stage for stage in STAGES if any(asset.stage == stage for asset in chosen)]
        for stage in stages:
            task = len(self.tasks) + 1
            self.tasks[task] = (stage, "active")
            self.cancelled.discard(stage)
            for asset in chosen:
                if asset.stage == stage:
                    self.touch(asset)
                    asset.task, asset.state = task, "pending"
        return stages

    def touch(self, asset: Asset) -> None:
        asset.intent += 1
        asset.deferred, asset.spent, asset.task = False, 0, None

    def take_back(self, assets) -> None:
        for asset in assets:
            if asset.task is not None or asset.state in ("pending", "generating"):
                self.touch(asset)
                if asset.state in ("pending", "generating"):
                    asset.state = "dirty"

    def stop(self, stages) -> None:
        self.cancelled |= set(stages)
        self._end_tasks(stages)

    def switch(self, stage: str, *, on: bool) -> None:
        if on:
            self.off.discard(stage)
        else:
            self.off.add(stage)
            self._end_tasks([stage])

    def _end_tasks(self, stages) -> None:
        self.take_back([asset for asset in self.assets.values() if asset.stage in stages])
        for task, (stage, status) in self.tasks.items():
            if stage in stages and status == "active":
                self.tasks[task] = (stage, "cancelled")

    def cancel_task(self, task: int) -> None:
        stage, status = self.tasks[task]
        if status == "active":
            self.take_back([asset for asset in self.assets.values() if asset.task == task])
            self.tasks[task] = (stage, "cancelled")

    def retry(self) -> list[str]:
        return self.queue(self.plan(STAGES, self.scenes, rebuild=False, only_failed=True))

    def edit_text(self, scene: int) -> None:
        self.scenes[scene].content += 1
        self.scenes[scene].recheck = True

    def edit_voices(self, scene: int) -> None:
        self.scenes[scene].audio_config += 1
        self.scenes[scene].recheck = True

    def delete(self, scene: int) -> None:
        del self.scenes[scene]
        self.failed = {(task, one) for task, one in self.failed if one != scene}
        self.assets = {key: asset for key, asset in self.assets.items() if asset.scene != scene}

    def fill(self) -> None:
        for asset in self.assets.values():
            empty = asset.state in ("new", "dirty") and asset.task is None and asset.published is None
            if empty and asset.stage in STAND_INS:
                asset.state = "placeholder"

    def restore(self, asset: Asset) -> bool:
        """Publish the oldest version; return False when that is refused."""
        if asset.task is not None or asset.state in ("pending", "generating"):
            return False
        self.touch(asset)
        asset.published = asset.artifacts[0]
        asset.state = "dirty" if self.is_stale(asset) else "ready"
        self.scenes[asset.scene].recheck |= asset.stage != "video"
        return True

    # --- results ---------------------------------------------------------------------------------------------------

    def deliver(self, asset: Asset) -> None:
        dispatch = self._end(asset)
        if dispatch is None:
            return
        if self.is_older(asset, dispatch.made):
            asset.state = "dirty"
            return
        self.numbers += 1
        made = Made(self.numbers, dispatch.made.content, dispatch.made.audio_config, dispatch.made.inputs)
        asset.artifacts = [*asset.artifacts, made][-3:]
        asset.published, asset.state, asset.task = made, "ready", None
        self.scenes[asset.scene].recheck |= asset.stage != "video" or bool(made.inputs)

    def fail(self, asset: Asset, *, permanent: bool) -> None:
        if self._end(asset) is None:
            return
        if permanent:
            self._give_up(asset)
        else:
            asset.state, asset.deferred, asset.spent = "pending", True, asset.spent + 1

    def _give_up(self, asset: Asset) -> None:
        if asset.task is not None:
            self.failed.add((asset.task, asset.scene))
        asset.state, asset.task = "failed", None

    def _end(self, asset: Asset) -> Dispatch | None:
        """End the asset's dispatch; return it when its result counts."""
        dispatch, asset.dispatch = asset.dispatch, None
        if dispatch is None or dispatch.intent != asset.intent:
            return None
        if not self.may_exist(asset):
            asset.state = "dirty"
            return None
        return dispatch

    # --- the tick --------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        for asset in self.assets.values():
            dispatch = asset.dispatch
            if dispatch is not None and (dispatch.intent != asset.intent or not self.may_exist(asset)):
                self._end(asset)
        self._settle()
        self._mark_stale()
        startable = [asset for asset in self.assets.values() if asset.state == "pending" and asset.dispatch is None]
        for asset in [asset for asset in startable if self.may_start(asset)]:
            asset.state, asset.dispatch = "generating", Dispatch(asset.intent, self.made_now(asset))

    def _settle(self) -> None:
        lacking = [one for one in self.assets.values() if one.state == "pending" and one.task and self.lacks_image(one)]
        for asset in lacking:
            self._give_up(asset)
        for asset in self.assets.values():
            if asset.state == "dirty" and asset.task is not None:
                asset.state = "pending"
        failed_tasks = {task for task, _ in self.failed}
        open_tasks = {asset.task for asset in self.assets.values()}
        for task, (stage, status) in self.tasks.items():
            if status == "active" and task not in open_tasks:
                self.tasks[task] = (stage, "failed" if task in failed_tasks else "completed")

    def _mark_stale(self) -> None:
        for number, scene in self.scenes.items():
            flagged = [self._ask(number, stage) for stage in STAGES if scene.recheck and stage not in self.off]
            stale = [asset for asset in flagged if asset.state == "ready" and self.is_stale(asset)]
            for asset in stale:
                asset.state = "dirty"
            scene.recheck = False
