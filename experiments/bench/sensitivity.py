"""What the sensitivity of the ranking adds to a falsification: its share of the run's CPU time.

    python experiments/bench/sensitivity.py [CAMPAIGN.yaml ...] [--traces 100]

The first run of each campaign, with fewer traces where asked for; the time of everything that a result says beyond its
list (elasticities, swaps, times of violation) is taken apart from the rest.  Compiling is not counted.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bbfalsify import load_campaign
from bbfalsify.campaigns.execute import run_one
from bbfalsify.records.recording import Recording
from bbfalsify.running.falsify import stages
from bbfalsify.running.warm_up import compile_everything

HERE = Path(__file__).parent.parent
CAMPAIGNS = (HERE / "heater" / "campaign.yaml", HERE / "thermal_house" / "campaign.yaml")


def cpu_seconds() -> float:
    """Of this process and of all its children that have ended."""
    return sum(os.times()[:4])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("campaigns", nargs="*", type=Path, default=CAMPAIGNS)
    parser.add_argument("--traces", type=int, help="traces per pass, instead of the campaign's")
    arguments = parser.parse_args()
    compile_everything()
    asked = 0.0
    plain = stages.insights_of

    def timed(*positions: object, **names: object) -> object:
        nonlocal asked
        started = cpu_seconds()
        try:
            return plain(*positions, **names)
        finally:
            asked += cpu_seconds() - started

    stages.insights_of = timed
    print("campaign         insight [CPU s]   whole run [CPU s]   ratio")
    for file in arguments.campaigns:
        campaign = load_campaign(file, seed=1)
        plan = campaign.runs[0]
        if arguments.traces is not None:
            plan = replace(plan, engine=replace(plan.engine, traces=arguments.traces))
        asked, started = 0.0, cpu_seconds()
        with TemporaryDirectory() as folder:
            run_one(plan, campaign, Recording(Path(folder)))
        whole = cpu_seconds() - started
        print(f"{plan.name:16} {asked:15.2f} {whole:19.1f} {asked / whole:7.1%}")


if __name__ == "__main__":
    main()
