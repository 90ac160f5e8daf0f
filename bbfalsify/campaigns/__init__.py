"""Campaign files: what to run, written down once, checked whole before anything runs.

    campaign.yaml ── reading ──► entries with file:line ── plan ──► RunPlans ── execute ──► results, one per run

`schema` says what a file may contain, `reading` turns every mistake into a sentence, `plan` multiplies lists into runs
and checks system, profile and requirements against each other, `execute` hands each plan to the running room.
"""

from bbfalsify.campaigns.plan import Campaign, RunPlan, load_campaign, plan_document

__all__ = ["Campaign", "RunPlan", "load_campaign", "plan_document"]
