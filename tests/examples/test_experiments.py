"""Every campaign on the shelf is valid; the heater's gives what its README and the closed forms say."""

import contextlib
import io
import json
import re
import sys

import pytest

from bbfalsify import load_campaign
from bbfalsify.cli.main import main
from bbfalsify.examples import EXAMPLES, example_folder
from tests.examples.conftest import make_desk
from tests.examples.documents import ROOT, blocks_of
from tests.heater import EXACT

CAMPAIGNS = sorted(ROOT.glob("experiments/*/campaign.yaml"))


@pytest.mark.parametrize("file", [*CAMPAIGNS, *(example_folder(e) / "campaign.yaml" for e in EXAMPLES)], ids=str)
def test_campaigns_are_valid(file):
    assert load_campaign(file).runs


@pytest.fixture(scope="module")
def heater_run(tmp_path_factory):
    """The campaign of the README, once: exit code, what is printed, and the results that are stored."""
    desk = make_desk(tmp_path_factory.mktemp("desk"))
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as printed:
        patch.chdir(desk)
        patch.setattr(sys, "argv", ["bbfalsify", "run", "experiments/heater/campaign.yaml", "-q"])
        with pytest.raises(SystemExit) as ended:
            main()
    [results] = desk.glob("runs/*/results.json")
    return ended.value.code, printed.getvalue(), json.loads(results.read_text())


def test_the_heater_agrees_with_its_closed_forms(heater_run):
    """Null hypothesis: each estimate has its exact mean, and its interval the width it says.

    Five comparisons (four keys and their total) at twice the half-width of a 95 % interval from ten passes
    (Student, 9 degrees of freedom: 4.5 standard errors); false-alarm rate below 1 % for a new random stream, and the
    seed is fixed.  A bias of 20 % is caught: the half-widths are 3 % to 21 % of the values.
    """
    code, _, data = heater_run
    assert code == 0
    found = {tuple(c["actions"]): c["probability"] for c in data["counterexamples"]}
    assert set(found) == set(EXACT)
    for exact, estimate in [
        *((EXACT[key], estimate) for key, estimate in found.items()),
        (sum(EXACT.values()), data["found_probability"]),
    ]:
        assert abs(estimate["value"] - exact) <= estimate["high"] - estimate["low"]


def test_the_readme_shows_what_is_printed(heater_run):
    """Up to the numbers: those of the README come from one run, a new random stream may change them."""
    (shown,) = [b.text for b in blocks_of(ROOT / "README.md") if b.marker == "output: run"]
    _, out, _ = heater_run

    def shape(text: str) -> list[str]:
        lines = [re.sub(r"-?\d[\d.e-]*%?", "#", line) for line in text.strip().splitlines()]
        return sorted(" ".join(line.split()) for line in lines if not line.startswith("replay"))

    assert shape(shown) == shape(out)
