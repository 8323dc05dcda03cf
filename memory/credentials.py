"""Secrets in a text: keys, tokens and passwords, also split over lines or in base64; pure.

Rules are anchored on what issuers print in front of their tokens. Assignments such as ``token = …`` count
only if the value looks made by chance, so that names, hashes and ordinary sentences pass.
"""

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

REDACTED = "(redacted)"
MIN_ENTROPY_BITS = 3.0  # for each character of a value that is told by its name only

_MAX_DEPTH = 2  # base64 in base64
_MIN_ENCODED_CHARS = 16

_ISSUED = {
    "aws_key": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    "github_token": r"(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})",
    "gitlab_token": r"gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20}",
    "slack_token": r"xox[abeoprs]-[A-Za-z0-9-]{10,72}",
    "google_key": r"AIza[A-Za-z0-9_-]{35}",
    "model_key": r"sk-(?=[A-Za-z0-9_-]{0,60}\d)(?:proj-|ant-|or-|svcacct-)?[A-Za-z0-9_-]{20,200}",
    "stripe_key": r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,128}",
    "npm_token": r"npm_[A-Za-z0-9]{36}",
    "pypi_token": r"pypi-[A-Za-z0-9_-]{50,250}",
    "huggingface_token": r"hf_[A-Za-z0-9]{30,40}",
    "sendgrid_key": r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    "jwt": r"eyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}",
    "private_key": (
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?!-----).){0,8000}(?:-----END[A-Z ]{0,40}-----)?"
    ),
}
_ISSUED_RULE = re.compile(
    r"(?<![A-Za-z0-9])(?:" + "|".join(f"(?P<{name}>{rule})" for name, rule in _ISSUED.items()) + ")",
    re.DOTALL,
)
_VALUE = r"[\"'`]?(?P<value>[^\s\"'`,;]{6,200})"
_IS = r"[\"'`]?\s{0,20}(?:[:=]|is\b|ist\b){1,4}>?\s{0,20}"
_NAMED = {
    "bearer_token": rf"\bbearer\s{{1,20}}{_VALUE}",
    "url_password": r"://[^\s/:@]{1,100}:(?P<value>[^\s/@]{6,200})@",
    "password": rf"\b(?:password|passwd|passphrase|pwd|passwort|kennwort){_IS}{_VALUE}",
    "assignment": (
        r"(?:secret|token|api[ _-]?key|access[ _-]?key|private[ _-]?key|auth[ _-]?key|credentials?)"
        rf"{_IS}{_VALUE}"
    ),
}
_NAMED_RULES = [(name, re.compile(rule, re.IGNORECASE)) for name, rule in _NAMED.items()]

_STAND_IN = re.compile(
    r"[<$%{\[(*.]|.*(?:example|placeholder|changeme|change_me|redacted|your[_-]|xxxx|\*{3}|\.\.\.|\u2026)|"
    r"(?:os\.environ|process\.env|env\.|vault:|https?://)",
    re.IGNORECASE,
)
_PIECE = re.compile(r"[A-Za-z]{2,}\d{0,2}|\d{1,4}|[a-z]\d{0,2}")  # of a name such as refresh_token_v2
_DIVIDER = re.compile(r"[^A-Za-z0-9]+")
_CHANCE = re.compile(
    r"[0-9a-f]{32,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)  # hash, UUID
_ENCODED = re.compile(r"(?:[A-Za-z0-9+/_-]{12,}[ \t]{0,4}\r?\n[ \t>]{0,40})*[A-Za-z0-9+/_-]{2,}={0,2}")
_DROPPED = re.compile(
    r"[ \t]{0,4}\\?\r?\n[ \t]{0,40}(?:[>|*+-][ \t]{1,8})?|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
)


@dataclass(frozen=True, slots=True)
class Secret:
    """Something in a text that looks like a secret.

    Attributes:
        rule: name of what it was recognised by.
        start, stop: where it stands in the text.
    """

    rule: str
    start: int
    stop: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Find what looks like a secret, in order, without overlaps."""
    taken = bytearray(len(text))
    found = _distinct([*_issued(text, range(len(text))), *_named(text)], taken)
    joined, places = _joined(text)
    # only what no line holds whole: a token without a fixed length would run on into the next line's words
    found += _distinct([*_issued(joined, places), *_encoded(text)], taken)
    return tuple(sorted(found, key=lambda one: one.start))


def secret_values(text: str) -> frozenset[str]:
    """The secrets of a text themselves, without blanks and line ends; to compare, never to show."""
    return frozenset("".join(text[one.start : one.stop].split()) for one in find_secrets(text))


def redact(text: str, *, known: Collection[str] = ()) -> str:
    """The text with ``(redacted)`` in place of each secret.

    Args:
        known: values, as ``secret_values`` gives them, that may stay.
    """
    for secret in reversed(find_secrets(text)):
        if "".join(text[secret.start : secret.stop].split()) not in known:
            text = text[: secret.start] + REDACTED + text[secret.stop :]
    return text


def _issued(text: str, places: Sequence[int]) -> Iterator[Secret]:
    for match in _ISSUED_RULE.finditer(text):
        if not _STAND_IN.match(match[0]):
            yield Secret(match.lastgroup or "", places[match.start()], places[match.end() - 1] + 1)


def _named(text: str) -> Iterator[Secret]:
    for name, rule in _NAMED_RULES:
        for match in rule.finditer(text):
            value = match["value"].rstrip(".:)]}")
            if _is_secret(value, weak=name in ("password", "url_password")):
                yield Secret(name, match.start("value"), match.start("value") + len(value))


def _encoded(text: str, *, depth: int = 1) -> Iterator[Secret]:
    for match in _ENCODED.finditer(text):
        lines = match[0].split()
        pieces = {"".join(lines), *lines}
        decoded = [_decoded(piece) for piece in pieces if len(piece) >= _MIN_ENCODED_CHARS]
        if any(_holds_secret(one, depth) for one in decoded):
            yield Secret("base64", match.start(), match.end())


def _holds_secret(text: str, depth: int) -> bool:
    hits = (*_issued(text, range(len(text))), *_named(text))
    return bool(hits) or (depth < _MAX_DEPTH and any(_encoded(text, depth=depth + 1)))


def _decoded(run: str) -> str:
    standard = run.replace(">", "").rstrip("=").replace("-", "+").replace("_", "/")
    padded = standard + "=" * (-len(standard) % 4)
    try:
        return base64.b64decode(padded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _is_secret(value: str, *, weak: bool) -> bool:
    """Whether a value looks made by chance; a password (weak) need only hold more than letters."""
    if _STAND_IN.match(value) or _CHANCE.fullmatch(value):
        return False
    if weak:
        return any(not character.isalpha() for character in value) and any(map(str.isalnum, value))
    is_name = all(_PIECE.fullmatch(piece) for piece in _DIVIDER.split(value) if piece)
    return not is_name and any(map(str.isdigit, value)) and _entropy_bits(value) >= MIN_ENTROPY_BITS


def _entropy_bits(text: str) -> float:
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares)


def _joined(text: str) -> tuple[str, list[int]]:
    """The text with its lines run together and without characters that can't be seen, and whence each is."""
    places: list[int] = []
    end = 0
    for gap in _DROPPED.finditer(text):
        places.extend(range(end, gap.start()))
        end = gap.end()
    places.extend(range(end, len(text)))
    return "".join(text[place] for place in places), places


def _distinct(found: Iterable[Secret], taken: bytearray) -> list[Secret]:
    """Those that overlap nothing that is taken, and take their places; of two the one that begins first."""
    kept = []
    for secret in sorted(found, key=lambda one: (one.start, -one.stop)):
        if not any(taken[secret.start : secret.stop]):
            taken[secret.start : secret.stop] = b"\1" * (secret.stop - secret.start)
            kept.append(secret)
    return kept
