import shutil

import pytest

from bbfalsify.cli.new import Kind


@pytest.mark.parametrize("kind", [kind.value for kind in Kind])
def test_a_new_adapter_is_fit_for_use(cli, tmp_path, fmus, kind):
    made = cli("new", "adapter", "pump", "--kind", kind)
    assert (made.code, made.err) == (0, "")
    assert "bbfalsify doctor adapters/pump" in made.out
    if kind == "fmu":
        assert "there is no file pump.fmu" in cli("doctor", "adapters/pump").err
        shutil.copy(fmus.build("heater"), tmp_path / "adapters" / "pump" / "pump.fmu")
    report = cli("doctor", "adapters/pump", "--json").json
    assert report["healthy"] and report["system"] == "pump", report


def test_nothing_is_overwritten(cli, tmp_path):
    (tmp_path / "adapters" / "pump").mkdir(parents=True)
    assert "there is already something at adapters/pump" in cli("new", "adapter", "pump").err
    called = cli("new", "adapter", "../pump")
    assert (called.code, "found '../pump'" in called.err) == (2, True)


def test_the_doctor_as_people_read_it(cli, heater):
    called = cli("doctor", f"{heater}/system.py:heater")
    assert called.code == 0
    lines = called.out.splitlines()
    assert lines[0] == "heater takes signals; declares: batch"
    assert lines[-1] == "fit for use, after 9 uses"
    assert max(map(len, lines)) <= 80


def test_an_ill_system_is_3(cli, tmp_path):
    (tmp_path / "box.py").write_text(
        "from bbfalsify.systems import system\n@system(inputs=['u'], outputs=['y'])\n"
        "def box(stimulus):\n    raise RuntimeError('out of order')\n"
    )
    called = cli("doctor", "box.py")
    assert called.code == 3
    assert "PROBLEM  in every use: raised, RuntimeError: out of order" in called.out
    assert called.out.splitlines()[-1].startswith("not fit for use")


def test_wrong_options(cli, heater):
    called = cli("doctor", f"{heater}/system.py:heater", "--duration", "0", "--time-limit", "-1")
    assert called.code == 2
    assert called.problems == [
        "--duration must be a positive number; found 0.",
        "--time-limit must be a positive number; found -1.",
    ]
