"""What the service shows and what the SDK reads have the same names."""

import pytest
from pydantic import BaseModel

from core import acp, memory_calls
from events import payloads
from memlane import models as sdk
from memlane import operator_models, session_models
from web.answers import memory, operators, problems, service, sessions, shown, tasks

PAIRS: list[tuple[type[BaseModel], type[BaseModel]]] = [
    (tasks.TaskObject, sdk.Task),
    (tasks.TaskError, sdk.TaskError),
    (tasks.TaskPage, sdk.TaskPage),
    (tasks.TaskResult, sdk.TaskResult),
    (payloads.TaskProgress, sdk.Progress),
    (tasks.RemovedEntry, sdk.RemovedEntry),
    (acp.Usage, sdk.Usage),
    (memory_calls.Preview, sdk.Preview),
    (memory_calls.DocumentDiff, sdk.DocumentDiff),
    (memory.NamedDocument, sdk.Document),
    (memory.ShownDocument, sdk.StoredDocument),
    (memory.DocumentPage, sdk.StoredDocuments),
    (memory.LeftOutPath, sdk.LeftOut),
    (memory.ShownIndex, sdk.MemoryIndex),
    (memory.SearchHit, sdk.Hit),
    (memory.SearchHits, sdk.Hits),
    (memory.ShownRevision, sdk.Revision),
    (memory.RevisionPage, sdk.RevisionPage),
    (service.ServedWorkspace, sdk.ServedWorkspace),
    (service.Capabilities, sdk.Capabilities),
    (sessions.SessionEntry, session_models.SessionEntry),
    (sessions.Heartbeat, session_models.Heartbeat),
    (operators.LaneList, operator_models.Lanes),
    (operators.ShownLane, operator_models.Lane),
    (operators.ShownRun, operator_models.LaneRun),
    (operators.ShownLease, operator_models.LaneLease),
    (operators.WorkerList, operator_models.Workers),
    (operators.ShownWorker, operator_models.Worker),
    (operators.ChannelList, operator_models.Channels),
    (operators.ShownChannel, operator_models.Channel),
    (operators.Stats, operator_models.Stats),
    (operators.ActList, operator_models.ActPage),
    (operators.ShownAct, operator_models.Act),
]

# parts of others, and what the SDK reads by other means than a model
WITHOUT_PAIR: set[type[BaseModel]] = {
    memory.ListedDocument,
    memory.ListedRevision,
    service.ProtocolVersions,
    service.FeatureDetails,
    service.Limits,
    service.Health,
    problems.ShownProblem,
    problems.ProblemDetails,
}

# what the SDK leaves to those who ask for it: it keeps every field, but has no name for these
UNNAMED: dict[type[BaseModel], set[str]] = {
    tasks.TaskObject: {"requestId", "traceparent"},
    tasks.TaskResult: {"purged"},
    memory.ShownDocument: {"created", "modified", "source", "expires"},
    memory.ShownRevision: {"scopes"},
    service.ServedWorkspace: {"trusted"},
    service.Capabilities: {"v", "protocolVersions", "mode", "featureDetails", "transports"},
}


def names_of(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def is_answer(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, shown.Shown) and found is not shown.Shown


@pytest.mark.parametrize(("answer", "read"), PAIRS, ids=lambda model: model.__name__)
def test_the_sdk_reads_what_is_shown(answer: type[BaseModel], read: type[BaseModel]) -> None:
    assert names_of(read) == names_of(answer) - UNNAMED.get(answer, set())


def test_every_answer_is_held_against_the_sdk() -> None:
    about = (memory, operators, problems, service, sessions, tasks)
    answers = {found for module in about for found in vars(module).values() if is_answer(found)}

    assert answers == {answer for answer, _ in PAIRS if is_answer(answer)} | WITHOUT_PAIR
