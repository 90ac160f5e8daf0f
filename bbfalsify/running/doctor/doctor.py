"""The first thing to do with a new adapter: open the system, use it, reset it, and see whether it keeps its promises.

    report = examine(load_system("adapters/heater"))
    report.healthy, report.problems, report.remarks

What is checked, because everything later rests on it:

    it works        no crash, hang or malformed answer, also for the shortest use
    it repeats      the same use from reset gives the same answer
    it forgets      … also after another use in between: reset really resets
    it is causal    the answers up to a moment do not depend on what is done after it
    it keeps its step, where it declares one: finer samples show nothing new
    it can          what it declares (batch, stepwise, snapshot, forkable): used so, it answers as it does otherwise

Problems make results wrong; remarks are worth knowing.  The system runs in a worker process, as in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from bbfalsify.core.errors import SystemFailure
from bbfalsify.core.query import Answer, AnyQuery
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import Judgement
from bbfalsify.running.doctor.patient import Examination as Examination
from bbfalsify.running.doctor.patient import Patient
from bbfalsify.running.doctor.probes import Probe
from bbfalsify.running.doctor.signal_checks import examine_abilities, examine_signals
from bbfalsify.running.doctor.symbol_checks import examine_symbol_abilities, examine_symbols
from bbfalsify.running.driver import Driver
from bbfalsify.running.execution import Execution
from bbfalsify.systems import Capabilities, SymbolSystem, System
from bbfalsify.systems.interface import unit_problems


def examine(
    system: System | SymbolSystem, *, duration: float = 10.0, seed: int = 1, time_limit_s: float = 60.0
) -> Examination:
    """Use the system a few dozen times.  Signals are zeros, ones and steps between them, over `duration` seconds."""
    symbolic = isinstance(system, SymbolSystem)
    declared = {f.name: getattr(system.capabilities, f.name) for f in fields(Capabilities)}
    report = Examination(
        system.name, "symbols" if symbolic else "signals", {k: v for k, v in declared.items() if v not in (False, None)}
    )
    judge, execution, seeds = None if symbolic else _no_judgement, Execution(time_limit=time_limit_s), SeedTree(seed)

    def use(queries: Sequence[AnyQuery], way: str) -> list[Answer]:
        """Use a worker of its own: of an exclusive system there may be only one at a time."""
        with Driver(Probe(system, way), judge, execution, seeds=seeds) as driver:
            return Patient(driver, report).use(queries)

    try:
        with Driver(system, judge, execution, seeds=seeds) as driver:
            patient = Patient(driver, report)
            if isinstance(system, SymbolSystem):
                word = examine_symbols(patient, system, seeds.child("doctor"))
            else:
                report.remarks += map(str, unit_problems(system))
                use_of_signals = examine_signals(patient, system, duration)
        if isinstance(system, SymbolSystem):
            if word is not None:
                examine_symbol_abilities(patient, system, word, use)
        elif use_of_signals is not None:
            examine_abilities(patient, system, use_of_signals, use)
    except SystemFailure as failure:
        report.problems.append(str(failure))
    return report


def _no_judgement(trace: Trace, *, outliers: bool = False, shortfalls: bool = False) -> tuple[Judgement, ...]:
    return ()
