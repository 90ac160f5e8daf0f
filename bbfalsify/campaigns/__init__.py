"""Campaign files: what to run, written down once, checked whole before anything runs.

    campaign.yaml ── reading ──► entries with file:line ── plan ──► RunPlans ── execute ──► results, one per run

`schema` declares what a file may contain (`json_schema` and `settings_tables` tell editors and the manual), `reading`
gives every mistake its place, `plan` multiplies lists into runs and checks system, profile and requirements against
each other, `execute` hands each plan to the running room.

`run_search` runs an engine of your own that is only a search.
"""

from typing import Any

from bbfalsify.campaigns.plan import Campaign, RunPlan, load_campaign, plan_document

__all__ = ["Campaign", "RunPlan", "load_campaign", "plan_document", "run_search"]


def __getattr__(name: str) -> Any:
    """Modules that simulate are imported where they are used."""
    if name == "run_search":
        from bbfalsify.campaigns.own_engine import run_search

        return run_search
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
