"""Assert in a test of an adapter what `bbfalsify doctor` examines.

def test_my_adapter():
    check_system(load_system("adapters/pump"))
"""

from __future__ import annotations

from typing import Any

from bbfalsify.running.doctor.doctor import Examination, examine
from bbfalsify.systems import SymbolSystem, System


def check_system(system: System | SymbolSystem, **settings: Any) -> Examination:
    """Examine the system with the settings of `examine`; raise AssertionError with every problem."""
    report = examine(system, **settings)
    if not report.healthy:  # said as it is: pytest would rewrite the message of an assert statement
        raise AssertionError(f"{report.system} is not fit for use:\n" + "\n".join(report.problems))
    return report
