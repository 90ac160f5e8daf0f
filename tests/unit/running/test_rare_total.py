"""How probable any violation is beside a list, where plain simulation meets nothing."""

from __future__ import annotations

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.running.falsify.rare_total import rare_total
from tests.unit.engines.test_rare_events import USAGE, asking, rare_limit

LIST = Estimate(3.6e-4, 3.3e-4, 4.0e-4, 0.95, "splitting", 1000)


def test_tilted_uses_tell_the_share_that_a_list_explains():
    """3.85e-4 in all; 20,000 plain uses would meet about 8.  99.9 % interval, one seed; half as much would be seen."""
    stl, exact = rare_limit(0.1)
    options = smc.SmcOptions(simulations=20_000, confidence=0.999)
    found = rare_total(asking(stl), USAGE, 0, options, SeedTree(1))
    assert found is not None and found.low <= exact <= found.high < 1.5 * exact
    progress = smc.Progress(tallies=[smc.Tally()], iterations=2000, tilted={0: found})
    baseline = progress.baseline(0, options, found=[("on",) * 5], found_probability=LIST)
    assert baseline.explained is not None and baseline.explained.low > 0.5 and not baseline.share_unknown
    assert baseline.probability.low >= LIST.low and baseline.probability.method.startswith("importance sampling")


def test_what_tilts_cannot_tell_stays_unknown():
    options = smc.SmcOptions(simulations=1500)
    assert rare_total(asking("always[0:20](T <= 200)"), USAGE, 0, options, SeedTree(1)) is None
    progress = smc.Progress(tallies=[smc.Tally()], iterations=2000)
    baseline = progress.baseline(0, options, found=[("on",) * 5], found_probability=LIST)
    assert baseline.explained is None and "met none" in baseline.share_unknown


def test_the_listed_words_are_summed_where_tilts_of_whole_uses_fail():
    """3.8e-9, where nothing is met by chance: at least so much, and no share is made up.  99.9 % interval, one seed."""
    stl, exact = rare_limit(1e-6)
    options = smc.SmcOptions(simulations=4000, confidence=0.999)
    listed = [("on",) * 5, ("on", "on", "on", "on", "off")]
    found = rare_total(asking(stl), USAGE, 0, options, SeedTree(1), listed)
    assert found is not None and found.at_least and found.low <= exact <= found.high < 1.3 * exact
    progress = smc.Progress(tallies=[smc.Tally()], iterations=2000, tilted={0: found})
    unseen = Estimate(1e-5, 0.0, 1e-5, 0.95, "m", 1000, none_seen=True)
    baseline = progress.baseline(0, options, found=listed, found_probability=unseen)
    assert baseline.explained is None and baseline.share_unknown
    known = baseline.probability
    assert (known.value, known.low) == (found.value, found.low), "by the words"
    assert known.high > 1e-4, "by plain simulation: others may be hidden"
