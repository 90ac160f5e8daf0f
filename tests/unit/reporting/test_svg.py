import re
from xml.etree import ElementTree

import numpy as np
import pytest

from bbfalsify.results.svg import Line, nice_ticks, plot

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("low", "high", "about", "ticks"),
    [
        (0, 20, 8, [0, 5, 10, 15, 20]),
        (0, 100, 8, [0, 20, 40, 60, 80, 100]),
        (-0.06, 1.06, 5, [0.0, 0.5, 1.0]),
        (0.1, 0.35, 5, [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]),
    ],
)
def test_ticks_are_round_numbers(low, high, about, ticks):
    assert nice_ticks(low, high, about) == pytest.approx(ticks)


def test_a_plot_is_xml_with_one_panel_per_signal_and_one_line_per_walk():
    times = np.linspace(0, 10, 11)
    lines = [Line(f"walk {i}", times, [times * i, np.full(11, 3.0)], ((2.0, "on & off"),)) for i in (1, 2)]
    root = ElementTree.fromstring(plot("a < b", ["T", "heat"], lines))
    assert len(root.findall(f"{SVG}polyline")) == 4
    texts = [t.text for t in root.findall(f"{SVG}text")]
    assert {"a < b", "T", "heat", "walk 1", "walk 2", "time"} <= set(texts)
    assert [t.text for t in root.iter(f"{SVG}title")] == ["on & off at 2"] * 4


def test_what_is_not_finite_is_a_gap():
    values = np.array([0.0, 1.0, np.nan, 1.0, 0.0])
    text = plot("gap", ["x"], [Line("w", np.arange(5.0), [values])])
    assert len(re.findall("<polyline", text)) == 2
    assert "nan" not in text
