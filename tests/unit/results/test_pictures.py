"""Counterexamples as pictures: what is drawn, and what a result without signals says."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from bbfalsify.core.confirmation import ConfirmedTrace
from bbfalsify.core.errors import UserError
from bbfalsify.results.falsify_result import FalsificationResult
from bbfalsify.results.pictures import trace_picture
from tests.unit.results.test_notebook import EVIL, with_modes

TRACE = ConfirmedTrace(
    np.array([0.0, 1.0, 3.0]), {"heat": np.array([0.0, 1.0, 1.0])}, {"T": np.array([5.0, 5.0, 9.0])}, ((1.0, "on"),)
)


def texts(picture):
    return {element.text for element in ET.fromstring(picture.svg).iter() if element.text}


def test_a_typical_use_of_a_mode_is_drawn(tmp_path):
    plain = with_modes()
    result = replace(plain, counterexamples=tuple(replace(c, trace=TRACE) for c in plain.counterexamples))
    [mode] = result.modes
    assert mode.typical is result.counterexamples[0]
    assert {"T", "heat", f"{EVIL} #1 on·{EVIL}"} <= texts(mode.typical.plot())
    whole = result.plot()
    assert whole._repr_svg_() == whole.save(tmp_path / "all.svg").read_text()
    assert "T [degC]" in texts(replace(result, units={"T": "degC", "heat": "1"}).plot())


def test_inputs_are_held():
    """Between two samples an input keeps its value: it rises at 1, not on the way from 0 to 1."""
    drawn = [e for e in ET.fromstring(trace_picture("", [("", TRACE)]).svg).iter() if e.tag.endswith("polyline")]
    temperature, heat = ([tuple(map(float, p.split(","))) for p in e.get("points").split()] for e in drawn)
    assert [x for x, _ in heat] == [x for x, _ in temperature] and heat[1][0] == heat[2][0]
    assert heat[0][1] == heat[1][1] > heat[2][1] == heat[4][1]


def test_a_result_from_a_file_says_who_draws():
    plain = with_modes()
    back = FalsificationResult.from_json(plain.as_json())
    assert back.modes[0].typical is not None and back.modes[0].typical.rank == 1
    with pytest.raises(UserError, match="bbfalsify report"):
        back.plot()
