"""The report: one HTML file per run directory that needs no network and opens from disk.

    write_report("runs/heater-2026-11-16-1", ENGINES)        # …/report.html

A page is made in two halves.  Python collects what was recorded into plain values (`falsified.py`, `checked.py`,
`reached.py`, `campaign.py`: one per kind of directory) and Jinja2 writes the text, everything escaped.  Signals travel
in the page as compact data, and its script draws those that are looked at; so a thousand counterexamples open at once.
"""

from bbfalsify.reporting.html.writing import REPORT, report_html, write_report

__all__ = ["REPORT", "report_html", "write_report"]
