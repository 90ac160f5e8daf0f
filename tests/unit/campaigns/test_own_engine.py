"""`run_search`: an engine of another package that is only a search concludes as carefully as our own."""

import importlib.metadata
import inspect
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from bbfalsify import Stimulus
from bbfalsify.campaigns import run_search
from bbfalsify.campaigns.plan import plan_document
from bbfalsify.core.query import Query
from bbfalsify.core.settings import Settings, engine_name, setting
from bbfalsify.records.documents import Document
from bbfalsify.records.recording import Recording
from bbfalsify.registry import ENGINES, ENTRY_POINTS, EngineKind
from bbfalsify.reporting.html.writing import report_html
from bbfalsify.reporting.terminal.generic import result_lines

ADAPTER = """
from bbfalsify import system

@system(inputs={"u": "1"}, outputs={"y": "1"})
def box(stimulus):
    if stimulus.inputs["u"][0] > 5:
        raise ValueError("too much")
    return {"y": stimulus.inputs["u"]}
"""


class LevelSettings(Settings):
    kind: str = engine_name("levels")
    levels: tuple[float, ...] = setting("Levels to try, in order.")


def search(ask, plan):
    times = np.linspace(0.0, 1.0, 11)
    ask([Query(f"level/{v:g}", Stimulus(times, {"u": np.full(11, v)})) for v in plan.engine.levels])


KIND = EngineKind("try levels", f"{__name__}:LevelSettings", f"{__name__}:search", needs=("system", "requirements"))


@pytest.fixture
def run(monkeypatch, tmp_path):
    sys.modules.setdefault(__name__, inspect.getmodule(search))
    entry, real = EntryPoint("levels", f"{__name__}:KIND", ENTRY_POINTS), importlib.metadata.entry_points
    ours = lambda **which: [entry] if which.get("group") == ENTRY_POINTS else real(**which)  # noqa: E731
    monkeypatch.setattr("importlib.metadata.entry_points", ours)
    (tmp_path / "box.py").write_text(ADAPTER)

    def run(*levels):
        data = {
            "format_version": 1, "system": "box.py:box", "seed": 1,
            "engine": {"kind": "levels", "levels": list(levels)},
            "requirements": [{"id": "R1", "text": "small", "stl": "always[0:1](y <= 2)"}],
        }  # fmt: skip
        [plan] = plan_document(Document("c.yaml", data, {}), ENGINES, base=tmp_path).runs
        return run_search(search, plan, Recording(out=tmp_path / "runs"))

    return run


@pytest.mark.parametrize(
    ("levels", "outcome"),
    [
        ((1, 2), "not_falsified"),
        ((1, 3), "falsified"),
        ((1, 9), "inconclusive"),
        ((8, 9), "error"),
        ((3, 9), "falsified"),
    ],
)
def test_a_simulation_that_failed_might_have_been_the_violating_one(run, levels, outcome):
    result = run(*levels)
    assert (result["outcome"], result["requirements"][0]["outcome"]) == (outcome, outcome)
    told = any("too much" in note for note in result["notes"])
    assert told is any(level > 5 for level in levels)


def test_the_finding_is_told_and_drawn(run):
    result = run(1, 3)
    assert "  #1  u 3; violated at 0; robustness -1; query level/3" in list(result_lines(result, 80, False))
    page = report_html(result["run_directory"], ENGINES)
    assert "u 3; violated at 0" in page and "always[0:1](y &lt;= 2)" in page and "<polyline" in page
