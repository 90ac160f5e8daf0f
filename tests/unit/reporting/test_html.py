"""The report as text: escaped, small, made from records alone.  How it behaves: tests/cli/test_report.py."""

import json
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.errors import UserError
from bbfalsify.records.fan_file import DrawnTrace, Fan
from bbfalsify.registry import ENGINES
from bbfalsify.reporting.drawing.graphs import machine_svg
from bbfalsify.reporting.html import report_html, write_report
from bbfalsify.reporting.html.sequence import Row, sequence_chart
from bbfalsify.reporting.html.signals import coarse, fan_points, packed_fan, points_for, thin_line
from bbfalsify.reporting.html.timeline import timeline
from bbfalsify.reporting.html.writing import embedded

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \" ' & \u2028"


class Elements(HTMLParser):
    """Which elements a page has, and the data inside its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.data: dict[str, str] = {}
        self._open: str | None = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs
        if tag == "script":
            self._open = dict(attrs).get("id", "")

    def handle_endtag(self, tag):
        self._open = None if tag == "script" else self._open

    def handle_data(self, data):
        if self._open:
            self.data[self._open] = self.data.get(self._open, "") + data


def test_data_inside_a_page_cannot_leave_its_element():
    text = str(embedded({"name": EVIL, "bad": [float("inf"), float("nan")]}))
    page = Elements(f'<script id="x" type="application/json">{text}</script><p>')
    assert page.names == ["script", "p"]
    assert json.loads(page.data["x"]) == {"name": EVIL, "bad": [None, None]}


def test_drawings_escape_names():
    chart = sequence_chart([EVIL, "door"], [Row(EVIL, (EVIL, "door"), EVIL, (EVIL, EVIL), EVIL), Row("", (), EVIL)])
    machine = MealyMachine.from_transitions({(EVIL, EVIL): (EVIL, EVIL)}, EVIL, name=EVIL)
    for text in (chart, machine_svg(machine, [EVIL])):
        page = Elements(text)
        assert not {"script", "img"} & set(page.names)
        assert not [name for name, _ in page.attributes if name.startswith("on")]
        assert "alert(1)" in text


def test_thinning_keeps_every_extreme_and_stays_within_its_points():
    times = np.arange(100_000.0)
    values = np.sin(times / 1000)
    values[31_415], values[77_777] = 9.0, -9.0
    thin_times, thin_values = thin_line(times, values, 400)
    assert len(thin_times) <= 402
    assert {(31_415.0, 9.0), (77_777.0, -9.0)} <= set(zip(thin_times, thin_values, strict=True))
    assert np.all(np.diff(thin_times) > 0)


def unpacked(data: dict) -> np.ndarray:
    """What the page's script makes of it."""
    import base64

    parts = np.frombuffer(base64.b64decode(data["u"]), "<u2")
    return data["lo"] + (data["hi"] - data["lo"]) / 65535 * parts


def test_coarse_numbers_keep_their_ends_exactly_and_the_rest_to_a_pixel():
    values = np.random.default_rng(1).normal(20, 3, 1000)
    back = unpacked(coarse(values))
    assert (back.min(), back.max()) == (values.min(), values.max())
    assert np.abs(back - values).max() <= (values.max() - values.min()) / 131_000
    assert unpacked(coarse(np.full(3, 7.0))).tolist() == [7.0] * 3


def fan(rank: int, traces: int, samples: int, signals: int) -> Fan:
    rng = np.random.default_rng(rank)
    times = np.linspace(0, 100, samples)
    drawn = [
        DrawnTrace(i % 2 == 0, 50.0, times, {f"s{k}": rng.normal(size=samples) for k in range(signals)})
        for i in range(traces)
    ]
    return Fan("R1", rank, tuple(drawn))


def test_twenty_fans_of_a_hundred_traces_fit_into_the_page():
    fans = [fan(rank, 100, 400, 4) for rank in range(1, 21)]
    most = fan_points(fans)
    size = sum(len(json.dumps(packed_fan(f, most))) for f in fans)
    assert size < 9_000_000, size
    own = 20 * points_for(20, 5) * 6 * 4 * 4 / 3
    assert size + own < 12_000_000
    assert points_for(1000, 5) * 6 * 1000 * 4 * 4 / 3 < 4_000_000, "a thousand counterexamples"
    packed = packed_fan(fans[0], most)
    assert sum(packed["violated"]) == 50 and len(packed["samples"]) == 100
    high = max(float(t.signals["s2"].max()) for t in fans[0].traces)
    assert unpacked(packed["signals"]["s2"]).max() == pytest.approx(high), "the extreme of all traces is still there"


def test_long_charts_show_their_ends():
    rows = [Row(str(i), ("a",), f"step {i}") for i in range(1, 5001)]
    chart = sequence_chart(["a"], rows)
    assert "… 3500 steps (all of them in the trace file) …" in chart
    assert ">step 750<" in chart and ">step 751<" not in chart and ">step 5000<" in chart and ">step 4251<" in chart


def test_what_is_no_run_directory(tmp_path):
    with pytest.raises(UserError, match="no such run directory"):
        report_html(tmp_path / "nowhere", ENGINES)
    with pytest.raises(UserError, match="neither campaign.json nor results.json"):
        report_html(tmp_path, ENGINES)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(UserError, match="this run has no results yet"):
        write_report(tmp_path, ENGINES)
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(UserError, match="not the manifest of a run"):
        write_report(tmp_path, ENGINES)
    (tmp_path / "manifest.json").write_text('{"format_version": 1}')
    with pytest.raises(UserError, match="not the results of a run"):
        write_report(tmp_path, ENGINES)
    results = {"outcome": "falsified", "seed": 1, "simulations": 0, "requirements": [], "counterexamples": []}
    (tmp_path / "results.json").write_text(json.dumps({**results, "found_probability": None}))
    (tmp_path / "manifest.json").write_text('{"format_version": 7}')
    with pytest.raises(UserError, match="of format 7; this version of bbfalsify reads format 1"):
        write_report(tmp_path, ENGINES)
    assert not (tmp_path / "report.html").exists()


def test_a_trace_without_a_step_says_so():
    assert "Nothing happens: it is so in the initial state." in sequence_chart(["P", "Q"], [])
    assert "Nothing happens: it is so in the initial state." in timeline(trace_data(steps=[], time=0))
    assert "No step: 2.5 time units pass in the initial locations." in timeline(trace_data(steps=[], time=2.5))


MANY_NAMES = [f"P({i})" for i in range(35)]


def test_a_chart_of_many_processes_fits_and_names_those_that_never_take_part():
    rows = [
        Row("0", ("P(0)", "P(3)"), "go[3]", ("B", "C"), "n = 1"),
        Row("2", (EVIL,), "x", ("<D>",)),
        Row("3", (), "waiting"),
    ]
    chart = sequence_chart([*MANY_NAMES, EVIL], rows)
    root = ElementTree.fromstring(chart.replace("&nbsp;", " "))
    assert "dense" in root.get("class")
    assert all(int(svg.get("width")) < 1100 for svg in root.iter("svg"))
    groups = [g for g in root.iter("g") if g.get("class") == "row"]
    assert [g.get("data-who") for g in groups] == ["P(0) | P(3)", EVIL, ""]
    assert [g.get("transform") for g in groups] == ["translate(0 0)", "translate(0 22)", "translate(0 44)"]
    assert "P(34)." in root.find("p").text and "P(3)," not in root.find("p").text
    texts = ["".join(text.itertext()) for text in root.iter("text")]
    assert any(text.startswith("go[3]: P(0) → B, P(3) → C; n = 1") for text in texts)


def trace_data(**changes):
    steps = [
        {"time": 1.0, "who": ["P: A -> B"], "changes": {"n": 2}, "before": [1.0], "after": [0.0]},
        {"time": 3.0, "who": ["P: B -> A", "Q: C -> C"], "changes": {}, "before": [2.0], "after": [2.0]},
    ]
    return {
        "time": 4.0, "steps": steps, "begin": {"integers": {"n": 0, "m": 5}, "reals": {"x": 0.0}},
        "end": {"locations": {"P": "A", "Q": "C", "R": EVIL}, "reals": {"x": 3.0}}, **changes,
    }  # fmt: skip


def test_locations_variables_and_clocks_over_time():
    drawn = timeline(trace_data())
    root = ElementTree.fromstring(f"<div>{drawn}</div>")
    tips = [title.text for title in root.iter("title")]
    assert [tip for tip in tips if tip.startswith("P:")] == ["P: A, 0 to 1", "P: B, 1 to 3", "P: A, 3 to 4"]
    assert "n: 0 to 2" in tips and "x: 0 to 3" in tips and not any(tip.startswith("m") for tip in tips)
    [n, x] = [[tuple(map(float, p.split(","))) for p in line.get("points").split()] for line in root.iter("polyline")]
    assert [point[0] for point in n] == [130.0, 365.0, 365.0, 1070.0]
    assert len({point[1] for point in n[1:3]}) == 2  # it jumps
    assert [point[0] for point in x] == [130.0, 365.0, 365.0, 835.0, 1070.0]
    assert "Not drawn: one process that never moves." in "".join(root.itertext())
    assert {"A", "B"} <= {text.text for text in root.iter("text") if text.get("class") == "name"}  # the legend


def test_labels_at_the_right_are_whole_and_moments_are_round():
    """The widest label ends inside the drawing: "1050" was cut to "105"."""
    data = trace_data(time=1059.001)
    data["end"]["reals"]["x"] = 1050.0
    root = ElementTree.fromstring(f"<div>{timeline(data)}</div>")
    texts = list(root.iter("text"))
    [label] = [text for text in texts if text.text == "1050"]
    assert float(label.get("x")) + 11 * 0.65 * len(label.text) < float(root.find("svg").get("width"))
    ticks = [text.text for text in texts if text.get("text-anchor") == "middle"]
    assert ticks[-6:] == ["0", "200", "400", "600", "800", "1000"]


def test_a_trace_without_time_is_drawn_over_its_steps():
    data = trace_data(time=0.0)
    for step in data["steps"]:
        step["time"] = 0.0
    root = ElementTree.fromstring(f"<div>{timeline(data)}</div>")
    assert "step" in [text.text for text in root.iter("text")]
    assert "P: B, 1 to 2" in [title.text for title in root.iter("title")]
