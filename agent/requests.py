"""Params of requests: what is accepted, and the recorded words for what is not."""

from collections.abc import Collection
from typing import Any, TypeGuard, TypeVar

from pydantic import ValidationError

from core import acp, ids
from core.errors import InputError
from core.ids import Kind, is_client_id, is_task_id
from core.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from core.memory_calls import (
    ApplyParams,
    DreamParams,
    ForgetParams,
    ImportParams,
    RecordParams,
    RememberParams,
    ReviewParams,
    SnapshotParams,
    UndoParams,
)
from core.text import js_trim, utf8_size, well_formed

_P = TypeVar("_P", bound=acp.Wire)


class CallRefused(InputError):
    """The request can't be served as it is; nothing was started.

    Attributes:
        error_code: JSON-RPC error code.
        payload: ``data`` of the JSON-RPC error.
    """

    code = "call_refused"

    def __init__(self, error_code: int, message: str, payload: Any = None) -> None:
        super().__init__(message)
        self.error_code = error_code
        self.payload = payload


def method_not_found(method: str) -> CallRefused:
    """The refusal of a method that is not served."""
    return CallRefused(METHOD_NOT_FOUND, f'"Method not found": {method}', {"method": method})


def invalid(reason: str) -> CallRefused:
    """The refusal of params that don't fit."""
    return CallRefused(INVALID_PARAMS, f"Invalid params: {reason}")


def internal_error(details: str) -> CallRefused:
    """The refusal of what can't be served for a reason of our own."""
    return CallRefused(INTERNAL_ERROR, "Internal error", {"details": details})


def params_object(params: Any) -> dict[str, Any]:
    """The params, which must be there as an object.

    Raises:
        CallRefused: they are not; as an internal error, which is the reference's answer.
    """
    if not isinstance(params, dict):
        raise internal_error("params must be an object")
    return params


def check_initialize(params: dict[str, Any]) -> None:
    """Check what a client sends to begin with.

    Raises:
        CallRefused: ``protocolVersion`` is no number.
    """
    version = params.get("protocolVersion")
    if not isinstance(version, int | float) or isinstance(version, bool):
        received = "undefined" if "protocolVersion" not in params else _js_type(version)
        issue = {
            "expected": "number",
            "code": "invalid_type",
            "path": ["protocolVersion"],
            "message": f"Invalid input: expected number, received {received}",
        }
        raise CallRefused(INTERNAL_ERROR, "Internal error", [issue])


def parse_ping(params: dict[str, Any]) -> int:
    """Read a ping's nonce.

    Raises:
        CallRefused: not exactly ``v`` 1 and a whole number ≥ 0.
    """
    version, nonce = params.get("v"), params.get("nonce")
    if _is_integer(version) and version == 1 and _is_integer(nonce) and nonce >= 0:
        return nonce
    raise invalid("Invalid channel liveness ping")


def parse_remember(params: dict[str, Any], *, workspace: str) -> RememberParams:
    """Read a remember request; ``cwd`` is the process's own folder, as in the reference.

    Raises:
        CallRefused: content, contextMode or scope don't fit, judged in this order.
    """
    content = _require_text(params, "content")
    _refuse_null(params, "contextMode", "scope")
    return _validated(RememberParams, params | {"cwd": workspace, "content": content})


def parse_forget(params: dict[str, Any], *, workspace: str) -> ForgetParams:
    """Read a forget request; ``cwd`` as for ``parse_remember``.

    Raises:
        CallRefused: query or scope don't fit, judged in this order.
    """
    query = _require_text(params, "query")
    _refuse_null(params, "scope")
    return _validated(ForgetParams, params | {"cwd": workspace, "query": query})


def parse_dream(params: dict[str, Any], *, workspace: str) -> DreamParams:
    """Read a dream request; ``cwd`` as for ``parse_remember``.

    Raises:
        CallRefused: scope doesn't fit.
    """
    _refuse_null(params, "scope")
    return _validated(DreamParams, params | {"cwd": workspace})


def parse_undo(params: dict[str, Any], *, workspace: str) -> UndoParams:
    """Read an undo request; ``cwd`` as for ``parse_remember``.

    Raises:
        CallRefused: revision is none.
    """
    return _validated(UndoParams, params | {"cwd": workspace})


def parse_import(params: dict[str, Any], *, workspace: str) -> ImportParams:
    """Read an import request; ``cwd`` as for ``parse_remember``.

    Raises:
        CallRefused: there are no documents, more than 2,000, or a field of one doesn't fit.
    """
    return _validated(ImportParams, params | {"cwd": workspace})


def parse_review(params: dict[str, Any], *, workspace: str) -> ReviewParams:
    """Read a review request; ``cwd`` as for ``parse_remember``.

    Raises:
        CallRefused: a field is missing or doesn't fit.
    """
    return _validated(ReviewParams, params | {"cwd": workspace})


def parse_apply(params: dict[str, Any], *, workspace: str) -> ApplyParams:
    """Read an apply request; ``cwd`` as for ``parse_remember``.

    Raises:
        CallRefused: preview is no task id.
    """
    parsed = _validated(ApplyParams, params | {"cwd": workspace})
    kind_of(parsed.preview)
    return parsed


def parse_snapshot(params: dict[str, Any], *, workspace: str) -> SnapshotParams:
    """Read a snapshot request; ``cwd`` as for ``parse_remember``."""
    return _validated(SnapshotParams, params | {"cwd": workspace})


def parse_record(params: dict[str, Any], *, workspace: str) -> RecordParams:
    """Read a record request; ``cwd`` as for ``parse_remember``.

    Raises:
        CallRefused: the result is missing, or no object.
    """
    return _validated(RecordParams, params | {"cwd": workspace})


def parse_meta(params: dict[str, Any], kinds: Collection[Kind]) -> acp.TaskMeta | None:
    """Read what our bridge says of the task; None from a client that is not our bridge.

    Args:
        kinds: whose task ids may ask for this method.

    Raises:
        CallRefused: it is malformed, or names a task of another kind.
    """
    meta = params.get("_meta")
    raw = meta.get(acp.TASK_META) if isinstance(meta, dict) else None
    if raw is None:
        return None
    try:
        parsed = acp.TaskMeta.model_validate(raw)
    except ValidationError:
        raise invalid(f"Invalid {acp.TASK_META}") from None
    known_kind = any(is_task_id(parsed.task_id, kind) for kind in kinds)
    if not known_kind or not is_client_id(parsed.client_id or "-"):
        raise invalid(f"Invalid {acp.TASK_META}")
    return parsed


def parse_cancel(params: dict[str, Any]) -> str:
    """Read which task is to be called off.

    Raises:
        CallRefused: taskId is none.
    """
    task_id = params.get("taskId")
    kind_of(task_id if isinstance(task_id, str) else "")
    return str(task_id)


def parse_cancel_request(params: dict[str, Any]) -> int | str:
    """Read which request is to be called off.

    Raises:
        CallRefused: requestId is none.
    """
    request_id = params.get("requestId")
    if isinstance(request_id, str) or _is_integer(request_id):
        return request_id
    raise invalid("Invalid or missing requestId")


def parse_resolve(params: dict[str, Any], *, workspace: str) -> acp.ResolveParams:
    """Read a resolve request.

    Raises:
        CallRefused: a field is missing or malformed.
    """
    try:
        parsed = acp.ResolveParams.model_validate({"cwd": workspace} | params)
    except ValidationError as error:
        raise invalid(f"Invalid or missing {error.errors()[0]['loc'][0]}") from None
    kind_of(parsed.task_id)
    return parsed


def kind_of(task_id: str) -> Kind:
    """The kind that a task id names.

    Raises:
        CallRefused: it has not the shape of a task id.
    """
    kind = ids.kind_of(task_id)
    if kind is None:
        raise invalid("Invalid or missing taskId")
    return kind


def _require_text(params: dict[str, Any], name: str) -> str:
    text = params.get(name)
    if not isinstance(text, str) or not js_trim(text):
        raise invalid(f"Invalid or missing {name}")
    if utf8_size(text) > acp.MAX_CONTENT_BYTES:
        raise invalid(f"{name.capitalize()} exceeds maximum size")
    return well_formed(text)


def _refuse_null(params: dict[str, Any], *names: str) -> None:
    for name in names:
        if name in params and params[name] is None:
            raise invalid(f"Invalid {name}")


def _validated(shape: type[_P], params: dict[str, Any]) -> _P:
    try:
        return shape.model_validate(params)
    except ValidationError as error:
        raise invalid(f"Invalid {error.errors()[0]['loc'][0]}") from None


def _is_integer(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _js_type(value: Any) -> str:
    names = {type(None): "null", bool: "boolean", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "unknown")
