"""The file of chat channels."""

import json

import pytest

from channels.errors import ChannelConfigInvalid
from core.workspaces import Workspaces
from memlane.channels.configuration import folder_of, load_document


def test_json_is_read_as_json(tmp_path):
    document = {"channels": {"team": {"instructions": "Be kind \U0001f600"}}}
    file = tmp_path / "channels.json"
    file.write_text(json.dumps(document, indent="\t"))

    assert load_document(file) == document


def test_the_words_on_and_off_stay_words_in_yaml(tmp_path):
    file = tmp_path / "channels.yaml"
    file.write_text("a: on\nb: off\nc: true\n")

    assert load_document(file) == {"a": "on", "b": "off", "c": True}


@pytest.mark.parametrize(("name", "kind"), [("channels.json", "JSON"), ("channels.yml", "YAML")])
def test_a_file_that_can_t_be_read_is_refused_by_what_it_should_be(tmp_path, name, kind):
    file = tmp_path / name
    file.write_text('{"channels": [')

    with pytest.raises(ChannelConfigInvalid, match=f"is no {kind}"):
        load_document(file)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("channels.json", '{"channels": {"team": {"type": "slack"}, "team": {"type": "telegram"}}}'),
        ("channels.json", '{"channels": {"team": {"token": "a", "token": "b"}}}'),
        ("channels.yaml", "channels:\n  team: {type: slack}\n  team: {type: telegram}\n"),
    ],
)
def test_what_is_there_twice_is_refused_as_one_would_be_lost_without_a_word(tmp_path, name, content):
    file = tmp_path / name
    file.write_text(content)

    with pytest.raises(ChannelConfigInvalid, match=r"'(team|token)' is there twice"):
        load_document(file)


def test_yaml_makes_no_objects(tmp_path):
    file = tmp_path / "channels.yaml"
    file.write_text("a: !!python/object/apply:os.getcwd []\n")

    with pytest.raises(ChannelConfigInvalid):
        load_document(file)


@pytest.fixture
def file(tmp_path):
    channels = {"team": {"token": "$UNSET"}, "other": {"cwd": "sub"}, "broken": 3}
    file = tmp_path / "channels.json"
    file.write_text(json.dumps({"channels": channels}))
    return file


def test_where_a_channel_works_is_known_without_its_secrets(file, tmp_path):
    workspaces = Workspaces([str(tmp_path)])

    assert folder_of("team", file, workspaces=workspaces) == workspaces.primary.path
    assert folder_of("other", file, workspaces=workspaces) == f"{workspaces.primary.path}/sub"


@pytest.mark.parametrize("name", ["nobody", "broken"])
def test_where_no_channel_works_is_not_known(file, tmp_path, name):
    with pytest.raises(ChannelConfigInvalid, match=name):
        folder_of(name, file, workspaces=Workspaces([str(tmp_path)]))
