"""Name the failure modes of one requirement: learn patterns, then estimate them on fresh simulations.

    uses      := further passes along the listed words, plain simulations, what the search found beside its list
    patterns  := what violating uses share, and passing ones do not                      (`learning.py`)
    again     := the same, where simulated uses of rare patterns contradict              (`probing.py`)
    avoided   := the nearest passing use of each pattern                                 (`avoiding.py`)
    strata    := fresh uses, by the first pattern that occurs in them                    (`strata.py`)
    modes     := rows and fresh uses, divided among the patterns                         (`estimating.py`)

What this may cost is known before it begins: simulations (`Costs`), and what is done without the system (`Work`).
Both are counts, so the same seed has the same result on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.estimating import PassPlan
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.modes.avoiding import Avoiding
from bbfalsify.engines.falsification.modes.estimating import Beside, Modes, estimate_modes
from bbfalsify.engines.falsification.modes.learning import learn
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.probing import Learned, Probing
from bbfalsify.engines.falsification.modes.sampling import (
    PlainUses,
    avoiding_simulations,
    fresh_simulations,
    learning_passes,
    learning_uses,
    most_walks,
    varying_simulations,
)
from bbfalsify.engines.falsification.modes.strata import (
    Strata,
    allocated,
    draw,
    instead_of_passes,
    learned_weights,
    simulate,
)
from bbfalsify.engines.falsification.modes.use import Use
from bbfalsify.engines.falsification.modes.work import Work
from bbfalsify.engines.falsification.usage import Usage


@dataclass(frozen=True)
class Costs:
    """Simulations for the modes of one requirement, beside the plain ones that all requirements share."""

    learning: int
    fresh: int
    avoiding: int

    @staticmethod
    def of(usage: Usage, rows: int, plan: PassPlan, given: int | None = None) -> Costs:
        """`given`: fresh simulations that were asked for, in the place of a part of the estimates'."""
        each = learning_passes(usage, plan.passes) * plan.traces + varying_simulations(usage, plan)
        return Costs(rows * each, fresh_simulations(rows, plan, given), avoiding_simulations(rows, plan))

    @property
    def total(self) -> int:
        return self.learning + self.fresh + self.avoiding


@dataclass(frozen=True, eq=False)
class Named:
    """The modes of one requirement, and what shows them."""

    modes: Modes
    patterns: list[Pattern] = field(default_factory=list)
    """The decision list."""
    avoided: dict[Pattern, str] = field(default_factory=dict)
    """The nearest passing use of each pattern, in words."""
    violating: list[Use] = field(default_factory=list)
    """Violating uses that were met: the fresh ones, then those that patterns were learned from."""
    strata: Strata | None = None
    """The fresh uses."""
    work: Work = field(default_factory=Work)


def name_modes_of(
    ask: Ask,
    usage: Usage,
    rows: Sequence[Finding],
    plain: PlainUses,
    plan: PassPlan,
    costs: Costs,
    seeds: SeedTree,
    *,
    further: Sequence[tuple[Finding, float]] = (),
    units: Mapping[str, str] | None = None,
    beside: Callable[[], Beside | None] = lambda: None,
) -> Named:
    """Learn on `plain` uses and on passes along rows; estimate on fresh ones.

    `further`: findings beside the list with rough masses.
    """
    work, number = Work(), plain.requirement
    own_seeds, traces = seeds.child(number), sum(row.estimated.passes.total_traces for row in rows)
    bad, good = learning_uses(ask, usage, rows, plain, plan, own_seeds, further)
    most = most_walks(costs.fresh, traces)
    actions, fresh = usage.profile.has_actions, costs.fresh
    # A word that its passes never met tells nothing: simulations that follow it count as others do.
    listed = frozenset(row.actions for row in rows if row.met)
    known, probing = Learned(learn(bad, good, work), bad, good, fresh), Probing(ask, usage, number, own_seeds, work)
    known = probing.of_cores(known, listed, most, plain.judged) if actions else probing.of_values(known)
    patterns, bad, good, split = known.patterns, known.bad, known.good, known.rare(usage, most)
    avoided = Avoiding(ask, usage, number, units or {}, own_seeds.child("avoiding")).of(patterns, bad, costs.avoiding)
    weights = learned_weights(patterns, bad, good)
    strata = draw(
        usage, patterns, allocated(weights, known.fresh, others=actions), most, own_seeds.child("occurrences"), split,
        work,
    )  # fmt: skip
    if not actions:
        instead_of_passes(strata, weights[:, 0].tolist(), traces)
    simulate(ask, usage, number, listed, strata)
    clear = 0 if plain.violating else plain.judged
    modes = estimate_modes(usage, patterns, rows, strata, plan.confidence, beside(), clear)
    met = [use for part in strata.parts for uses in part.uses for use in (*uses.violating, *uses.on_list)]
    return Named(modes, patterns, avoided, [*met, *bad], strata, work)
