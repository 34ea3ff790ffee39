from hypothesis import given
from hypothesis import strategies as st

from generation.importing.splitting import (
    LONGEST_S,
    SHORTEST_S,
    narration_s,
    split_scenes,
    split_sentences,
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
