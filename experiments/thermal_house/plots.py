"""Pictures of the counterexamples of a run, as SVG files in its folder `plots/`.

    python experiments/thermal_house/plots.py runs/thermal_house-… [how many, default 3]

year-01.svg    a whole year of the most probable counterexample: outdoor and room temperature, the violation marked
cold-01.svg    the two weeks around the violation, hour by hour
traces-01.svg  a hundred uses that follow the same actions under the true probabilities, and which of them violate
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from bbfalsify.campaigns import load_campaign
from bbfalsify.core.counterexample import Counterexample
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import Verdict
from bbfalsify.engines.falsification.conditional import conditional_split
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import compile_network
from bbfalsify.reporting import svg
from bbfalsify.running.judging import RequirementsJudge

WINDOW = 24.0
"""The requirement looks so far ahead: the violating stretch is the window that ends when the violation is certain."""
BEFORE, AFTER = 240.0, 96.0
TRACES = 100


def marked(picture: str, start: float, end: float, last: float, panels: int) -> str:
    """The picture with the hours from `start` to `end` shaded, and a wedge below: a day of a year is very narrow."""
    left, right = (svg.LEFT + (svg.WIDTH - svg.RIGHT - svg.LEFT) * t / last for t in (start, end))
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


def year(found: Counterexample, title: str) -> str:
    trace, certain = found.trace, found.judgement.first_violation_time
    lines = [
        svg.Line("outdoor", trace.times, [trace.signals["T_out"]]),
        svg.Line("room", trace.times, [trace.signals["T"]]),
    ]
    picture = svg.plot(title, ["temperature [degC]"], lines, time_label="hours since 1 January")
    return marked(picture, certain - WINDOW, certain, trace.duration, 1)


def cold_days(found: Counterexample, title: str) -> str:
    trace, certain = found.trace, found.judgement.first_violation_time
    first = max(0.0, certain - BEFORE)
    shown = (trace.times >= first) & (trace.times <= certain + AFTER)
    times = trace.times[shown] - first
    events = tuple((t - first, action) for t, action in trace.events if first <= t <= certain + AFTER)
    signals = [trace.signals[name][shown] for name in ("T_out", "T")]
    picture = svg.plot(
        title,
        ["outdoor [degC]", "room [degC]"],
        [svg.Line("", times, signals, events)],
        time_label=f"hours since hour {first:g} of the year",
    )
    return marked(picture, certain - WINDOW - first, certain - first, float(times[-1]), 2)


def along_the_word(actions: tuple[str, ...], seed: int, title: str) -> str:
    """Traces as the estimation draws them: each follows the actions, with its own delays."""
    plan = load_campaign(Path(__file__).parent / "campaign.yaml").runs[0]
    requirements = [planned.requirement for planned in plan.requirements]
    judge = RequirementsJudge(requirements)
    model = compile_network(plan.profile.network)
    usage = Usage(plan.profile, model, requirements[0].duration(plan.engine.horizon), plan.engine.period)
    walks = conditional_split(model, actions, effort=TRACES, seeds=SeedTree(seed).child("plots")).walks()
    groups: dict[bool, list[Trace]] = {False: [], True: []}
    for walk in sorted(walks, key=lambda w: w.times[-1]):  # the picture ends where the last trace does
        stimulus = usage.stimulus(walk, stop=float(walk.times[-1]))
        with plan.system.open(0) as session:
            outputs = session.execute(stimulus)
        trace = Trace(stimulus.times, {**stimulus.inputs, **outputs}, stimulus.events)
        groups[judge(trace)[0].verdict is Verdict.VIOLATED].append(trace)
    lines = [joined(name, groups[v]) for name, v in (("kept", False), ("violated", True)) if groups[v]]
    return svg.plot(title, ["outdoor [degC]", "room [degC]"], lines, time_label="hours since 1 January")


def joined(label: str, traces: list[Trace]) -> svg.Line:
    """Many traces as one line with gaps, so that they share a colour."""
    times = np.concatenate([np.append(trace.times[0], trace.times) for trace in traces])
    values = [np.concatenate([np.append(np.nan, t.signals[name]) for t in traces]) for name in ("T_out", "T")]
    return svg.Line(f"{len(traces)} {label}", times, values)


def main(arguments: list[str]) -> None:
    if len(arguments) not in (1, 2):
        sys.exit("usage: plots.py RUNDIR [how many]")
    directory = Path(arguments[0])
    results = json.loads((directory / "results.json").read_text(encoding="utf-8"))
    folder = directory / "plots"
    folder.mkdir(exist_ok=True)
    for row in results["counterexamples"][: int(arguments[1]) if len(arguments) == 2 else 3]:
        found = Counterexample.read(directory / "counterexamples" / Path(row["file"]).name)
        rank, certain = row["rank"], found.judgement.first_violation_time
        title = f"#{rank}: {len(found.actions)} actions, violated at hour {certain:g}"
        traces = along_the_word(found.actions, results["seed"], f"#{rank}: uses with these actions")
        pictures = {
            f"year-{rank:02}.svg": year(found, title),
            f"cold-{rank:02}.svg": cold_days(found, title),
            f"traces-{rank:02}.svg": traces,
        }
        for name, picture in pictures.items():
            (folder / name).write_text(picture, encoding="utf-8")
            print(folder / name)


if __name__ == "__main__":
    main(sys.argv[1:])
