"""Signed requests: design page "Channel layer", 5.2 and 5.3."""

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from channels.adapters.slack import signature as slack
from channels.adapters.webhook import signature as webhook
from channels.signing import WINDOW_S
from core.clock import wall_ms

SCHEMES = (slack.SCHEME, webhook.SCHEME)
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
BODY = b'{"type": "event_callback"}'


def now(shift_s=0):
    return str(wall_ms() // 1000 + shift_s)


def test_slack_s_own_example_is_signed_as_slack_does():
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554"
        b"%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )

    assert slack.sign(SECRET, "1531420618", body) == (
        "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    )


def test_a_webhook_signs_its_timestamp_and_its_body():
    expected = hmac.new(SECRET.encode(), b"17." + BODY, hashlib.sha256).hexdigest()

    assert webhook.sign(SECRET, "17", BODY) == f"sha256={expected}"


@pytest.mark.parametrize("scheme", SCHEMES)
@given(position=st.integers(0, 70), flipped=st.integers(1, 255))
def test_a_signature_that_is_off_by_one_byte_is_wrong(scheme, position, flipped):
    stamp = now()
    signature = bytearray(scheme.sign(SECRET, stamp, BODY).encode())
    signature[position % len(signature)] ^= flipped

    assert not scheme.is_signed(SECRET, stamp, signature.decode("latin-1"), body=BODY)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(position=st.integers(0, len(BODY) - 1), flipped=st.integers(1, 255))
def test_a_body_that_is_off_by_one_byte_is_not_what_was_signed(scheme, position, flipped):
    stamp = now()
    body = bytearray(BODY)
    body[position] ^= flipped

    assert not scheme.is_signed(SECRET, stamp, scheme.sign(SECRET, stamp, BODY), body=bytes(body))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("shift_s", "is_good"), [(0, True), (-WINDOW_S + 5, True), (-WINDOW_S - 5, False), (WINDOW_S + 5, False)]
)
def test_a_signature_is_good_for_five_minutes_each_way(scheme, shift_s, is_good):
    stamp = now(shift_s)

    assert scheme.is_signed(SECRET, stamp, scheme.sign(SECRET, stamp, BODY), body=BODY) is is_good


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("stamp", ["", "soon", "-1", "1e9", "\u0661\u0662", " 17", "9" * 13])
def test_what_is_no_time_is_never_good(scheme, stamp):
    assert not scheme.is_signed(SECRET, stamp, scheme.sign(SECRET, stamp, BODY), body=BODY)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_empty_secret_admits_nothing_not_even_what_is_signed_with_it(scheme):
    stamp = now()
    headers = {scheme.timestamp_header: stamp, scheme.signature_header: scheme.sign("", stamp, BODY)}

    assert scheme.refusal(SecretStr(""), headers, BODY) == "no_secret"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("signature", ["", "v0=", "sha256=", "é", "\udc80"])
def test_what_is_no_signature_is_wrong_and_does_no_harm(scheme, signature):
    headers = {scheme.timestamp_header: now(), scheme.signature_header: signature}

    assert scheme.refusal(SecretStr(SECRET), headers, BODY) == "wrong_signature"
    assert scheme.refusal(SecretStr(SECRET), {}, BODY) == "wrong_signature"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("late_s", "refusal"), [(0, None), (301, "stale_timestamp")])
def test_what_was_signed_too_long_ago_is_told_from_what_was_signed_amiss(scheme, late_s, refusal):
    stamp = str(int(now()) - late_s)
    headers = {scheme.timestamp_header: stamp, scheme.signature_header: scheme.sign(SECRET, stamp, BODY)}

    assert scheme.refusal(SecretStr(SECRET), headers, BODY) == refusal


def test_one_service_s_signature_is_none_of_the_other_s():
    stamp = now()

    assert not slack.SCHEME.is_signed(SECRET, stamp, webhook.sign(SECRET, stamp, BODY), body=BODY)
