"""JUnit XML, the form in which CI servers read test results: a run is a suite, a requirement a test case.

No answer is an error there: a build without an answer must not turn green.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring  # for writing; nothing is read here

from bbfalsify.reporting.exports.cases import Case, Suite

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENTS = {"failed": "failure", "inconclusive": "error", "error": "error"}


def junit_text(suites: Sequence[Suite], name: str = "bbfalsify") -> str:
    root = Element("testsuites", _clean({"name": name, **_counts([c for s in suites for c in s.cases])}))
    root.set("time", f"{sum(suite.seconds for suite in suites):.3f}")
    for suite in suites:
        element = SubElement(root, "testsuite", _clean({"name": suite.name, **_counts(suite.cases)}))
        element.set("time", f"{suite.seconds:.3f}")
        properties = SubElement(element, "properties")
        for key, value in (("seed", suite.seed), ("run_directory", suite.directory), ("campaign", suite.campaign)):
            if value is not None:
                SubElement(properties, "property", _clean({"name": key, "value": str(value)}))
        for case in suite.cases:
            _add(element, suite, case)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    told = [_ELEMENTS.get(case.status) for case in cases]
    return {
        "tests": str(len(told)),
        "failures": str(told.count("failure")),
        "errors": str(told.count("error")),
        "skipped": "0",
    }


def _add(parent: Element, suite: Suite, case: Case) -> None:
    name = f"{case.id}: {case.text}" if case.text else case.id
    # A run takes its time for all its requirements together.
    time = f"{suite.seconds / max(1, len(suite.cases)):.3f}"
    element = SubElement(parent, "testcase", _clean({"classname": suite.name, "name": name, "time": time}))
    text = _NOT_XML.sub("�", "\n".join(case.lines))
    if case.status == "passed":
        SubElement(element, "system-out").text = text
    else:
        about = _clean({"message": case.headline, "type": case.status})
        SubElement(element, _ELEMENTS[case.status], about).text = text


def _clean(attributes: dict[str, str]) -> dict[str, str]:
    """XML knows no control characters, however they are escaped."""
    return {key: _NOT_XML.sub("�", value) for key, value in attributes.items()}
