"""A few cases of a long list beside every change, all of them before a landing."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], keep: int = 4) -> list[Any]:
    """Return the cases for `parametrize`: `keep` of them, spread over the list, as they are, the others marked long.

    A case of several arguments is a tuple.
    """
    every = [case if isinstance(case, tuple) else (case,) for case in cases]
    kept = {number * len(every) // keep for number in range(keep)}
    marks = ([] if number in kept else [pytest.mark.long] for number in range(len(every)))
    return [pytest.param(*case, marks=mark) for case, mark in zip(every, marks, strict=True)]
