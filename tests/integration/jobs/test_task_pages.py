from dataclasses import replace

from core.ids import TaskId, new_task_id
from jobs.store import MAX_PAGE, TaskFilter, TaskStore
from jobs.viewer import Viewer
from tests.support.lane import DONE, LaneUnderTest

ANY = TaskFilter()


def pages(lane: LaneUnderTest, wanted: TaskFilter, *, limit: int) -> list[list[TaskId]]:
    store, found, cursor = TaskStore(lane.redis), [], None
    while True:
        page = store.page(lane.workspace, wanted, limit=limit, cursor=cursor)
        found.append([task.id for task in page.tasks])
        if page.next_cursor is None:
            return found
        cursor = page.next_cursor


def test_tasks_are_listed_newest_first_in_pages(lane: LaneUnderTest):
    tasks = [lane.submit()[0] for _ in range(5)]

    assert pages(lane, ANY, limit=2) == [tasks[:2:-1], tasks[2:0:-1], tasks[:1]]


def test_a_cursor_stays_good_while_tasks_come_and_go(lane: LaneUnderTest):
    tasks = [lane.submit()[0] for _ in range(4)]
    store = TaskStore(lane.redis)
    first = store.page(lane.workspace, ANY, limit=2)

    lane.submit()
    lane.redis.delete(lane.keys.task(tasks[1]))
    second = store.page(lane.workspace, ANY, limit=2, cursor=first.next_cursor)

    assert [task.id for task in second.tasks] == [tasks[0]]
    assert second.next_cursor is None


def test_only_what_is_wanted_is_listed_with_its_place_in_the_lane(lane: LaneUnderTest):
    done, _ = lane.submit()
    lane.finish(lane.granted())
    running, _ = lane.submit()
    lane.granted()
    queued, _ = lane.submit()

    assert pages(lane, TaskFilter(statuses=frozenset({"completed"})), limit=10) == [[done]]
    assert pages(lane, TaskFilter(statuses=frozenset({"running"})), limit=10) == [[running]]
    page = TaskStore(lane.redis).page(lane.workspace, TaskFilter(statuses=frozenset({"queued"})), limit=10)
    assert [(task.id, task.position) for task in page.tasks] == [(queued, 1)]
    assert pages(lane, TaskFilter(kind="forget"), limit=10) == [[]]


def test_a_client_sees_its_own_tasks_and_those_of_nobody(lane: LaneUnderTest):
    mine, _ = lane.submit()
    theirs, _ = lane.submit()
    lane.redis.hset(lane.keys.task(mine), "clientId", "me")
    lane.redis.hset(lane.keys.task(theirs), "clientId", "them")
    nobodys, _ = lane.submit()

    assert pages(lane, TaskFilter(viewer=Viewer("me")), limit=10) == [[nobodys, mine]]
    assert pages(lane, ANY, limit=10) == [[nobodys]]
    assert pages(lane, TaskFilter(viewer=Viewer(sees_all=True)), limit=10) == [[nobodys, theirs, mine]]


def test_rare_tasks_are_found_beyond_the_first_read(lane: LaneUnderTest):
    rare, _ = lane.submit()
    lane.finish(lane.granted())
    with lane.redis.pipeline() as pipe:
        for number in range(MAX_PAGE + 50):
            pipe.zadd(lane.keys.index, {f"gone-{number}": number + 10})
        pipe.execute()

    assert pages(lane, TaskFilter(statuses=frozenset({"completed"})), limit=10) == [[rare]]


def test_a_listed_task_is_the_one_that_is_found_without_its_result(lane: LaneUnderTest):
    task, _ = lane.submit()
    lane.finish(lane.granted(), replace(DONE, revision="r1", usage={"modelCalls": 1}))
    more = {"scope": "user", "clientId": "me", "requestId": "r-1", "traceparent": "00-1", "retryOf": task}
    trouble = {
        "errorCode": "x",
        "errorMessage": "X.",
        "progress": "{}",
        "cancelRequested": 1,
        "handedBack": 1,
    }
    lane.redis.hset(lane.keys.task(task), mapping={**more, **trouble})

    page = TaskStore(lane.redis).page(lane.workspace, TaskFilter(viewer=Viewer("me")), limit=1)

    found = lane.task(task)
    assert found is not None
    assert found.result is not None
    assert page.tasks == (replace(found, result=None),)


def test_an_empty_lane_has_an_empty_page(lane: LaneUnderTest):
    assert pages(lane, ANY, limit=10) == [[]]


def test_outlines_tell_of_all_clients_tasks_and_read_no_result_but_a_dreams(lane: LaneUnderTest):
    theirs, _ = lane.submit()
    lane.finish(lane.granted(), replace(DONE, revision="r1"))
    lane.redis.hset(lane.keys.task(theirs), mapping={"clientId": "them", "result": "nobody could read this"})
    tried, _ = lane.submit(task=new_task_id("dream"))
    lane.finish(lane.granted(), replace(DONE, result={"summary": "", "preview": {"diff": []}}))
    queued, _ = lane.submit()
    gone, _ = lane.submit()
    lane.redis.delete(lane.keys.task(gone))

    found = list(TaskStore(lane.redis).outlines(lane.workspace))

    assert [(one.id, one.revision, one.is_preview, one.finished_ms is None) for one in found] == [
        (queued, None, False, True),
        (tried, None, True, False),
        (theirs, "r1", False, False),
    ]
