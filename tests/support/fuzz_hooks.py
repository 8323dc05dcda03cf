"""What a fuzz run knows of the service beyond its document; Schemathesis loads this module."""

import os
from typing import Any

import schemathesis
from schemathesis import Case, GenerationMode, HookContext

from core.ids import new_uuid
from tests.support.archives import GOOD, zipped

ARCHIVES = ("application/zip", "application/gzip")
KNOWN_WORKSPACE = "FUZZ_WORKSPACE"


@schemathesis.hook
def before_call(_context: HookContext, case: Case[Any], _kwargs: Any) -> None:
    """Make what the document calls valid fit this service; what is meant to be wrong stays so."""
    if case.meta is not None and case.meta.generation.mode is GenerationMode.NEGATIVE:
        return
    if "workspace" in case.path_parameters:
        case.path_parameters["workspace"] = os.environ[KNOWN_WORKSPACE]
    case.headers.pop("X-Qwen-Client-Id", None)  # ids are given out by the service
    case.headers.pop("If-Match", None)  # a state that the service is not in
    if "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = new_uuid()  # one that was used is good for that request only
    if isinstance(case.body, dict):
        case.body.pop("cwd", None)  # which folders are served is not in the document
    if case.media_type in ARCHIVES:
        case.media_type, case.body = ARCHIVES[0], zipped(GOOD).decode("latin-1")
    if "scope" not in case.query:
        case.query.pop("path", None)  # the one needs the other, which OpenAPI can't say


@schemathesis.serializer(*ARCHIVES)
def as_bytes(_context: Any, value: Any) -> bytes:
    """Send the bytes that a text stands for, one for each character."""
    return str(value).encode("latin-1", "replace")
