import json

from bench.report import Report, as_json, as_text, render_table

REPORT = Report("Speed", ("system", "per s"), [["ours", "10"], ["a longer name", "7"]], notes=["a note"])


def test_a_table_aligns_its_first_column_left_and_numbers_right():
    table = render_table(("system", "per s"), [["ours", "10"], ["a longer name", "7"]])

    assert table.splitlines() == [
        "system         per s",
        "-------------  -----",
        "ours              10",
        "a longer name      7",
    ]


def test_a_text_starts_with_the_machine_and_ends_with_the_notes():
    lines = as_text({"cores": "2"}, [REPORT]).splitlines()

    assert (lines[0], lines[2], lines[-1]) == ("cores: 2", "Speed", "* a note")


def test_json_is_one_document_with_all_of_it():
    document = json.loads(as_json({"cores": "2"}, [REPORT]))

    assert document["machine"] == {"cores": "2"}
    assert document["reports"][0]["rows"] == [["ours", "10"], ["a longer name", "7"]]
    assert document["reports"][0]["passed"] is True
