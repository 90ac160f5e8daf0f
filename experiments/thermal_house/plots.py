"""Pictures of a year and of the counterexamples of a run, as SVG files in its folder `plots/`.

    python experiments/thermal_house/plots.py runs/thermal_house-… [how many counterexamples, default 3]

year.svg       an ordinary year by plain simulation: outdoor and room temperature, as figure D.10 of the paper
cold-01.svg    the most probable counterexample: the two weeks around its violation, hour by hour
year-01.svg    a whole year that begins with the actions of the counterexample and violates the requirement
traces-01.svg  a hundred uses that follow these actions under the true probabilities: who violates?  As figure D.7
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from bbfalsify import load_campaign
from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import Judgement, Verdict
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.search.walk_extension import continued
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk, compile_network, stochastic_walks
from bbfalsify.records.counterexample import Counterexample
from bbfalsify.results import svg
from bbfalsify.running.judge import RequirementsJudge

WINDOW = 24.0
"""The requirement looks so far ahead: the violating stretch is the window that ends when the violation is certain."""
BEFORE, AFTER = 240.0, 96.0
TRACES = 100
BLUE, RED, PURPLE = "#1f5fbf", "#c8321e", "#8d2bb0"
BOUNDS = ((16.0, "too cold: 16"), (18.0, "warm again: 18"))
THIN, FAINT = 'stroke-width="0.8"', 'stroke-width="0.8" stroke-opacity="0.45"'


class House:
    """The campaign's house, weather and requirement, without workers."""

    def __init__(self, plan: RunPlan) -> None:
        requirements = [planned.requirement for planned in plan.requirements]
        self.system, self.judge = plan.system, RequirementsJudge(requirements)
        self.model = compile_network(plan.profile.network)
        duration = requirements[0].duration(plan.engine.horizon)
        self.usage = Usage(plan.profile, self.model, duration, plan.engine.period)

    def live(self, walk: Walk, stop: float | None = None) -> tuple[Trace, Judgement]:
        stimulus = self.usage.stimulus(walk, stop=stop)
        with self.system.open(0) as session:
            outputs = session.execute(stimulus)
        trace = Trace(stimulus.times, {**stimulus.inputs, **outputs}, stimulus.events)
        return trace, self.judge(trace)[0]


def marked(picture: str, certain: float, first: float, last: float, panels: int) -> str:
    """The picture, from hour `first` to `last`, with the violating window shaded, and a wedge below: a day of a year is
    very narrow."""
    start, end = certain - WINDOW, certain
    inside = svg.WIDTH - svg.RIGHT - svg.LEFT
    left, right = (svg.LEFT + inside * (t - first) / (last - first) for t in (start, end))
    top = svg.TOP + 14
    height = panels * (svg.PANEL + svg.SPACE) - svg.SPACE
    middle = (left + right) / 2
    tip = f"<title>violated between {start:g} and {end:g} h</title>"
    size = f'width="{max(right - left, 2):.1f}" height="{height}"'
    mark = (
        f'<rect x="{left:.1f}" y="{top}" {size} fill="#d00" opacity="0.25">{tip}</rect>'
        f'<path d="M{middle:.1f} {top + height + 1}l-5 9h10z" fill="#d00">{tip}</path>'
    )
    return picture.replace("</svg>", mark + "\n</svg>")


def year(trace: Trace, title: str) -> str:
    """Both temperatures on one axis."""
    lines = [
        svg.Line("outdoor", trace.times, [trace.signals["T_out"]], colour=BLUE, stroke=THIN),
        svg.Line("room", trace.times, [trace.signals["T"]], colour=RED, stroke=THIN),
    ]
    return svg.plot(title, ["temperature [degC]"], lines, time_label="hours since 1 January")


def ordinary_year(house: House, seeds: SeedTree) -> str:
    walks = stochastic_walks(house.model, seeds.child("ordinary").words(1), house.usage.duration, 1000)
    trace, judgement = house.live(walks.walk(0))
    violated = judgement.verdict is Verdict.VIOLATED
    return year(trace, f"An ordinary year, by plain simulation: {'violated' if violated else 'no violation'}")


def year_that_begins_so(house: House, found: Counterexample, title: str, seeds: SeedTree) -> str | None:
    """The weather after the violation is the profile's own; None where a hundred tries brought no violating year."""
    for walk in conditional_split(house.model, found.actions, effort=TRACES, seeds=seeds.child("year")).walks():
        while walk.times[-1] <= house.usage.duration:
            (walk,) = continued(house.model, [walk], 100, seeds.child("rest", len(walk.times)))
        trace, judgement = house.live(walk)
        certain = judgement.first_violation_time
        if judgement.verdict is Verdict.VIOLATED and certain <= walk.times[len(found.actions) - 1]:
            return marked(year(trace, title), certain, 0.0, trace.duration, 1)
    return None


def cold_days(found: Counterexample, title: str) -> str:
    trace, certain = found.trace, found.judgement.first_violation_time
    first = max(0.0, certain - BEFORE)
    shown = (trace.times >= first) & (trace.times <= certain + AFTER)
    times = trace.times[shown]
    events = tuple((t, action) for t, action in trace.events if first <= t <= certain + AFTER)
    signals = [trace.signals[name][shown] for name in ("T_out", "T")]
    picture = svg.plot(
        title,
        ["outdoor [degC]", "room [degC]"],
        [svg.Line("", times, signals, events)],
        time_label="hours since 1 January; ticks are the actions",
        start=first,
        levels=[svg.Level(1, *bound) for bound in BOUNDS],
    )
    return marked(picture, certain, first, float(times[-1]), 2)


def along_the_word(house: House, actions: tuple[str, ...], title: str, seeds: SeedTree) -> str:
    """Traces as the estimation draws them: each follows the actions, with its own delays."""
    groups: dict[bool, list[Trace]] = {False: [], True: []}
    walks = conditional_split(house.model, actions, effort=TRACES, seeds=seeds).walks()
    for walk in sorted(walks, key=lambda w: w.times[-1]):  # the picture ends where the last trace does
        trace, judgement = house.live(walk, stop=float(walk.times[-1]))
        groups[judgement.verdict is Verdict.VIOLATED].append(trace)
    kinds = (("kept", False, BLUE), ("violated", True, PURPLE))
    lines = [joined(name, groups[v], colour) for name, v, colour in kinds if groups[v]]
    levels = [svg.Level(1, *bound) for bound in BOUNDS]
    names = ["outdoor [degC]", "room [degC]"]
    return svg.plot(title, names, lines, time_label="hours since 1 January", levels=levels)


def joined(label: str, traces: list[Trace], colour: str) -> svg.Line:
    """Many traces as one line with gaps, so that they share a colour."""
    times = np.concatenate([np.append(trace.times[0], trace.times) for trace in traces])
    values = [np.concatenate([np.append(np.nan, t.signals[name]) for t in traces]) for name in ("T_out", "T")]
    return svg.Line(f"{len(traces)} {label}", times, values, colour=colour, stroke=FAINT)


def main(arguments: list[str]) -> None:
    if len(arguments) not in (1, 2):
        sys.exit("usage: plots.py RUNDIR [how many]")
    directory = Path(arguments[0])
    results = json.loads((directory / "results.json").read_text(encoding="utf-8"))
    folder = directory / "plots"
    folder.mkdir(exist_ok=True)
    house = House(load_campaign(Path(__file__).parent / "campaign.yaml").runs[0])
    seeds = SeedTree(results["seed"]).child("plots")
    pictures: dict[str, str | None] = {"year.svg": ordinary_year(house, seeds)}
    for row in results["counterexamples"][: int(arguments[1]) if len(arguments) == 2 else 3]:
        found = Counterexample.read(directory / "counterexamples" / Path(row["file"]).name)
        rank, certain = row["rank"], found.judgement.first_violation_time
        word = " · ".join(found.actions) if len(found.actions) <= 8 else f"{len(found.actions)} actions"
        pictures[f"cold-{rank:02}.svg"] = cold_days(found, f"#{rank}: {word}; violated at hour {certain:g}")
        pictures[f"year-{rank:02}.svg"] = year_that_begins_so(house, found, f"#{rank}, a whole year: {word}", seeds)
        pictures[f"traces-{rank:02}.svg"] = along_the_word(house, found.actions, f"#{rank}: {word}", seeds)
    for name, picture in pictures.items():
        if picture is not None:
            (folder / name).write_text(picture, encoding="utf-8")
            print(folder / name)


if __name__ == "__main__":
    main(sys.argv[1:])
