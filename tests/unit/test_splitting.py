from hypothesis import given
from hypothesis import strategies as st

from generation.importing.sentences import narration_s, split_sentences
from generation.importing.splitting import (
    LONGEST_S,
    SHORTEST_S,
    Earlier,
    split_scenes,
)

WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12)
SENTENCES = st.lists(WORDS, min_size=1, max_size=25).map(lambda words: " ".join(words).capitalize() + ".")
PARAGRAPHS = st.lists(st.lists(SENTENCES, min_size=1, max_size=12).map(" ".join), min_size=1, max_size=12)


def words_of(texts):
    return " ".join(texts).split()


@given(PARAGRAPHS)
def test_the_scenes_hold_every_word_once_and_in_order(paragraphs):
    assert words_of(split_scenes(paragraphs)) == words_of(paragraphs)


@given(PARAGRAPHS)
def test_a_scene_is_longer_than_a_minute_only_when_one_sentence_is(paragraphs):
    for scene in split_scenes(paragraphs):
        sentences = [sentence for paragraph in scene.split("\n\n") for sentence in split_sentences(paragraph)]
        assert narration_s(scene) <= LONGEST_S + 1 or len(sentences) == 1


@given(PARAGRAPHS)
def test_the_same_chapter_is_always_cut_the_same_way(paragraphs):
    assert split_scenes(paragraphs) == split_scenes(list(paragraphs))


@given(PARAGRAPHS)
def test_no_sentence_is_cut(paragraphs):
    kept = [
        sentence
        for scene in split_scenes(paragraphs)
        for paragraph in scene.split("\n\n")
        for sentence in split_sentences(paragraph)
    ]
    assert kept == [sentence for paragraph in paragraphs for sentence in split_sentences(paragraph)]


def test_ordinary_prose_gives_scenes_of_20_to_60_seconds():
    paragraph = "The wind rose in the evening and the captain looked long at the water. " * 4
    scenes = split_scenes([paragraph.strip()] * 30)
    assert len(scenes) > 5
    assert all(SHORTEST_S <= narration_s(scene) <= LONGEST_S for scene in scenes)


def test_abbreviations_initials_and_quotes_do_not_end_a_sentence():
    assert split_sentences("Mr. Smith met J. R. Jones. He bowed.") == ["Mr. Smith met J. R. Jones.", "He bowed."]
    assert split_sentences('"Come in!" she said. "Now."') == ['"Come in!" she said.', '"Now."']


def test_russian_and_chinese_sentences_are_found():
    assert split_sentences("Наступила ночь. Пошёл снег! Все спали.") == ["Наступила ночь.", "Пошёл снег!", "Все спали."]
    assert split_sentences("天黑了。下雪了。") == ["天黑了。", "下雪了。"]


def test_no_paragraphs_give_no_scenes():
    assert split_scenes([]) == []


@given(PARAGRAPHS)
def test_a_chapter_that_did_not_change_is_cut_as_before(paragraphs):
    scenes = split_scenes(paragraphs)
    assert split_scenes(paragraphs, earlier=Earlier(scenes)) == scenes


@given(PARAGRAPHS, st.data())
def test_a_change_in_one_paragraph_leaves_all_other_scenes_but_its_neighbours(paragraphs, data):
    scenes = split_scenes(paragraphs)
    place = data.draw(st.integers(0, len(paragraphs) - 1))
    changed = [*paragraphs[:place], "Something quite different happened here.", *paragraphs[place + 1 :]]
    again = split_scenes(changed, earlier=Earlier(scenes))
    assert words_of(again) == words_of(changed)
    untouched = [scene for scene in scenes if not set(scene.split("\n\n")) & set(_pieces(paragraphs[place]))]
    assert len(set(untouched) - set(again)) <= 2


def _pieces(paragraph: str) -> list[str]:
    """Return every run of sentences of the paragraph: what a scene may hold of it."""
    sentences = split_sentences(paragraph)
    return [
        " ".join(sentences[start:end])
        for start in range(len(sentences))
        for end in range(start + 1, len(sentences) + 1)
    ]


def test_a_scene_ends_before_a_dialogue_or_behind_it_not_inside():
    prose = "The wind rose in the evening and the captain looked long at the dark water of the bay. " * 3
    talk = ["“Where do you sail to?”", "“To the end of the world, if the wind holds, and beyond it.”"] * 6
    scenes = split_scenes([prose.strip()] * 2 + talk + [prose.strip()] * 4)
    assert [scene.count("“") for scene in scenes if "“" in scene] == [12]


def test_a_speech_is_not_cut_where_its_sentences_end():
    speech = "“" + "I have seen the ice on the masts and the stars above them. " * 14 + "So I came home.”"
    prose = "He told it slowly, for he had not told it to anybody before that night. " * 5
    for scene in split_scenes([prose.strip(), speech, prose.strip()]):
        assert scene.count("“") == scene.count("”")
