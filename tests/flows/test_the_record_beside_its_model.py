"""Random commands, edits, deletes, layer switches, results and ticks, beside a small model of SPEC §2 to §8."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
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
from tests.doubles.hub import FakeHub
from tests.doubles.pictures import webp
from tests.doubles.record_model import STAGES, Model
from tests.doubles.sounds import mp3
from tests.factories.books import make_book

pytestmark = pytest.mark.django_db(transaction=True)

SCENES = 3
ACTOR = Actor("operator")
CONTENT = {"audio": ("audio/mpeg", mp3), "image": ("image/webp", webp), "video": ("video/mp4", lambda: b"v" * 200)}
stages = st.lists(st.sampled_from(STAGES), unique=True, max_size=3)
stage = st.sampled_from(STAGES)
pick = st.integers(min_value=0, max_value=10**6)


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

    @rule(stages=stages, number=pick, one=st.booleans(), rebuild=st.booleans())
    def regenerate(self, stages, number, one, rebuild):
        scenes = list(self.model.scenes)
        scope, ids = Scope.WHOLE_BOOK, ()
        if one and scenes:
            scenes = [scenes[number % len(scenes)]]
            scope, ids = Scope.SCENE, (self.scene_pks[scenes[0]],)
        request = regenerate.Request(self.book.pk, tuple(stages), scope, ids, rebuild_all=rebuild)
        expected = self.model.regenerate(stages, scenes, rebuild=rebuild)
        if expected is None:
            with pytest.raises(LayerDisabled):
                regenerate.apply(request, ACTOR)
        else:
            assert len(regenerate.apply(request, ACTOR)["tasks"]) == len(expected)

    @rule(stages=stages)
    def stop(self, stages):
        cancel.apply(cancel.Request(self.book.pk, tuple(stages)), ACTOR)
        self.model.stop(stages or STAGES)

    @rule(stage=stage, on=st.booleans())
    def switch_layer(self, stage, on):
        layers.apply(layers.Request(self.book.pk, stage, on), ACTOR)
        self.model.switch(stage, on=on)

    @precondition(lambda self: self.model.tasks)
    @rule(number=pick)
    def cancel_one_task(self, number):
        index = number % len(self.model.tasks)
        cancel_task.apply(cancel_task.Request(Task.objects.order_by("pk")[index].pk), ACTOR)
        self.model.cancel_task(index + 1)

    @rule(paused=st.booleans())
    def pause(self, paused):
        pause.apply(pause.Request(pause.Level.BOOK, paused, self.book.pk), ACTOR)
        self.model.paused = paused

    @rule()
    def retry(self):
        answer = retry.apply(retry.Request(self.book.pk), ACTOR)
        assert len(answer["tasks"]) == len(self.model.retry())

    @rule()
    def fill_with_placeholders(self):
        placeholder.apply(placeholder.Request(self.book.pk), ACTOR)
        self.model.fill()

    @precondition(lambda self: self.model.scenes)
    @rule(number=pick, voices=st.booleans())
    def edit(self, number, voices):
        scene = list(self.model.scenes)[number % len(self.model.scenes)]
        pk, present = self.scene_pks[scene], self.model.scenes[scene]
        if voices:
            speed = 100 + present.audio_config % 100
            request = edit.VoicesRequest(self.book.pk, f"v{present.audio_config}", speed, Scope.SCENE, (pk,))
            edit.apply_voices(request, ACTOR)
            self.model.edit_voices(scene)
        else:
            edit.apply_text(edit.TextRequest(pk, f"The text number {present.content}."), ACTOR)
            self.model.edit_text(scene)

    @precondition(lambda self: len(self.model.scenes) > 1)
    @rule(number=pick)
    def delete_a_scene(self, number):
        scene = list(self.model.scenes)[number % len(self.model.scenes)]
        delete.apply(delete.Request(delete.What.SCENE, self.scene_pks[scene]), ACTOR)
        self.model.delete(scene)

    @precondition(lambda self: any(asset.artifacts for asset in self.model.assets.values()))
    @rule(number=pick)
    def restore(self, number):
        asset = self.choose(number, [asset for asset in self.model.assets.values() if asset.artifacts])
        request = restore.Request(self.row(asset).artifacts.order_by("version")[0].pk)
        if self.model.restore(asset):
            restore.apply(request, ACTOR)
        else:
            with pytest.raises(Conflict):
                restore.apply(request, ACTOR)

    def running(self):
        return [asset for asset in self.model.assets.values() if asset.dispatch is not None]

    @precondition(lambda self: self.running())
    @rule(number=pick)
    def deliver(self, number):
        asset = self.choose(number, self.running())
        dispatch = Dispatch.objects.get(asset=self.row(asset), status="active")
        self.ended.append(dispatch)
        self.hand_over(dispatch)
        self.model.deliver(asset)

    @precondition(lambda self: self.running())
    @rule(number=pick, permanent=st.booleans())
    def fail(self, number, permanent):
        asset = self.choose(number, self.running())
        dispatch = Dispatch.objects.get(asset=self.row(asset), status="active")
        self.ended.append(dispatch)
        failure = Failure("artifact_gone" if permanent else "render_failed")
        accept_error(dispatch.dispatch_id, dispatch.jobs.get().job_id, "", failure)
        self.model.fail(asset, permanent=permanent)

    @precondition(lambda self: self.ended)
    @rule(number=pick, success=st.booleans())
    def deliver_again_or_late(self, number, success):
        """Whatever ended once, ends nothing a second time."""
        dispatch = self.ended[number % len(self.ended)]
        if success:
            self.hand_over(dispatch)
        else:
            accept_error(dispatch.dispatch_id, dispatch.jobs.get().job_id, "", Failure("render_failed"))

    def hand_over(self, dispatch):
        job = dispatch.jobs.get()
        content_type, content = CONTENT[dispatch.stage]
        file = store.save(dispatch.asset_pk, dispatch.dispatch_id, job.unit, "main", content_type, content())
        accept(dispatch.dispatch_id, job.job_id, str(dispatch.build_id), {"main": file})

    @rule()
    def back_off_passes(self):
        Asset.objects.update(deferred_until=None)
        for asset in self.model.assets.values():
            asset.deferred = False

    @rule()
    def tick(self):
        run_tick(self.hub)
        self.model.tick()
        for name in STAGES:
            live = Dispatch.objects.filter(status="active", stage=name)
            assert leases(name) == {one.asset_pk: one.dispatch_id for one in live}
        active = set(Dispatch.objects.filter(status="active").values_list("dispatch_id", flat=True))
        finished = {one.dispatch_id for one in self.ended}
        assert {ref.dispatch_id for ref in self.hub.jobs} - finished == active - finished

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
    max_examples=12,
    stateful_step_count=30,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_random_histories_leave_the_record_as_the_model_says(settings):
    settings.ANIMASTOR = {"ring_gap": timedelta(0)}
    run_state_machine_as_test(Record, settings=FEW)
