from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ids import (
    WorkspaceId,
    is_client_id,
    is_task_id,
    lane_id,
    new_client_session_id,
    new_code,
    new_task_id,
    workspace_id,
    workspace_of_client_session,
)


def test_a_workspace_id_is_the_start_of_its_paths_digest():
    assert workspace_id("/srv/ws") == "0295621f3cf988a7"


def test_a_new_task_id_has_the_shape_of_its_kind_only():
    task = new_task_id("remember")

    assert is_task_id(task, "remember")
    assert not is_task_id(task, "forget")


@pytest.mark.parametrize(
    "text", ["remember-none", "remember-", "", "remember-00000000-0000-0000-0000-000000000000"]
)
def test_other_text_is_no_task_id(text: str):
    assert not is_task_id(text, "remember")


@pytest.mark.parametrize("text", ["a", "client_1.b:c-D", "x" * 128])
def test_well_formed_client_ids(text: str):
    assert is_client_id(text)


@pytest.mark.parametrize("text", ["", "a b", "x" * 129, "é", "a\n"])
def test_ill_formed_client_ids(text: str):
    assert not is_client_id(text)


def test_a_lane_id_names_deployment_and_workspace():
    assert lane_id("default", workspace_id("/srv/ws")) == "default/0295621f3cf988a7"


def test_the_id_of_a_client_session_is_a_uuid_that_names_its_workspace():
    workspace = workspace_id("/srv/ws")

    session = new_client_session_id(workspace)

    assert UUID(session).version == 4
    assert UUID(session).variant == RFC_4122
    assert workspace_of_client_session(session) == workspace
    assert new_client_session_id(workspace) != session


@given(st.from_regex(r"[0-9a-f]{16}", fullmatch=True))
def test_every_workspace_is_found_again_in_its_client_sessions(workspace: str):
    assert workspace_of_client_session(new_client_session_id(WorkspaceId(workspace))) == workspace


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nope",
        "0295621F-3cf9-488a-8700-000000000000",
        "0295621f-3cf9-888a-8700-000000000000",
        "0295621f-3cf9-488a-8700-000000000000\n",
        "../0295621f-3cf9-488a-8700-000000000000",
    ],
)
def test_other_text_names_no_workspace(text: str):
    assert workspace_of_client_session(text) is None


def test_a_code_has_nothing_that_is_mistaken_for_something_else():
    drawn = new_code(10_000)

    assert len(drawn) == 10_000
    assert len(set(drawn)) == 32
    assert not set(drawn) & set("0O1Il")


def test_two_codes_differ():
    assert new_code(32) != new_code(32)
