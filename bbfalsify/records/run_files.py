"""Names of the files and folders of a run directory and of a campaign's, each declared once."""

from __future__ import annotations

MANIFEST = "manifest.json"
EVENTS = "events.jsonl"
RESULTS = "results.json"
COUNTEREXAMPLES = "counterexamples"
SHRUNK = "shrunk"
TYPICAL = "modes"
"""Uses that show failure modes without a counterexample of the list."""
OBSERVATIONS = "observations.jsonl"
CHECKPOINT = "standing.json"
FANS = "fans.npz"
MODEL = "model.dot"
WORKERS_LOG = "workers.log"

CAMPAIGN = "campaign.json"
SUMMARY = "summary.json"
