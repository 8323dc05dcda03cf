"""Strangers who ask to be let in: design page "Channel layer", 2.3."""

import errno
from concurrent.futures import ThreadPoolExecutor

import pytest

from channels.errors import PairingNotKept
from channels.pairing import LIFE_MS, PairingStore


@pytest.fixture
def store(tmp_path):
    return PairingStore(tmp_path / "pairing", workspace="/srv/work", channel="chat")


def invited(store, sender="u1", **facts):
    return store.invite(sender, sender_name="Ann", **({"is_group": False} | facts))


def test_a_stranger_gets_a_code_and_the_way_to_use_it(store):
    text = invited(store)
    request = store.pending()[0]

    assert "pairing code" in text
    assert request.code in text
    assert f"memlane channel pairing approve chat {request.code}" in text
    assert len(request.code) == 8


def test_who_asks_again_gets_the_same_code(store):
    assert invited(store) == invited(store)


def test_a_fourth_stranger_is_told_that_there_are_too_many(store):
    for number in range(3):
        invited(store, f"u{number}")

    text = invited(store, "u9")
    assert "too many pending" in text
    assert "pairing code" not in text
    assert len(store.pending()) == 3


def test_a_code_lives_for_an_hour(store, monkeypatch):
    invited(store)
    code = store.pending()[0].code
    later_ms = store.pending()[0].asked_ms + LIFE_MS
    monkeypatch.setattr("core.clock.wall_ms", lambda: later_ms)

    assert store.pending() == ()
    assert store.approve(code) is None
    assert code not in invited(store)


def test_a_code_does_not_live_longer_because_the_clock_was_set_back(store, monkeypatch):
    invited(store)
    request = store.pending()[0]
    monkeypatch.setattr("core.clock.wall_ms", lambda: request.asked_ms - 1_000)
    assert store.pending() == (request,)
    monkeypatch.setattr("core.clock.wall_ms", lambda: request.asked_ms - LIFE_MS)

    assert store.pending() == ()


def test_a_place_is_free_again_once_a_code_has_died(store, monkeypatch):
    for number in range(3):
        invited(store, f"u{number}")
    later_ms = store.pending()[-1].asked_ms + LIFE_MS
    monkeypatch.setattr("core.clock.wall_ms", lambda: later_ms)

    assert "pairing code" in invited(store, "u9")
    assert [one.sender_id for one in store.pending()] == ["u9"]


def test_who_waits_already_gets_the_same_code_when_no_place_is_free(store):
    for number in range(3):
        invited(store, f"u{number}")

    assert store.pending()[1].code in invited(store, "u1")


def test_who_is_approved_is_let_in_and_asks_no_more(store):
    invited(store)
    code = store.pending()[0].code

    assert store.approve(f" {code.lower()} ").sender_id == "u1"
    assert store.is_approved("u1")
    assert store.pending() == ()
    assert store.approve(code) is None


def test_a_wrong_code_lets_nobody_in(store):
    invited(store)

    assert store.approve("AAAAAAAA") is None
    assert store.approved() == ()


def test_in_a_group_no_code_is_told(store):
    text = invited(store, is_group=True)

    assert store.pending() == ()
    assert "private" in text


@pytest.mark.parametrize("content", ["", "{", "[]", '{"senders": 3, "requests": [1, {}]}', "null"])
def test_files_that_can_t_be_read_count_as_empty(store, tmp_path, content):
    invited(store)
    for path in (tmp_path / "pairing").glob("*.json"):
        path.write_text(content)
    (path.parent / path.name.replace("pending", "approved")).write_text(content)

    assert store.pending() == ()
    assert store.approved() == ()
    assert not store.is_approved("u1")


def test_channels_of_one_name_in_two_workspaces_have_nothing_in_common(tmp_path):
    one, other = (PairingStore(tmp_path, workspace=path, channel="chat") for path in ("/srv/a", "/srv/b"))
    invited(one)
    one.approve(one.pending()[0].code)

    assert not other.is_approved("u1")


def test_a_channel_s_name_can_t_lead_out_of_the_folder(tmp_path):
    store = PairingStore(tmp_path / "inner", workspace="/srv/a", channel="../../evil")
    invited(store)

    assert {path.parent for path in tmp_path.rglob("*.json")} == {tmp_path / "inner"}


def test_the_name_of_a_stranger_is_kept_as_one_short_harmless_line(store):
    store.request("u1", sender_name="\x1b[2J\u202eBob\n" + "x" * 1000)

    name = store.pending()[0].sender_name
    assert len(name) <= 64
    assert name.isprintable()


def test_the_command_that_is_told_can_be_pasted_whatever_the_channel_s_name(tmp_path):
    store = PairingStore(tmp_path, workspace="/srv/work", channel="team; reboot")
    text = invited(store)

    assert f"approve 'team; reboot' {store.pending()[0].code}" in text


def test_several_processes_ask_and_approve_at_once(store, tmp_path):
    others = [PairingStore(tmp_path / "pairing", workspace="/srv/work", channel="chat") for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        asked = list(pool.map(lambda n: others[n].request(f"u{n}", sender_name="Ann"), range(8)))
    codes = [request.code for request in asked if request is not None]
    with ThreadPoolExecutor(3) as pool:
        approved = list(pool.map(lambda n: others[n].approve(codes[n]), range(3)))

    assert len(codes) == 3
    assert sorted(store.approved()) == sorted(one.sender_id for one in approved if one is not None)
    assert store.pending() == ()


def test_a_disk_that_takes_nothing_is_told_and_changes_nothing(store, monkeypatch):
    invited(store)
    before = store.pending()

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(PairingNotKept, match="No space left"):
        invited(store, "u2")
    with pytest.raises(PairingNotKept):
        store.approve(before[0].code)

    assert store.pending() == before
    assert store.approved() == ()


def test_a_folder_that_can_t_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    store = PairingStore(tmp_path / "file" / "pairing", workspace="/srv/work", channel="chat")

    assert not store.is_approved("u1")
    with pytest.raises(PairingNotKept):
        invited(store)


def test_only_the_owner_can_read_the_files(store, tmp_path):
    invited(store)

    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "pairing").glob("*.json")} == {0o600}
