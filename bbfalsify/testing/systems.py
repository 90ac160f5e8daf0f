"""For the tests of other people's adapters: what `bbfalsify doctor` looks at, as one assertion.

def test_my_adapter():
    check_system(load_system("adapters/pump"))
"""

from __future__ import annotations

from typing import Any

from bbfalsify.running.doctor.doctor import Examination, examine
from bbfalsify.systems import SymbolSystem, System


def check_system(system: System | SymbolSystem, **settings: Any) -> Examination:
    """AssertionError with every problem, or the examination (for its costs and remarks); settings as for `examine`."""
    report = examine(system, **settings)
    if not report.healthy:  # said as it is: pytest would rewrite the message of an assert statement
        raise AssertionError(f"{report.system} is not fit for use:\n" + "\n".join(report.problems))
    return report
