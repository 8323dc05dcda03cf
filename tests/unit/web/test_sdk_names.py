"""What the service shows and what the SDK reads have the same names."""

import pytest
from pydantic import BaseModel

from core import acp, memory_calls
from memlane import models as sdk
from memlane import operator_models, session_models
from web import answers, ops_view, schemas

PAIRS: list[tuple[type[BaseModel], type[BaseModel]]] = [
    (schemas.TaskObject, sdk.Task),
    (schemas.TaskError, sdk.TaskError),
    (schemas.TaskPage, sdk.TaskPage),
    (answers.TaskResult, sdk.TaskResult),
    (answers.TaskProgress, sdk.Progress),
    (answers.RemovedEntry, sdk.RemovedEntry),
    (acp.Usage, sdk.Usage),
    (memory_calls.Preview, sdk.Preview),
    (memory_calls.DocumentDiff, sdk.DocumentDiff),
    (answers.NamedDocument, sdk.Document),
    (answers.ShownDocument, sdk.StoredDocument),
    (answers.DocumentPage, sdk.StoredDocuments),
    (answers.LeftOutPath, sdk.LeftOut),
    (answers.ShownIndex, sdk.MemoryIndex),
    (answers.SearchHit, sdk.Hit),
    (answers.SearchHits, sdk.Hits),
    (answers.ShownRevision, sdk.Revision),
    (answers.RevisionPage, sdk.RevisionPage),
    (answers.ServedWorkspace, sdk.ServedWorkspace),
    (answers.Capabilities, sdk.Capabilities),
    (answers.SessionEntry, session_models.SessionEntry),
    (answers.Heartbeat, session_models.Heartbeat),
    (ops_view.LaneList, operator_models.Lanes),
    (ops_view.ShownLane, operator_models.Lane),
    (ops_view.ShownRun, operator_models.LaneRun),
    (ops_view.ShownLease, operator_models.LaneLease),
    (ops_view.WorkerList, operator_models.Workers),
    (ops_view.ShownWorker, operator_models.Worker),
    (ops_view.Stats, operator_models.Stats),
    (ops_view.ActList, operator_models.ActPage),
    (ops_view.ShownAct, operator_models.Act),
]

# what the SDK leaves to those who ask for it: it keeps every field, but has no name for these
UNNAMED: dict[type[BaseModel], set[str]] = {
    schemas.TaskObject: {"requestId", "traceparent"},
    answers.TaskResult: {"purged"},
    answers.ShownDocument: {"created", "modified", "source", "expires"},
    answers.ShownRevision: {"scopes"},
    answers.ServedWorkspace: {"trusted"},
    answers.Capabilities: {"v", "protocolVersions", "mode", "featureDetails", "transports"},
}


def names_of(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


@pytest.mark.parametrize(("shown", "read"), PAIRS, ids=lambda model: model.__name__)
def test_the_sdk_reads_what_is_shown(shown: type[BaseModel], read: type[BaseModel]) -> None:
    assert names_of(read) == names_of(shown) - UNNAMED.get(shown, set())
