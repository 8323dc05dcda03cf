"""Find what looks like a secret in text: known forms of keys and tokens, random-looking values with a name.

Pure. A form is only listed if it is specific enough to leave ordinary prose alone.
"""

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

MIN_RANDOM_CHARS = 10
MIN_RANDOM_BITS = 3.0  # of entropy a character; words of a language rarely reach it at such lengths

_FORMS: dict[str, str] = {
    "private-key": r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[\s\S]{0,20000}?-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"|[A-Za-z0-9+/=\s]{0,20000})",
    "aws-access-key": r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b",
    "github-token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{36,255})\b",
    "gitlab-token": r"\bgl(?:pat|ptt|rt|dt|cbt|ft)-[A-Za-z0-9_-]{20,255}",
    "slack-token": r"\bx(?:ox[abeoprs]|app)-[A-Za-z0-9-]{10,255}",
    "slack-webhook": r"\bhooks\.slack\.com/services/[A-Za-z0-9/]{20,255}",
    "stripe-key": r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}\b",
    "google-key": r"\bAIza[A-Za-z0-9_-]{35}",
    "google-oauth-token": r"\bya29\.[A-Za-z0-9_-]{20,500}",
    "model-provider-key": r"\bsk-(?:[a-z]{2,12}-){0,2}[A-Za-z0-9_-]{20,255}",
    "hugging-face-token": r"\bhf_[A-Za-z0-9]{30,255}\b",
    "npm-token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "pypi-token": r"\bpypi-[A-Za-z0-9_-]{50,1000}",
    "sendgrid-key": r"\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}",
    "telegram-token": r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b",
    "digitalocean-token": r"\bdo[opr]_v1_[a-f0-9]{64}\b",
    "vault-token": r"\bhv[bs]\.[A-Za-z0-9_-]{24,300}",
    "json-web-token": r"\beyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{10,2000}",
    "azure-storage-key": r"\bAccountKey=[A-Za-z0-9+/]{40,120}={0,2}",
}
_BEARER = re.compile(r"\b(?:bearer|basic)\s{1,4}(?P<value>[A-Za-z0-9._~+/-]{16,2000}={0,2})", re.IGNORECASE)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,200}:(?P<value>[^\s/@]{3,200})@", re.IGNORECASE)
_NAMED = re.compile(
    r"(?:passw(?:or)?d|passphrase|pwd|secret|token|(?:api|access|private)[_ -]?key|credentials?)"
    r"[\"'`*_]{0,3}\s{0,4}(?:[:=]|\bis\b)\s{0,4}[\"'`*_]{0,3}(?P<value>[^\s\"'`,;<>(){}\[\]]{8,500})",
    re.IGNORECASE,
)
_KNOWN = [(kind, re.compile(form)) for kind, form in _FORMS.items()]
_UNBROKEN = [(kind, form) for kind, form in _KNOWN if kind != "private-key"]
_BREAK = re.compile(r"[ \t]*(?:\\[ \t]*)?\r?\n[ \t>*#-]*")
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{24,20000}={0,2}")
_PLACEHOLDER = re.compile(
    r"(?i)(?:.*(?:example|placeholder|changeme|change-me|redacted|dummy|xxxx|\*\*\*\*|\.\.\.\.|your[_-]|"
    r"\$\{|\$[A-Z_]+|%\w+%).*|[x*.•-]+|(?:0123|1234|abcd)\w{0,8})"
)


@dataclass(frozen=True, slots=True)
class Secret:
    """Where something that looks like a secret stands.

    Attributes:
        kind: what it looks like, such as ``github-token``.
        start, stop: offsets in the text.
    """

    kind: str
    start: int
    stop: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Find secrets in order of their places; no two overlap.

    One that is broken over lines is found, and one inside of base64.
    """
    found = sorted(_all_in(text), key=lambda secret: (secret.start, -secret.stop))
    apart: list[Secret] = []
    for secret in found:
        if not apart or secret.start >= apart[-1].stop:
            apart.append(secret)
    return tuple(apart)


def redact_secrets(text: str, secrets: Iterable[Secret]) -> str:
    """Put ``[redacted <kind>]`` in the place of each; what a first pass hides is not looked for again.

    Args:
        secrets: as ``find_secrets`` found them in this text.
    """
    for secret in sorted(secrets, key=lambda secret: secret.start, reverse=True):
        text = f"{text[: secret.start]}[redacted {secret.kind}]{text[secret.stop :]}"
    return text


def _all_in(text: str) -> Iterator[Secret]:
    yield from _known_in(text, _KNOWN)
    yield from _across_breaks(text)
    yield from _inside_base64(text)
    for kind, form, is_secret in _VALUES:
        for match in form.finditer(text):
            if is_secret(match["value"]):
                yield Secret(kind, *match.span("value"))


def _known_in(text: str, forms: Iterable[tuple[str, re.Pattern[str]]]) -> Iterator[Secret]:
    for kind, form in forms:
        for match in form.finditer(text):
            yield Secret(kind, *match.span())


def _across_breaks(text: str) -> Iterator[Secret]:
    """Look at the text with its line ends taken out; an ordinary word at a line's end makes no known form."""
    places: list[int] = []
    kept: list[str] = []
    start = 0
    for gap in _BREAK.finditer(text):
        kept.append(text[start : gap.start()])
        places += range(start, gap.start())
        start = gap.end()
    if not kept:
        return
    kept.append(text[start:])
    places += range(start, len(text))
    for secret in _known_in("".join(kept), _UNBROKEN):
        first, last = places[secret.start], places[secret.stop - 1]
        if last - first >= secret.stop - secret.start:  # only what really goes over a line's end
            yield Secret(secret.kind, first, last + 1)


def _inside_base64(text: str) -> Iterator[Secret]:
    for run in _ENCODED.finditer(text):
        decoded = _decoded(run[0])
        if decoded is not None and any(True for _ in _known_in(decoded, _KNOWN)):
            yield Secret("encoded-secret", *run.span())


def _decoded(run: str) -> str | None:
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None


def _is_random(value: str) -> bool:
    """Whether a value that is named a secret looks like one rather than like a word or a stand-in."""
    if len(value) < MIN_RANDOM_CHARS or _PLACEHOLDER.fullmatch(value):
        return False
    kinds = [any(map(test, value)) for test in (str.isdigit, str.isalpha)]
    return all(kinds) and _bits_per_character(value) >= MIN_RANDOM_BITS


def _is_no_stand_in(value: str) -> bool:
    return _PLACEHOLDER.fullmatch(value) is None


def _bits_per_character(value: str) -> float:
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())


_VALUES: tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...] = (
    ("authorization", _BEARER, _is_random),
    ("password-in-url", _URL, _is_no_stand_in),
    ("named-secret", _NAMED, _is_random),
)
