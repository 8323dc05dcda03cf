import pytest

from memlane.models import Event, Revision, Task

TIMES = {"createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z"}


def test_words_and_fields_of_a_newer_service_are_taken_as_they_come():
    newer = {
        "taskId": "merge-1",
        "status": "paused",
        "scope": "team",
        "outcome": "merged",
        "contextMode": "wide",
        "result": {"summary": "x", "touchedScopes": ["team"], "new": 1},
        "new": {"a": 1},
        **TIMES,
    }

    task = Task.model_validate(newer)

    assert (task.status, task.scope, task.outcome, task.finished) == ("paused", "team", "merged", False)
    assert task.model_dump(by_alias=True, exclude_unset=True, mode="json") == newer


@pytest.mark.parametrize("kind", [Event, Revision, Task])
def test_what_says_nothing_of_what_it_must_is_no_answer(kind):
    with pytest.raises(ValueError, match="Field required"):
        kind.model_validate({})
