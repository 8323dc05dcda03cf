"""Secrets are found and ordinary text is not taken for one. No value here was ever issued."""

import base64
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.credentials import REDACTED, find_secrets, redact, secret_values

AWS = "AKIA" + "Q3EXX7PLMN2TRZV5"
GITHUB = "ghp_" + "a8Kd03jfLQpz71mXcVbN5tRw9eYu2sHgT4iO"
MODEL = "sk-" + "proj-h7Gd81kLmZq03pXvTn56Yb"
SLACK = "xox" + "b-284718293847-Kd8f7Gh3jLqZ"
JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiJhbGljZSJ9." + "c2lnbmF0dXJlLW5vdC1yZWFs"
PEM = "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEowIBAAKCAQEA7\nqPx3\n-----END RSA PRIVATE " + "KEY-----"
ISSUED = [AWS, GITHUB, MODEL, SLACK, JWT, PEM, "AIza" + "SyD4k9fJq2mN7xPv0LzRt8WbYc3HgKe5UaQ"]


@pytest.mark.parametrize("secret", ISSUED)
@pytest.mark.parametrize(
    "around", ["{}", "The key is {}.", "---\ntype: user\nname: {}\n---\n", "`{}`", "a={}&b"]
)
def test_an_issued_token_is_found_whole_wherever_it_stands(secret: str, around: str) -> None:
    text = around.format(secret)

    assert redact(text) == around.format(REDACTED)


@pytest.mark.parametrize(
    "text",
    [
        "password: hunter2",
        "The password is Summer2024!",
        'db = "postgres://app:s3cr3tPw@db.internal/app"',
        "Authorization: Bearer 8f7Gh3jLqZ0pXvTn56Yb1",
        "API_KEY=8f7Gh3jLqZ0pXvTn56Yb",
        "client_secret: 'q9-Zk2LmX7pTvB4'",
        'the token is "Zk2LmX7pTvB4q9w8"',
    ],
)
def test_a_named_value_that_looks_made_by_chance_is_found(text: str) -> None:
    assert len(find_secrets(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "The token is rotated every month.",
        "Passwords are at least 12 characters long.",
        "password: see the vault",
        "password is stored in 1Password",
        "API_KEY=$OPENAI_API_KEY",
        "token: refresh_token_v2",
        "secret: <your secret>",
        "api_key: YOUR_API_KEY_123",
        "token = os.environ['TOKEN_2024']",
        "Bearer tokens are checked in middleware/auth2.py",
        "The secret is documented at docs/secrets-2024.md",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "token: 3f786850e387550fdab836ed7e6dc881de23001b",
        "id 7f9c24e8-3b12-4ef1-9a6e-5a5b6d0c9f11",
        "https://user:pass@example.com/x",
        "https://ci.example.com:8080/job/42@main",
        "Ask in task-management-and-planning-of-releases.",
        "Use AKIAIOSFODNN7EXAMPLE in the docs.",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "see src/components/forms/PasswordField/index.test.tsx",
        "我的密码放在保险箱里",
    ],
)
def test_ordinary_text_is_no_secret(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.parametrize("secret", [AWS, GITHUB])
@pytest.mark.parametrize("gap", ["\n", "\r\n", "\\\n", "\n    ", "\n> ", "\u200b", "\u00ad"])
def test_a_token_split_over_lines_or_by_unseen_characters_is_found(secret: str, gap: str) -> None:
    split = f"{secret[:9]}{gap}{secret[9:]}"

    assert redact(f"It is:\n{split}\nand no other.") == f"It is:\n{REDACTED}\nand no other."


def test_a_token_without_a_fixed_length_goes_whole_when_it_is_split() -> None:
    redacted = redact(f"It is:\n{MODEL[:9]}\n{MODEL[9:]}\nand no other.")

    assert redacted.startswith(f"It is:\n{REDACTED}")
    assert redacted.endswith(" no other.")


@pytest.mark.parametrize("secret", [AWS, GITHUB, "password: hunter2"])
def test_a_token_in_base64_is_found_also_wrapped_and_twice(secret: str) -> None:
    once = base64.b64encode(f"key {secret} ok".encode()).decode()
    twice = base64.urlsafe_b64encode(once.encode()).decode()

    for encoded in (once, "\n".join(textwrap.wrap(once, 16)), twice):
        assert redact(f"blob: {encoded}").startswith(f"blob: {REDACTED}")


def test_values_compare_without_line_ends_and_known_ones_may_stay() -> None:
    text = f"{AWS[:9]}\n{AWS[9:]} and {GITHUB}"

    assert secret_values(text) == {AWS, GITHUB}
    assert redact(text, known={AWS}) == f"{AWS[:9]}\n{AWS[9:]} and {REDACTED}"


@given(st.text(alphabet="ab9 \n:=-_/.", max_size=200))
def test_what_is_redacted_holds_no_secret_any_more(text: str) -> None:
    assert find_secrets(redact(f"{text} {GITHUB} {text}")) == ()
