"""The guides by name (`guide:` of falsify); those of other packages are entry points of the group `bbfalsify.guides`.

A guide is a class, or a function, that makes a `Guide` (`core/choices.py`) of a space, a number of requirements and a
seed.  One that manages runs of any length has an attribute `any_length = True`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from bbfalsify.core.errors import Problem, UserError, unknown_name

if TYPE_CHECKING:
    from bbfalsify.core.choices import GuideFactory

ENTRY_POINTS = "bbfalsify.guides"
AUTO, ACCELERATOR, OUTLIER, NONE, PORTFOLIO = "auto", "accelerator", "outlier", "none", "portfolio"
_GUIDES = "bbfalsify.engines.falsification.guides"
BUILT_IN = {
    ACCELERATOR: f"{_GUIDES}.plain_guides:AcceleratorGuide",
    OUTLIER: f"{_GUIDES}.outlier:outlier_guide",
    NONE: f"{_GUIDES}.plain_guides:PlainGuide",
    PORTFOLIO: f"{_GUIDES}.portfolio:Portfolio",
    "coarse_to_fine": f"{_GUIDES}.coarse_to_fine:CoarseToFine",
    "stretch_mutation": f"{_GUIDES}.stretch_mutation:StretchMutation",
    "cma_es": f"{_GUIDES}.cma_es:CmaEs",
    "trust_region": f"{_GUIDES}.trust_region:TrustRegion",
    "cross_entropy": f"{_GUIDES}.cross_entropy:CrossEntropy",
}
OVER_WALKS = (ACCELERATOR, OUTLIER)
"""Guides that walk through automata themselves (`accelerator.py`): they choose edges and delays, not quantiles."""
FOR_VALUES = PORTFOLIO
"""The guide that `auto` means for a profile with signals or parameters."""


def guide_names() -> list[str]:
    """Name the built-in guides first; those of other packages are not imported."""
    from importlib.metadata import entry_points

    return [*BUILT_IN, *sorted({e.name for e in entry_points(group=ENTRY_POINTS)} - set(BUILT_IN))]


def guide_problem(name: str) -> Problem | None:
    """Return the problem with the name of a guide."""
    if name == AUTO or name in BUILT_IN:
        return None
    names = guide_names()
    return None if name in names else unknown_name("guide", name, [AUTO, *names])


def guide_factory(name: str) -> GuideFactory:
    """Load a guide."""
    if name in BUILT_IN:
        module, attribute = BUILT_IN[name].split(":")
        return cast("GuideFactory", getattr(import_module(module), attribute))
    problem = guide_problem(name)
    if problem is not None:
        raise UserError(problem)
    from importlib.metadata import entry_points

    [entry, *_] = entry_points(group=ENTRY_POINTS, name=name)
    try:
        factory: Any = entry.load()
    except Exception as error:
        owner = entry.dist.name if entry.dist is not None else entry.value
        raise UserError(f"the guide '{name}' of the package '{owner}' cannot be loaded: {error}.") from None
    if not callable(factory):
        raise UserError(f"the entry point '{name}' ({entry.value}) is {type(factory).__name__}, not a guide.")
    return cast("GuideFactory", factory)
