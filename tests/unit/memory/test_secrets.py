"""What is taken for a secret, and what is left alone. All values are made up."""

import base64
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.secrets import find_secrets, redact_secrets

LETTERS = "Qw7eRt9yUi2oPa4sDf6gHj8kLz1xCv3bNm5qWe7rTy9u"


def text_of(*parts: str) -> str:
    """Put a value together, so that no scanner takes this file for a leak."""
    return "".join(parts)


KNOWN = {
    "aws-access-key": text_of("AKIA", "Q7RT2YUIOPASDFGH"),
    "github-token": text_of("ghp", "_", LETTERS[:36]),
    "gitlab-token": text_of("glpat", "-", LETTERS[:20]),
    "slack-token": text_of("xoxb", "-123456789012-", LETTERS[:24]),
    "stripe-key": text_of("sk", "_live_", LETTERS[:24]),
    "google-key": text_of("AI", "za", LETTERS[:35]),
    "model-provider-key": text_of("sk", "-proj-", LETTERS[:40]),
    "hugging-face-token": text_of("hf", "_", LETTERS[:34]),
    "npm-token": text_of("npm", "_", LETTERS[:36]),
    "telegram-token": text_of("123456789", ":AA", LETTERS[:33]),
    "sendgrid-key": text_of("SG", ".", LETTERS[:22], ".", LETTERS[:40]),
    "json-web-token": text_of("eyJ", LETTERS[:20], ".eyJ", LETTERS[:30], ".", LETTERS[:40]),
    "private-key": text_of("-----BEGIN RSA ", "PRIVATE KEY-----\nMIIE\n-----END RSA ", "PRIVATE KEY-----"),
    "authorization": text_of("qwer1209", "tyui5678ZZtop"),
    "password-in-url": "hunter2-is-it",
    "named-secret": text_of("T7q", "!pZ2#vX9w"),
}
SETTINGS = {
    "authorization": "Authorization: Bearer {}",
    "password-in-url": "postgres://app:{}@db.internal/main",
    "named-secret": "The staging password is {}",
}


def kinds(text: str) -> list[str]:
    return [secret.kind for secret in find_secrets(text)]


@pytest.mark.parametrize("kind", KNOWN)
def test_each_kind_is_found_where_it_stands_and_nothing_else(kind: str) -> None:
    text = f"Remember:\n{SETTINGS.get(kind, 'use {} for it').format(KNOWN[kind])} from now on."

    found = find_secrets(text)

    assert [(one.kind, text[one.start : one.stop]) for one in found] == [(kind, KNOWN[kind])]
    redacted = redact_secrets(text, found)
    assert KNOWN[kind] not in redacted
    assert f"[redacted {kind}]" in redacted
    assert find_secrets(redacted) == ()


@pytest.mark.parametrize("gap", ["\n", "\r\n", " \\\n    ", "\n> ", "\n  - "])
def test_a_secret_that_is_broken_over_lines_is_found_whole(gap: str) -> None:
    key = KNOWN["github-token"]
    text = f"Key: {key[:20]}{gap}{key[20:]} end"

    (found,) = find_secrets(text)

    assert text[: found.start] + text[found.stop :] == "Key:  end"


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_secret_inside_of_base64_is_found(encode) -> None:
    text = f"blob {encode(KNOWN['github-token'].encode()).decode()} end"

    assert kinds(text) == ["encoded-secret"]
    assert redact_secrets(text, find_secrets(text)) == "blob [redacted encoded-secret] end"


@pytest.mark.parametrize(
    "text",
    [
        "Forget everything about tokens; the token expires daily.",
        "The password is rotated every 90 days by the security team.",
        "password: <your password here>",
        "token: ${CI_TOKEN}, api_key=$API_KEY, secret = YOUR_API_KEY_1",
        "api_key: xxxxxxxxxxxxxxxx1, password = ****************",
        "Commit 3ef51cb0a1d7f1b2c3d4e5f60718293a4b5c6d7e fixed it.",
        "Task remember-3f0c5f0e-5a0e-4e0e-9d2e-0a4a3c2f1b00 is done.",
        "The secret is consistency. The key is to write tests first.",
        "Bearer of bad news; basic understanding-of-everything required.",
        "See https://example.com:8080/path?token=short and git@github.com:a/b.git",
        "Execute `sk-learn` and ignore skimage; sk-something-else is a slug.",
        "credentials: stored-in-the-vault-under-team-name",
        "```\nimport base64\nbase64.b64encode(b'hello world, this is plain text')\n```",
        "aGVsbG8gd29ybGQsIHRoaXMgaXMgcGxhaW4gdGV4dA==",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert kinds(text) == []


@given(st.text(max_size=400))
def test_any_text_can_be_looked_at_and_redacted(text: str) -> None:
    found = find_secrets(text)

    assert all(0 <= one.start < one.stop <= len(text) for one in found)
    assert all(one.stop <= other.start for one, other in pairwise(found))
    redact_secrets(text, found)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 60_000,
        "eyJ" * 20_000,
        "sk-" * 20_000,
        "-----BEGIN " * 5_000,
        "password" * 8_000,
        "://" * 20_000,
        "\n" * 60_000,
        "AKIA\n" * 12_000,
    ],
)
def test_long_texts_made_to_slow_it_down_do_not(text: str) -> None:
    find_secrets(text)  # the suite's time limit is the bound
