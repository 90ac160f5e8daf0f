"""Campaign files: what to run, written down once, checked whole before anything runs.

    campaign.yaml ── reading ──► entries with file:line ── plan ──► RunPlans ── execute ──► results, one per run

`schema` declares what a file may contain (`json_schema` and `settings_tables` tell editors and the manual), `reading`
gives every mistake its place, `plan` multiplies lists into runs and checks system, profile and requirements against
each other, `execute` hands each plan to the running room.
"""

from bbfalsify.campaigns.plan import Campaign, RunPlan, load_campaign, plan_document

__all__ = ["Campaign", "RunPlan", "load_campaign", "plan_document"]
