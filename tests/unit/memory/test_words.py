import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.words import MAX_WORD_CHARS, fold_text, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Likes  GREEN\ttea!", ["likes", "green", "tea"]),
        ("Cafe\u0301 Straße", ["café", "strasse"]),
        ("\uff34\uff45\uff41 \ufb01ne", ["tea", "fine"]),
        ("绿茶好喝", ["绿茶", "茶好", "好喝"]),
        ("茶", ["茶"]),
        ("使用Docker部署", ["使用", "docker", "部署"]),
        ("한국어 문서", ["한국", "국어", "문서"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("user_name v1.2", ["user_name", "v1", "2"]),
        ("x" * 100, ["x" * MAX_WORD_CHARS]),
        ("--- !", []),
    ],
)
def test_words_of_a_text(text, words):
    assert words_of(fold_text(text)) == words


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing_more(text):
    assert fold_text(fold_text(text)) == fold_text(text)
