import pytest

from core.ids import is_client_id, is_task_id, lane_id, new_task_id, workspace_id


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
