import base64
import stat
import threading

import pytest

from core.errors import ConfigError
from memlane.credentials import check_token, ensure_token, read_token, token_file


def test_a_token_is_made_once_with_256_bits_for_the_owner_only(tmp_path):
    path = token_file(tmp_path)

    token = ensure_token(path)

    assert len(base64.urlsafe_b64decode(token + "=")) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ensure_token(path) == read_token(path) == token
    assert [child.name for child in tmp_path.iterdir()] == ["token"]


def test_two_that_make_it_at_once_get_the_same_token(tmp_path):
    path = token_file(tmp_path)
    tokens: list[str] = []
    threads = [threading.Thread(target=lambda: tokens.append(ensure_token(path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(tokens) == 8
    assert len(set(tokens)) == 1


def test_a_token_file_that_others_can_read_is_closed_to_them(tmp_path):
    path = token_file(tmp_path)
    path.write_text("secret\n")
    path.chmod(0o644)

    assert ensure_token(path) == "secret"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_token_file_is_an_answer(tmp_path):
    assert read_token(tmp_path / "token") is None


@pytest.mark.parametrize("text", ["", " \n", "two words", "grün", "x" * 4097])
def test_a_token_that_can_not_travel_in_a_header_is_refused_without_being_shown(tmp_path, text):
    path = token_file(tmp_path)
    path.write_text(text)

    with pytest.raises(ConfigError) as caught:
        read_token(path)
    assert str(path) in str(caught.value)
    assert not text.strip() or text not in str(caught.value)


def test_a_folder_in_place_of_the_token_is_one_clear_line(tmp_path):
    (tmp_path / "token").mkdir()

    with pytest.raises(ConfigError, match="can't use"):
        ensure_token(tmp_path / "token")


def test_a_good_token_comes_back():
    assert check_token("abc-DEF_123", source="here") == "abc-DEF_123"
