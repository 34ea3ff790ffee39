"""The job_id grammar of the GPU hub. Others parse it from the right, so no part may hold an underscore or a colon.

`{book}_{chapter}_{scene}_{NNNN}:audio` · `{book}_{chapter}_{scene}_{unit}:iu_image` ·
`{book}_{chapter}_{scene}[_gN]:video`. We never parse an incoming one.
"""

from generation.stages import StageName

SUFFIXES = {StageName.AUDIO: "audio", StageName.IMAGE: "iu_image", StageName.VIDEO: "video"}


def job_id(stage: str, book_pk: int, chapter_pk: int, scene_pk: int, unit: str) -> str:
    place = f"b{book_pk}_c{chapter_pk}_s{scene_pk}"
    tail = f"_{unit}" if unit else ""
    return f"{place}{tail}:{SUFFIXES[StageName(stage)]}"
