"""bbfalsify simulate: random walks over a model or profile, as CSV or as a plot."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson, Quiet, Seed, Texts, not_positive, repeated
from bbfalsify.cli.output import print_json, results, say, write_file
from bbfalsify.cli.progress import Progress

if TYPE_CHECKING:
    from bbfalsify.running.simulate import SampledWalk


class Heuristic(StrEnum):
    STOCHASTIC = "stochastic"
    RET = "ret"


def simulate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model or profile.")],
    until: Annotated[float, typer.Option("--until", help="How long each walk lasts, in model time.")] = 100.0,
    walks: Annotated[int, typer.Option("--walks", min=1, help="Number of walks.")] = 1,
    heuristic: Annotated[
        Heuristic, typer.Option("--heuristic", help="stochastic: as the model says; ret: as the search does.")
    ] = Heuristic.STOCHASTIC,
    show: Annotated[Texts, repeated("EXPR", "What to record")] = None,
    period: Annotated[float | None, typer.Option("--period", help="Sampling grid; default: until/100.")] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write the CSV there instead of to stdout.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.svg", help="Draw the signals.")] = None,
    seed: Seed = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Walk randomly through a model; CSV on stdout.

    \b
    Example:  bbfalsify simulate profiles/heater_user.yaml --until 50 --walks 3 --plot walks.svg
    """
    from bbfalsify.core.errors import Problem, UserError
    from bbfalsify.core.seeds import draw_seed

    wrong = not_positive({"--until": until, "--period": period})
    if plot is not None and plot.suffix.lower() != ".svg":
        wrong.append(Problem(f"--plot draws SVG; the file must end in .svg, found '{plot}'."))
    if wrong:
        raise UserError(wrong)
    from bbfalsify.reporting.sampled_walks import plot_walks, walks_csv
    from bbfalsify.running.simulate import load_walkable
    from bbfalsify.running.warm_up import kernel_notice

    walkable = load_walkable(model, show)
    seed = draw_seed() if seed is None else seed
    with Progress(quiet=quiet) as progress:
        if (notice := kernel_notice()) is not None:
            progress.say(notice)
        sampled = walkable.walk(
            until=until, count=walks, seed=seed, period=period or until / 100, accelerated=heuristic is Heuristic.RET
        )
    if plot is not None:
        write_file(plot, plot_walks(walkable, sampled))
    if as_json:
        print_json({"seed": seed, "walks": [_as_json(w) for w in sampled]})
    elif csv is not None:
        write_file(csv, walks_csv(sampled))
    elif plot is None:
        results().write(walks_csv(sampled))
    if not quiet:
        ended = ", ".join(f"{count} {name}" for name, count in Counter(walk.ending for walk in sampled).items())
        say(f"{walks} walk{'s' * (walks != 1)} ({ended}), seed {seed}", error=True)
    failed = [w for w in sampled if w.error]
    if failed:
        raise UserError(f"the model fails in walk {failed[0].number}: {failed[0].error}")
    return Exit.NOTHING_FOUND


def _as_json(walk: SampledWalk) -> dict[str, Any]:
    return {
        "walk": walk.number,
        "ending": walk.ending,
        "events": [[time, action] for time, action in walk.events],
        "times": walk.times.tolist(),
        "signals": {name: values.tolist() for name, values in walk.signals.items()},
    }
