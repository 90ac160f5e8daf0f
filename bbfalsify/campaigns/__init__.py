"""Campaign files: what to run, written down once, checked whole before anything runs.

    campaign.yaml ── reading ──► entries with file:line ── plan ──► RunPlans ── execute ──► results, one per run

`schema` declares what a file may contain (`json_schema` and `settings_tables` tell editors and the manual), `reading`
gives every mistake its place, `plan` multiplies lists into runs and checks system, profile and requirements against
each other, `execute` hands each plan to the running room.

`run_search` runs an engine of your own that is only a search.
"""

from typing import TYPE_CHECKING

from bbfalsify.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from bbfalsify.campaigns.own_engine import run_search as run_search
    from bbfalsify.campaigns.plan import Campaign as Campaign
    from bbfalsify.campaigns.plan import RunPlan as RunPlan
    from bbfalsify.campaigns.plan import load_campaign as load_campaign
    from bbfalsify.campaigns.plan import plan_document as plan_document
else:
    __all__, __getattr__ = lazy_names(__name__, __file__)
