import socket

import pytest

from core.errors import ConfigError
from memlane.listening import base_url, bind, is_exposed, port_of


def test_port_zero_picks_a_free_one():
    with bind("127.0.0.1", 0) as listener:
        assert port_of(listener) > 0
        assert base_url(listener) == f"http://127.0.0.1:{port_of(listener)}"
        assert not is_exposed(listener)


def test_a_busy_port_is_one_clear_line():
    with (
        bind("127.0.0.1", 0) as listener,
        pytest.raises(ConfigError, match="is in use; choose another with --port"),
    ):
        bind("127.0.0.1", port_of(listener))


def test_a_foreign_address_is_one_clear_line():
    with pytest.raises(ConfigError, match=r"can't listen on 192\.0\.2\.1 port 0"):
        bind("192.0.2.1", 0)


def test_a_host_without_an_address_is_one_clear_line():
    with pytest.raises(ConfigError, match="has no address"):
        bind("no-such-host.invalid", 0)


def test_every_address_of_the_machine_counts_as_exposed_and_is_reached_on_loopback():
    with bind("0.0.0.0", 0) as listener:
        assert is_exposed(listener)
        assert base_url(listener).startswith("http://127.0.0.1:")


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
@pytest.mark.parametrize(("host", "exposed"), [("::1", False), ("::", True)])
def test_ipv6_addresses_are_bracketed(host, exposed):
    try:
        listener = bind(host, 0)
    except ConfigError:
        pytest.skip("no IPv6 on this machine")
    with listener:
        assert base_url(listener) == f"http://[::1]:{port_of(listener)}"
        assert is_exposed(listener) is exposed
