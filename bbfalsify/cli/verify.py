"""bbfalsify verify: decide queries about all behaviours of a model."""

from __future__ import annotations

from typing import Any

from bbfalsify.cli.engine_options import settings_of_engine, with_settings
from bbfalsify.cli.options import ModelChoice, Queries, Resume, Session


@with_settings(*settings_of_engine("verify"))
def verify(*, chosen: ModelChoice, query: Queries = None, resume: Resume = None, session: Session) -> int:
    """Decide queries about all behaviours of a timed model.

    A query holds, is violated by an exact trace, or is undecided: 'A[] …', 'E<> …', 'A<> …', 'E[] …' or 'p --> q'.
    'sup{p}: e', 'inf{p}: e' and 'bounds{p}: e' give exact largest and smallest values.

    \b
    Exit codes: 0 nothing was found, 1 a violation or a state asked for, 4 undecided.
    Example:  bbfalsify verify --example fischer:6
    """
    from bbfalsify.cli.inline_campaign import model_sections, run_described

    sections = model_sections(chosen, query)
    return run_described("verify", sections, session, resume=resume, printed=_contract)


def _contract(results: dict[str, Any]) -> dict[str, Any]:
    """Return what --json prints: the queries with their verdicts and traces."""
    from bbfalsify.results.recorded import result_from_json
    from bbfalsify.results.verify_result import VerifyResult

    rows = result_from_json(VerifyResult, results).requirements
    return {
        "queries": [row.contract() for row in rows],
        "outcome": results["outcome"],
        "seed": results["seed"],
        "run_directory": results["run_directory"],
    }
