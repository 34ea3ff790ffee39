import pytest

from generation import store
from generation.exceptions import StoreMismatch
from generation.models import StoreIdentity
from tests.doubles.pictures import webp

pytestmark = pytest.mark.django_db


def test_a_second_file_of_the_same_unit_gets_a_name_of_its_own():
    one = store.save(1, "d" * 32, "iu-1", "main", "image/webp", webp())
    two = store.save(1, "d" * 32, "iu-1", "main", "image/webp", webp())
    assert one.name == f"1/{'d' * 32}-iu-1.webp"
    assert two.name != one.name
    assert one.sha256 == two.sha256


def test_the_roles_of_a_unit_have_names_of_their_own():
    assert store.save(1, "d" * 32, "iu-1", "card", "image/webp", webp()).name == f"1/{'d' * 32}-iu-1-card.webp"


def test_a_stored_file_survives_json():
    file = store.save(1, "d" * 32, "iu-1", "main", "image/webp", webp())
    assert store.StoredFile.from_json(file.as_json()) == file


def test_the_first_process_writes_the_identity_and_later_ones_find_it():
    store.verify_identity()
    store.verify_identity()
    with store.open_file(store.IDENTITY_FILE) as file:
        assert file.read().decode() == str(StoreIdentity.objects.get().token)


def test_a_storage_of_another_database_is_refused():
    store.verify_identity()
    StoreIdentity.objects.all().delete()
    with pytest.raises(StoreMismatch, match="belongs to another database"):
        store.verify_identity()
