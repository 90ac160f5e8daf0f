"""Running things: who loops, who answers, who records.

    engine                      loops: decides what to ask next, and stops when it is done
      │  ask(batch of queries)
      ▼
    driver                      answers: within the budget, in the order asked
      ├─► recorded answers      first, where a run is resumed (`records/recorded_answers.py`)
      ├─► pool ─► worker ─► system, monitor
      │                         else by execution: processes, limits, failures (`workers/`)
      └─► record                writes every answer before the engine sees it, then tells the listeners
                                (`records/recording.py`); results and reports come from the record

    falsify/   a run of usage-aware falsification: task, stages, list of counterexamples
    check/     a run of black box checking: task, engine, verdicts
    reach/     a search for states of a model; its walks are the engine itself, so no driver answers
    doctor/    does a system keep its promises?
    workers/   where queries are executed

Start reading at `driver.py`.  Two objects are passed everywhere: an `Execution` (jobs, executor, limits, votes, meaning
of failures) and a `Recording` (where, under which name, who listens).  Names are looked up when they are used: looking
at a finished run, or planning one, must not wait for what simulates.
"""

from typing import TYPE_CHECKING

from bbfalsify.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from bbfalsify.core.confirmation import Confirmation as Confirmation
    from bbfalsify.core.verdict import ReplayOutcome as ReplayOutcome
    from bbfalsify.running.driver import Driver as Driver
    from bbfalsify.running.driver import Ended as Ended
    from bbfalsify.running.execution import Execution as Execution
    from bbfalsify.running.judge import RequirementsJudge as RequirementsJudge
    from bbfalsify.running.replay import ReplayResult as ReplayResult
    from bbfalsify.running.workers.pool import WorkerPool as WorkerPool
else:
    __all__, __getattr__ = lazy_names(__name__, __file__)
