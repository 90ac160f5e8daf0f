"""References to systems: what is found, and what is said when it is not."""

import textwrap

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.systems import load_system
from bbfalsify.systems.references import resolve_reference

ECHO = """
    from bbfalsify.systems import system

    @system(inputs=["u"], outputs=["y"])
    def echo(stimulus):
        return {"y": stimulus.inputs["u"]}
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def problem(reference, base):
    with pytest.raises(UserError) as error:
        load_system(reference, base=base)
    [found] = error.value.problems
    return found


def test_a_folder_with_one_decorated_function(tmp_path):
    write(tmp_path / "adapters" / "echo" / "adapter.py", ECHO)
    assert load_system("adapters/echo", base=tmp_path).name == "echo"
    assert load_system("echo", base=tmp_path).name == "echo"
    assert load_system("../adapters/echo", base=tmp_path / "adapters").name == "echo"


def test_a_class_named_adapter_wins_and_is_made(tmp_path):
    write(
        tmp_path / "box" / "adapter.py",
        ECHO
        + """
    from bbfalsify.systems import Capabilities, Port

    class Adapter:
        name, inputs, outputs, capabilities = "box", (), (Port("y"),), Capabilities()
        def open(self, seed): ...
    """,
    )
    assert load_system("box", base=tmp_path).name == "box"


def test_a_file_with_and_without_an_object(tmp_path):
    write(tmp_path / "plant.py", ECHO)
    assert load_system("plant.py", base=tmp_path).name == "echo"
    assert load_system("plant.py:echo", base=tmp_path).name == "echo"
    assert load_system(f"{tmp_path}/plant.py:echo").name == "echo"
    found = problem("plant.py:ecco", tmp_path)
    assert "unknown name 'ecco'" in str(found) and found.closest == "echo"


def test_several_systems_in_one_file_must_be_named(tmp_path):
    write(tmp_path / "plant.py", ECHO + "    other = type(echo)(echo.function, inputs=['u'], outputs=['y'])\n")
    assert problem("plant.py", tmp_path).allowed == ("echo", "other")
    assert load_system("plant.py:other", base=tmp_path).name == "echo"


def test_an_installed_module():
    assert load_system("bbfalsify.examples.heater.system:heater").name == "heater"
    assert "no module 'bbfalsify.exemples'" in str(problem("bbfalsify.exemples.heater:heater", "."))
    assert problem("bbfalsify.examples.heater.system:hater", ".").closest == "heater"


def test_the_shelf_and_the_package_share_one_heater():
    assert load_system("adapters/heater") is load_system("bbfalsify.examples.heater.system:heater")


def test_neighbours_can_be_imported(tmp_path):
    write(tmp_path / "box" / "numbers_of_box.py", "FACTOR = 3")
    write(tmp_path / "box" / "adapter.py", "import numbers_of_box\n" + textwrap.dedent(ECHO))
    assert load_system("box", base=tmp_path).name == "echo"


@pytest.mark.parametrize("reference", ["model.xml", "plant.slx"])
def test_kinds_that_cannot_be_used_say_what_can(reference, tmp_path):
    found = problem(reference, tmp_path)
    assert "yet" in found.message and "a folder with adapter.py" in found.allowed


def test_a_misspelt_folder_names_its_neighbours(tmp_path):
    write(tmp_path / "adapters" / "heater" / "adapter.py", ECHO)
    found = problem("adapters/heatr", tmp_path)
    assert "no system 'adapters/heatr'" in found.message and found.closest == "adapters/heater"


def test_a_missing_file_is_named_with_its_closest_neighbour(tmp_path):
    write(tmp_path / "plant.py", ECHO)
    found = problem("plnt.py:echo", tmp_path)
    assert f"there is no file '{tmp_path / 'plnt.py'}'" in found.message and found.closest == "plant.py"
    assert found.file is None, "a campaign that names it says where"
    (tmp_path / "empty").mkdir()
    assert f"there is no file '{tmp_path / 'empty' / 'adapter.py'}'" in problem("empty", tmp_path).message


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        pytest.param("x = 1\nimport nobodys_library\n", 2, "No module named 'nobodys_library'", id="library"),
        pytest.param("def f():\n    return 1 / 0\n\nf()\n", 2, "ZeroDivisionError: division by zero", id="call"),
        pytest.param("x = (\n", 1, "not valid Python: '(' was never closed", id="syntax"),
        pytest.param("raise SystemExit(3)\n", 1, "SystemExit: 3", id="exit"),
    ],
)
def test_an_adapter_that_fails_is_shown_at_its_own_line(tmp_path, text, line, said):
    file = write(tmp_path / "broken.py", text)
    found = problem("broken.py", tmp_path)
    assert (found.file, found.line) == (str(file), line) and said in found.message


def test_what_is_no_system_is_told_what_it_lacks(tmp_path):
    write(
        tmp_path / "things.py",
        "def plain(stimulus): ...\n\nclass Half:\n    name = 'half'\n    def open(self, seed): ...\n",
    )
    assert (
        "'plain' is a plain function; say what its inputs and outputs are"
        in problem("things.py:plain", tmp_path).message
    )
    with pytest.raises(UserError) as error:
        load_system("things.py:Half", base=tmp_path)
    text = str(error.value)
    assert (
        all(f"has no '{name}'" in text for name in ("inputs", "outputs", "capabilities"))
        and "has no 'open'" not in text
    )
    assert "no system in this file" in problem("things.py", tmp_path).message


def test_a_class_that_needs_arguments_is_refused(tmp_path):
    write(tmp_path / "box.py", "class Adapter:\n    def __init__(self, port): ...\n")
    assert "cannot be made without arguments" in problem("box.py", tmp_path).message


def test_an_empty_reference():
    assert "empty" in problem("  ", ".").message


def test_the_hash_of_an_adapter_changes_with_its_file(tmp_path):
    file = write(tmp_path / "plant.py", ECHO)
    first = resolve_reference("plant.py", tmp_path).file_hash()
    file.write_text(file.read_text() + "\n")
    assert first != resolve_reference("plant.py", tmp_path).file_hash()
