import json

import pytest

from memlane.embedded import REDIS_FOLDER, embedded_url


def test_the_redis_of_a_home_is_told_by_what_it_wrote_there(tmp_path):
    (tmp_path / REDIS_FOLDER).mkdir()
    (tmp_path / REDIS_FOLDER / "server.json").write_text(
        json.dumps({"pid": 1, "url": "unix:///srv/redis.sock"})
    )

    assert embedded_url(tmp_path) == "unix:///srv/redis.sock"


@pytest.mark.parametrize("text", ["", "[]", "{}", '"url"'])
def test_what_can_not_be_read_names_no_redis(tmp_path, text):
    (tmp_path / REDIS_FOLDER).mkdir()
    (tmp_path / REDIS_FOLDER / "server.json").write_text(text)

    assert embedded_url(tmp_path) is None


def test_a_home_without_redis_names_none(tmp_path):
    assert embedded_url(tmp_path) is None
