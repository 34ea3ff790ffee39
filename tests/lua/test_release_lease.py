from dispatch.capacity.admission import Wish, admit_leases
from dispatch.capacity.leases import Claim, End, release_lease
from tests.capacity import leases


def test_a_release_frees_the_slot_once_and_a_repeat_changes_nothing(image, fence):
    admit_leases(image, fence, 4, 0, [Wish(Claim(1, "d1")), Wish(Claim(2, "d2"))], now_s=100.0)
    assert release_lease("image", Claim(1, "d1"), End())[0]
    assert not release_lease("image", Claim(1, "d1"), End())[0]
    assert leases("image") == {2: "d2"}


def test_a_late_release_does_not_free_the_lease_of_the_dispatch_that_followed(image, fence):
    admit_leases(image, fence, 4, 0, [Wish(Claim(1, "new"))], now_s=100.0)
    assert not release_lease("image", Claim(1, "old"), End())[0]
    assert leases("image") == {1: "new"}


def test_a_release_of_one_stage_leaves_the_others(image, fence):
    admit_leases(image, fence, 4, 0, [Wish(Claim(1, "d1"))], now_s=100.0)
    assert not release_lease("audio", Claim(1, "d1"), End())[0]
    assert leases("image") == {1: "d1"}
