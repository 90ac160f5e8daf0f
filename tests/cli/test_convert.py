"""convert and validate on UPPAAL files, from the command line."""

import re

import pytest

from bbfalsify.examples.chains import chain_file
from tests.unit.modelling.uppaal.test_xml_reader import FISCHER
from tests.unit.modelling.uppaal.uppaal_files import LINES, xml_model


def test_an_uppaal_model_is_checked_and_converted(cli, tmp_path):
    (tmp_path / "fischer.xml").write_text(FISCHER)
    assert cli("validate", "fischer.xml").out == (
        "fischer.xml: UPPAAL model, 3 processes, 12 edges, 2 queries: no problems\n"
    )
    called = cli("convert", "fischer.xml", "-o", "fischer.yaml")
    assert (called.code, called.out, called.err) == (0, "", "fischer.yaml written\n")
    assert cli("validate", "fischer.yaml").out == "fischer.yaml: model, 3 processes, 12 edges, 2 queries: no problems\n"
    assert cli("convert", "fischer.yaml").out == (tmp_path / "fischer.yaml").read_text()
    assert cli("convert", "--json", "fischer.xml").json["yaml"] == (tmp_path / "fischer.yaml").read_text()


def test_notes_are_shown(cli, tmp_path):
    (tmp_path / "model.xml").write_text(xml_model(system="system P; gantt { G: 1 -> 1; }"))
    note = f"note: model.xml:{LINES['system']}: the Gantt chart is left out."
    assert cli("validate", "model.xml").out.splitlines()[0] == note
    assert cli("convert", "model.xml").err.splitlines() == [note]


def test_mistakes_are_all_reported_with_exit_code_2(cli, tmp_path):
    (tmp_path / "model.xml").write_text(xml_model(guard="n > 1", update="m = 1"))
    for command in ("validate", "convert", "simulate"):
        called = cli(command, "model.xml")
        assert (called.code, called.out) == (2, "")
        assert [problem.split(" ")[0] for problem in called.problems] == [
            f"model.xml:{LINES['guard']}:",
            f"model.xml:{LINES['update']}:",
        ]


def test_convert_says_where_it_cannot_write(cli, tmp_path):
    (tmp_path / "model.xml").write_text(xml_model())
    called = cli("convert", "model.xml", "-o", "nowhere/model.yaml")
    assert called.code == 2
    assert "nowhere/model.yaml cannot be written" in called.problems[0]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("model: no.xml", 4, "there is no file 'no.xml'."),
        ("model: user.yaml", 4, "a file that is named as 'model' must itself contain the automata."),
        ("model: bad.xml", LINES["guard"], "unknown name 'n' in the guard."),
        ("model: good.xml\nsystem: [P]", 5, "'system' stands in the file that 'model' names; it cannot be given here"),
        ("model: shake.xml", 11, "channel 'c' is a handshake"),
    ],
)
def test_a_profile_that_names_its_model(cli, tmp_path, text, line, message):
    (tmp_path / "bad.xml").write_text(xml_model(guard="n > 1"))
    (tmp_path / "good.xml").write_text(xml_model())
    (tmp_path / "shake.xml").write_text(xml_model(declarations="chan c;", sync="c!"))
    (tmp_path / "user.yaml").write_text(f"format_version: 1\nname: user\ninputs: {{u: {{value: 1}}}}\n{text}\n")
    called = cli("validate", "user.yaml")
    assert called.code == 2
    assert any(f":{line}: " in problem and message in problem for problem in called.problems)


def test_an_uppaal_model_alone_is_no_profile(cli, tmp_path, heater):
    (tmp_path / "user.xml").write_text(xml_model())
    called = cli("falsify", "--system", heater / "heater.py:heater", "--profile", "user.xml", "--require",
                 "always[0:20](T <= 75)", "--horizon", "20")  # fmt: skip
    assert called.code == 2
    assert "write a YAML file with 'model: user.xml' and 'inputs'" in called.err


def test_a_chain_is_written_for_prism(cli, tmp_path):
    hubble = str(chain_file("hubble"))
    called = cli("convert", hubble, "--prism", "--label", "tired=left <= 2", "--set", "nu=3", "-o", "hubble.prism")
    assert (called.code, called.out, called.err) == (0, "", "hubble.prism written\n")
    text = (tmp_path / "hubble.prism").read_text()
    assert text.startswith("ctmc\n") and "  s : [0..84] init 0;" in text and " 3 : (s'=0)" in text
    assert re.findall(r'label "(\w+)"', text) == ["sleep", "crash", "tired"]
    called = cli("convert", hubble, "--prism", "--json", "--label", "counting=Controller.Counting")
    assert called.json["notes"] == ["no state in which time passes has the label 'counting'"]
    assert " 6 : (s'=0)" in called.json["prism"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--label", "tired=left <= 2"], "--label and --set are for --prism"),
        (["--prism", "--label", "left <= 2"], "--label left <= 2: write NAME=CONDITION"),
        (["--prism", "--label", "init=left <= 2"], "write NAME=CONDITION"),
        (["--prism", "--label", "tired=lft <= 2"], "Did you mean 'left'?"),
        (["--prism", "--set", "nv=3"], "Did you mean 'nu'?"),
    ],
)
def test_labels_and_constants_for_prism_that_are_wrong(cli, options: list[str], says: str):
    called = cli("convert", str(chain_file("hubble")), *options)
    assert called.code == 2 and says in called.err
