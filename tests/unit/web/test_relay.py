import socket

from events.envelope import Envelope
from web.relay import frame, has_left


def test_an_event_is_a_frame_of_one_data_line() -> None:
    envelope = Envelope(7, "memory_changed", '{"a":\n"b"}', "client_1", 5)

    assert frame(envelope) == (
        b"id: 7\nevent: memory_changed\n"
        b'data: {"id":7,"v":1,"type":"memory_changed","data":{"a": "b"},"originatorClientId":"client_1",'
        b'"_meta":{"serverTimestamp":5}}\n\n'
    )


def test_an_event_about_the_stream_has_no_id() -> None:
    assert frame(Envelope(None, "replay_complete", "{}", None, 5)).startswith(
        b"event: replay_complete\ndata: {"
    )


def test_a_peer_that_closed_is_noticed() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        assert not has_left(ours)
        theirs.sendall(b"more")
        assert not has_left(ours)
        theirs.close()
        assert has_left(ours)


def test_without_a_socket_nobody_is_known_to_have_left() -> None:
    assert not has_left(None)
