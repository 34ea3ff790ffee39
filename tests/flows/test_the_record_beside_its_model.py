"""Random commands, edits, deletes, layer switches, results and ticks, beside a small model of SPEC §2 to §8."""

from dataclasses import dataclass
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from dispatch.failures import Failure
from dispatch.models import Dispatch, TickLease
from dispatch.results.accept import accept, accept_error
from dispatch.tick import run_tick
from generation import store
from generation.commands import (
    cancel,
    cancel_task,
    delete,
    edit,
    layers,
    pause,
    placeholder,
    regenerate,
    restore,
    retry,
)
from generation.commands.answers import Actor
from generation.commands.regenerate import Scope
from generation.exceptions import Conflict, LayerDisabled
from generation.models import Asset, Book, Command, JournalEntry, StageConfig, Target, Task
from tests.capacity import leases
from tests.doubles.films import mp4
from tests.doubles.hub import FakeHub
from tests.doubles.pictures import webp
from tests.doubles.record_model import STAGES, Model
from tests.doubles.sounds import mp3
from tests.factories.books import make_book

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

SCENES = 3
ACTOR = Actor("operator")
CONTENT = {"audio": ("audio/mpeg", mp3), "image": ("image/webp", webp), "video": ("video/mp4", mp4)}


@dataclass(frozen=True)
class Choice:
    """What a step may use to choose with."""

    number: int
    flag: bool
    stages: tuple[str, ...]
    stage: str


CHOICES = st.builds(
    Choice,
    number=st.integers(min_value=0, max_value=10**6),
    flag=st.booleans(),
    stages=st.sampled_from([(), (), ("image",), ("audio",), ("image", "video"), STAGES]),
    stage=st.sampled_from(STAGES),
)
WEIGHTS = {
    "tick": 7,
    "deliver": 8,
    "regenerate": 5,
    "edit": 3,
    "fail": 2,
    "restore": 2,
    "back_off_passes": 2,
    "stop": 1,
    "switch_layer": 2,
    "cancel_one_task": 1,
    "pause": 1,
    "retry": 2,
    "fill_with_placeholders": 1,
    "delete_a_scene": 1,
    "deliver_late": 1,
}
WEIGHTED = [kind for kind, weight in WEIGHTS.items() for _ in range(weight)]


class Record(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        for name in STAGES:
            StageConfig.objects.create(stage=name, quota=100)
        self.book = make_book(scenes=SCENES)
        self.scene_pks = dict(self.book.scenes.values_list("position", "pk"))
        self.model, self.hub = Model(SCENES), FakeHub()
        self.ended = []

    def teardown(self):
        for model in (Dispatch, Book, Command, JournalEntry, StageConfig, TickLease):
            model.objects.all().delete()

    def row(self, asset) -> Asset:
        return Asset.objects.get(scene=self.scene_pks[asset.scene], stage=asset.stage)

    def choose(self, number, assets):
        return sorted(assets, key=lambda asset: (asset.scene, asset.stage))[number % len(assets)]

    @rule(kind=st.sampled_from(WEIGHTED), chosen=CHOICES)
    def step(self, kind, chosen):
        """Do one thing; what is impossible now is a tick. One rule, so that every history mixes all kinds."""
        if not getattr(self, kind)(chosen):
            self.tick(chosen)

    def regenerate(self, chosen):
        scenes, scope, ids = list(self.model.scenes), Scope.WHOLE_BOOK, ()
        if chosen.flag:
            scenes = [scenes[chosen.number % len(scenes)]]
            scope, ids = Scope.SCENE, (self.scene_pks[scenes[0]],)
        rebuild = chosen.number % 4 == 0
        request = regenerate.Request(self.book.pk, tuple(chosen.stages), scope, ids, rebuild_all=rebuild)
        expected = self.model.regenerate(chosen.stages, scenes, rebuild=rebuild)
        if expected is None:
            with pytest.raises(LayerDisabled):
                regenerate.apply(request, ACTOR)
        else:
            assert len(regenerate.apply(request, ACTOR)["tasks"]) == len(expected)
        return True

    def stop(self, chosen):
        cancel.apply(cancel.Request(self.book.pk, tuple(chosen.stages)), ACTOR)
        self.model.stop(chosen.stages or STAGES)
        return True

    def switch_layer(self, chosen):
        """Mostly on: a layer that is off ends what there is to see."""
        on = chosen.number % 3 > 0
        layers.apply(layers.Request(self.book.pk, chosen.stage, on), ACTOR)
        self.model.switch(chosen.stage, on=on)
        return True

    def cancel_one_task(self, chosen):
        if not self.model.tasks:
            return False
        index = chosen.number % len(self.model.tasks)
        cancel_task.apply(cancel_task.Request(Task.objects.order_by("pk")[index].pk), ACTOR)
        self.model.cancel_task(index + 1)
        return True

    def pause(self, chosen):
        paused = chosen.number % 3 == 0
        pause.apply(pause.Request(pause.Level.BOOK, paused, self.book.pk), ACTOR)
        self.model.paused = paused
        return True

    def retry(self, chosen):
        answer = retry.apply(retry.Request(self.book.pk), ACTOR)
        assert len(answer["tasks"]) == len(self.model.retry())
        return True

    def fill_with_placeholders(self, chosen):
        placeholder.apply(placeholder.Request(self.book.pk), ACTOR)
        self.model.fill()
        return True

    def edit(self, chosen):
        scene = list(self.model.scenes)[chosen.number % len(self.model.scenes)]
        pk, present = self.scene_pks[scene], self.model.scenes[scene]
        if chosen.flag:
            speed = 100 + present.audio_config % 100
            request = edit.VoicesRequest(self.book.pk, f"v{present.audio_config}", speed, Scope.SCENE, (pk,))
            edit.apply_voices(request, ACTOR)
            self.model.edit_voices(scene)
        else:
            edit.apply_text(edit.TextRequest(pk, f"The text number {present.content}."), ACTOR)
            self.model.edit_text(scene)
        return True

    def delete_a_scene(self, chosen):
        if len(self.model.scenes) == 1:
            return False
        scene = list(self.model.scenes)[chosen.number % len(self.model.scenes)]
        delete.apply(delete.Request(delete.What.SCENE, (self.scene_pks[scene],)), ACTOR)
        self.model.delete(scene)
        return True

    def restore(self, chosen):
        made = [asset for asset in self.model.assets.values() if asset.artifacts]
        if not made:
            return False
        asset = self.choose(chosen.number, made)
        request = restore.Request(self.row(asset).artifacts.order_by("version")[0].pk)
        if self.model.restore(asset):
            restore.apply(request, ACTOR)
        else:
            with pytest.raises(Conflict):
                restore.apply(request, ACTOR)
        return True

    def running(self, chosen):
        """Return one asset that is being made, with its dispatch."""
        running = [asset for asset in self.model.assets.values() if asset.dispatch is not None]
        if not running:
            return None
        asset = self.choose(chosen.number, running)
        dispatch = Dispatch.objects.get(asset=self.row(asset), status="active")
        self.ended.append(dispatch)
        return asset, dispatch

    def deliver(self, chosen):
        found = self.running(chosen)
        if found:
            asset, dispatch = found
            self.hand_over(dispatch)
            self.model.deliver(asset)
        return bool(found)

    def fail(self, chosen):
        found = self.running(chosen)
        if found:
            asset, dispatch = found
            failure = Failure("artifact_gone" if chosen.flag else "render_failed")
            accept_error(dispatch.dispatch_id, dispatch.jobs.get().job_id, "", failure)
            self.model.fail(asset, permanent=chosen.flag)
        return bool(found)

    def deliver_late(self, chosen):
        """Whatever ended once, ends nothing a second time."""
        if self.ended:
            dispatch = self.ended[chosen.number % len(self.ended)]
            if chosen.flag:
                self.hand_over(dispatch)
            else:
                accept_error(dispatch.dispatch_id, dispatch.jobs.get().job_id, "", Failure("render_failed"))
        return bool(self.ended)

    def hand_over(self, dispatch):
        job = dispatch.jobs.get()
        content_type, content = CONTENT[dispatch.stage]
        file = store.save(dispatch.asset_pk, dispatch.dispatch_id, job.unit, "main", content_type, content())
        accept(dispatch.dispatch_id, job.job_id, str(dispatch.build_id), {"main": file})

    def back_off_passes(self, chosen):
        Asset.objects.update(deferred_until=None)
        for asset in self.model.assets.values():
            asset.deferred = False
        return True

    def tick(self, chosen):
        run_tick(self.hub)
        self.model.tick()
        for name in STAGES:
            live = Dispatch.objects.filter(status="active", stage=name)
            assert leases(name) == {one.asset_pk: one.dispatch_id for one in live}
        active = set(Dispatch.objects.filter(status="active").values_list("dispatch_id", flat=True))
        finished = {one.dispatch_id for one in self.ended}
        assert {ref.dispatch_id for ref in self.hub.jobs} - finished == active - finished
        return True

    @invariant()
    def the_record_is_what_the_model_says(self):
        if not hasattr(self, "model"):
            return
        open_targets = dict(Target.objects.filter(status="open").values_list("asset", "intent"))
        active = dict(Dispatch.objects.filter(status="active").values_list("asset_pk", "intent"))
        for asset in self.model.assets.values():
            row = self.row(asset)
            found = (row.state, row.intent, row.pk in open_targets, row.deferred_until is not None, active.get(row.pk))
            dispatch = asset.dispatch.intent if asset.dispatch else None
            expected = (asset.state, asset.intent, asset.task is not None, asset.deferred, dispatch)
            assert found == expected, f"scene {asset.scene} {asset.stage}"
            assert row.artifacts.count() == len(asset.artifacts)
            made = row.published and (row.published.content_version, row.published.audio_config_version)
            assert made == (asset.published and (asset.published.content, asset.published.audio_config))
        statuses = list(Task.objects.order_by("pk").values_list("stage", "status"))
        assert statuses == [self.model.tasks[number] for number in sorted(self.model.tasks)]
        assert not Asset.objects.filter(state="pending").exclude(pk__in=open_targets).exists()


# A history of thirty steps costs seconds: shrinking one would cost minutes, and its steps are printed anyway.
FEW = settings(
    max_examples=20 if settings().derandomize else 100,
    stateful_step_count=30,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.usefixtures("no_circuit")
def test_random_histories_leave_the_record_as_the_model_says(settings):
    # The model's clock stands still between two steps; the machine's may not.
    never = timedelta(days=1)
    settings.ANIMASTOR = settings.ANIMASTOR | {"ring_gap": timedelta(0), "backoff_first": never, "backoff_most": never}
    run_state_machine_as_test(Record, settings=FEW)
