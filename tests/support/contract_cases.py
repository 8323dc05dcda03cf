"""Recorded cases of the HTTP contract: reading them, sending them, where our answer is meant to differ."""

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[1] / "contract" / "cases"
RECORDED_HOME = "/home/dev"

ADDED_CODES = {
    "Unauthorized": "unauthorized",
    "Invalid Host header": "forbidden_host",
    "Request denied by CORS policy": "forbidden_origin",
    "Invalid JSON in request body": "invalid_request",
    "Request body too large (max 10 MB)": "payload_too_large",
    "`cwd` must be an absolute path when provided": "invalid_cwd",
    "`cwd` must be a string absolute path when provided": "invalid_cwd",
}
UNFINISHED = frozenset({"queued", "running"})
CHAT_FACTS = frozenset({"hasActivePrompt", "hasRunningBackgroundTasks"})
CHAT_EVENTS = frozenset({"session_update", "session_snapshot"})
GROUPS = ("ok", "content", "auth", "body", "session", "stream")


@dataclass(frozen=True)
class Case:
    """One recorded exchange."""

    name: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    status: int
    answer_headers: Mapping[str, str]
    answer: Any

    def in_words_of(self, names: Mapping[str, str]) -> "Case":
        """The same exchange with other ids, paths and times, wherever they stand."""
        parts = {"path": self.path, "headers": self.headers, "body": self.body, "answer": self.answer}
        text = json.dumps(parts)
        for recorded, ours in names.items():
            text = text.replace(recorded, json.dumps(ours)[1:-1])
        return replace(self, **json.loads(text))

    def sent_headers(self, port: int) -> dict[str, str]:
        return {name: value.replace("{port}", str(port)) for name, value in self.headers.items()}

    def sent_body(self) -> bytes | None:
        return None if self.body is None else render_body(self.body)


def load_cases(group: str) -> list[Case]:
    """The recorded cases of one group, in order."""
    recorded = json.loads((CASES / f"http-{group}.json").read_text("utf-8"))
    return [
        Case(
            name=case["name"],
            **{part: case["request"][part] for part in ("method", "path", "headers", "body")},
            status=case["response"]["status"],
            answer_headers=case["response"]["headers"],
            answer=case["response"]["body"],
        )
        for case in recorded
    ]


def render_body(body: Any) -> bytes:
    """Turn a recorded body, with its shorthands for big and broken ones, into bytes."""
    if isinstance(body, dict) and "$raw" in body:
        raw: str = body["$raw"]
        return raw.encode("latin-1")
    if isinstance(body, dict) and "$gzip" in body:
        return bytes(gzip.compress(body["$gzip"].encode()))
    if isinstance(body, dict) and "$nested" in body:
        depth: int = body["$nested"]
        return b'{"nested":' + b"[" * depth + b"]" * depth + b"}"
    return json.dumps(_expand(body.get("$json", body))).encode()


def _expand(value: Any) -> Any:
    if isinstance(value, dict):
        if "$repeat" in value:
            text, count = value["$repeat"]
            return text * count
        return {name: _expand(member) for name, member in value.items()}
    if isinstance(value, list) and any(isinstance(part, dict) and "$repeat" in part for part in value):
        return "".join(_expand(part) for part in value)
    return value


@dataclass(frozen=True)
class Expected:
    """What we answer."""

    status: int
    body: Any


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _added_code(expected: Expected) -> Expected:
    return Expected(expected.status, {**expected.body, "code": ADDED_CODES[expected.body["error"]]})


def _client_error(status: int, message: str, code: str) -> Callable[[Expected], Expected]:
    return lambda _expected: Expected(status, {"error": message, "code": code})


def _null_until_finished(expected: Expected) -> Expected:
    return Expected(expected.status, {**expected.body, "result": None, "error": None})


def _without_chat_facts(expected: Expected) -> Expected:
    kept = {name: value for name, value in expected.body.items() if name not in CHAT_FACTS}
    return Expected(expected.status, kept)


def _without_chat_events(expected: Expected) -> Expected:
    kept = [frame for frame in expected.body if not any(f"event: {name}\n" in frame for name in CHAT_EVENTS)]
    return Expected(expected.status, kept)


def _home_as_tilde(expected: Expected) -> Expected:
    text = json.dumps(expected.body)
    return Expected(expected.status, json.loads(text.replace(RECORDED_HOME, "~")))


DEVIATIONS: Mapping[tuple[str, str], tuple[Callable[[Expected], Expected], frozenset[str]]] = {
    ("D1", "every error has a code"): (
        _added_code,
        _names(
            "no-token wrong-token empty-bearer scheme-only basic-scheme token-in-query get-no-token "
            "no-token-bad-json no-token-unknown-route capabilities-no-token bad-host bad-host-port "
            "origin-foreign origin-null origin-foreign-no-token preflight-foreign malformed-json json-string "
            "json-null json-number json-true trailing-garbage two-docs nan huge-11MB "
            "get-with-malformed-body malformed-json-forget malformed-json-dream cwd-relative cwd-number "
            "stream-no-token"
        ),
    ),
    ("D2", "an unknown charset is 415"): (
        _client_error(415, "Unsupported charset", "unsupported_media_type"),
        frozenset({"charset-latin1"}),
    ),
    ("D3", "an unknown content encoding is 415"): (
        _client_error(415, "Unsupported content encoding", "unsupported_media_type"),
        frozenset({"content-encoding-unknown"}),
    ),
    ("D4", "a corrupt content encoding is 400"): (
        _client_error(400, "Request body is not valid gzip", "invalid_request"),
        frozenset({"bad-gzip"}),
    ),
    ("D5", "JSON nested too deeply is 400"): (
        _client_error(400, "Invalid JSON in request body", "invalid_request"),
        frozenset({"deep-nesting"}),
    ),
    ("D6", "a body cut short by its length is answered in JSON"): (
        _client_error(400, "Invalid JSON in request body", "invalid_request"),
        frozenset({"content-length-mismatch-short"}),
    ),
    ("D7", "result and error are null until the end"): (
        _null_until_finished,
        _names("get-just-after forget-get-just-after dream-get-just-after"),
    ),
    ("D8", "home is shown as ~"): (
        _home_as_tilde,
        _names(
            "get-completed get-clean-completed get-project-completed get-user-completed get-nul-surrogate "
            "forget-get-completed forget-project-completed"
        ),
    ),
    ("D9", "OPTIONS has no body"): (
        lambda expected: Expected(expected.status, None),
        frozenset({"preflight-self"}),
    ),
    ("D10", "a session is no chat: nothing is said of prompts and their work"): (
        _without_chat_facts,
        _names("create-no-body create-with-cwd unknown-client"),
    ),
    ("D11", "a session is no chat: its stream tells nothing of one"): (
        _without_chat_events,
        _names(
            "stream-live-no-last-event-id stream-replay-from-0 stream-cursor-from-the-future "
            "stream-epoch-mismatch stream-snapshot-1"
        ),
    ),
    ("D12", "an unknown route is answered in JSON"): (
        lambda expected: Expected(expected.status, {"error": "Not Found", "code": "not_found"}),
        frozenset({"stream-no-workspace-level-stream"}),
    ),
}


def expected_of(case: Case) -> Expected:
    """What we mean to answer: as recorded, but for the deviations that name the case."""
    expected = Expected(case.status, case.answer)
    for change, names in DEVIATIONS.values():
        if case.name in names:
            expected = change(expected)
    return expected
