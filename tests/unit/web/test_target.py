import pytest

from web.target import parse_target, read_target


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("/a/b?c=/d", "/a/b"),
        ("/a#b?c", "/a"),
        ("/workspaces/%2Fsrv%2Fws/events", "/workspaces/%2Fsrv%2Fws/events"),
        ("//a", "//a"),
        ("*", "*"),
        ("", "/"),
    ],
)
def test_the_path_stays_as_it_was_sent(raw: str, path: str) -> None:
    assert parse_target(raw).path == path
    assert parse_target(raw).authority is None


@pytest.mark.parametrize(
    ("raw", "authority", "path"),
    [
        ("http://h:1/a?b", "h:1", "/a"),
        ("HTTP://h", "h", "/"),
        ("http://h?x", "h", "/"),
        ("http://", "", "/"),
        ("x+y://h/z", "h", "/z"),
    ],
)
def test_an_absolute_target_has_an_authority(raw: str, authority: str, path: str) -> None:
    target = parse_target(raw)

    assert (target.authority, target.path) == (authority, path)


@pytest.mark.parametrize("path", ["/%", "/%2", "/%zz", "/a%2", "/%ff", "/%ed%a0%80", "/%C3%28"])
def test_what_does_not_decode_is_malformed(path: str) -> None:
    assert parse_target(path).is_malformed


@pytest.mark.parametrize("path", ["/", "/%2F", "/%c3%a4", "/%25zz"])
def test_what_decodes_is_not_malformed(path: str) -> None:
    assert not parse_target(path).is_malformed


def test_a_server_that_hides_the_raw_target_gets_the_path_encoded_again() -> None:
    assert read_target({"PATH_INFO": "/\xc3\xa4 b"}).path == "/%C3%A4%20b"
    assert read_target({"REQUEST_URI": "/a%2Fb", "PATH_INFO": "/a/b"}).path == "/a%2Fb"
    assert read_target({}).path == "/"
