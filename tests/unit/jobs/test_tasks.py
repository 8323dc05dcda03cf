import json

from core.clock import rfc3339
from jobs.tasks import compact_json, fit_result, from_record

RECORD = {
    "taskId": "remember-1",
    "workspaceId": "w",
    "kind": "remember",
    "status": "queued",
    "createdAt": "2026-11-30T11:28:26.467Z",
    "updatedAt": "2026-11-30T11:28:26.468Z",
    "attempt": "0",
}


def test_a_record_reads_as_a_task():
    task = from_record(RECORD, position=3)

    assert (task.id, task.status, task.position, task.attempt) == ("remember-1", "queued", 3, 0)
    assert rfc3339(task.created_ms) == RECORD["createdAt"]
    assert rfc3339(task.updated_ms) == RECORD["updatedAt"]
    assert [task.started_ms, task.finished_ms, task.result, task.usage] == [None] * 4
    assert not task.is_terminal


def test_an_ended_record_has_its_result():
    ended = {
        **RECORD,
        "status": "completed",
        "finishedAt": RECORD["updatedAt"],
        "result": '{"filesTouched":[]}',
    }

    task = from_record(ended)

    assert task.is_terminal
    assert task.result == {"filesTouched": []}


def test_nothing_renders_as_the_empty_argument():
    assert compact_json(None) == ""
    assert compact_json({"a": ["é"]}) == '{"a":["é"]}'


def test_a_result_that_fits_is_left_alone():
    assert fit_result({"summary": "s", "filesTouched": ["a"]}) == {"summary": "s", "filesTouched": ["a"]}


def test_a_result_that_is_too_long_is_cut_and_says_so():
    fitted = fit_result({"summary": "s" * 5000, "filesTouched": ["x" * 100] * 100}, max_bytes=2000)

    assert fitted["truncated"] is True
    assert len(json.dumps(fitted)) <= 2000
    assert fitted["filesTouched"]


def test_a_result_that_cannot_be_cut_is_kept_whole():
    assert fit_result({"number": 10**50}, max_bytes=10) == {"number": 10**50}


def test_a_preview_is_cut_until_it_fits():
    diff = [{"path": f"{number}.md", "diff": "x" * 100_000} for number in range(8)]

    fitted = fit_result({"summary": "s", "preview": {"diff": diff}}, max_bytes=4_000)

    assert len(json.dumps(fitted)) <= 4_000
    assert (fitted["truncated"], fitted["summary"]) == (True, "s")
    assert fitted["preview"]["diff"][0]["path"] == "0.md"
