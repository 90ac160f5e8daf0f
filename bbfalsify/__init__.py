"""bbfalsify finds the failures of a black box, and tells which of them its users will actually meet.

The picture

    campaign ─► run = system + profile + requirements + engine + budget + seed
                        engine ── ask(batch) ──► driver ──► system ──► trace
                             ▲                     │                     │
                             └──── answers ────────┤◄── verdict ◄ monitor ┘
                                                   └─► run directory ─► table, JSON, counterexample files

Rooms, each looking only at those above it

    core        the words: trace, verdict, estimate, seeds, errors, settings
    automata    finite machines;  records: files on disk, run directories, counterexamples
    modelling   networks of automata: readers, builder, checks, the slow reference interpreter
    kernel      the same semantics compiled: delay windows, walks, stochastic races
    logic       requirements in temporal logics, and monitors;  stats: intervals
    chains      Markov chains;  zones: symbolic states of timed models
    fitting     profiles from logs of use
    systems     what can be tested: functions, programs, servers, FMUs, models
    results     what a run concludes, in Python and as JSON
    engines     what to try next; each file reads like its paper; no engine ever touches a system
    running     the driver (it answers; engines loop), workers, replay
    campaigns   YAML plans;  reporting: tables and plots;  registry: engines by name;  cli: the only printing

Start reading at `bbfalsify/running/driver.py`.  The names below are public; they load when first used.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from bbfalsify.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from bbfalsify.api import check as check
    from bbfalsify.api import estimate as estimate
    from bbfalsify.api import falsify as falsify
    from bbfalsify.api import load_campaign as load_campaign
    from bbfalsify.api import reach as reach
    from bbfalsify.api import search as search
    from bbfalsify.api import verify as verify
    from bbfalsify.core.errors import SystemFailure as SystemFailure
    from bbfalsify.core.errors import UserError as UserError
    from bbfalsify.core.estimate import Estimate as Estimate
    from bbfalsify.core.trace import Stimulus as Stimulus
    from bbfalsify.core.trace import Trace as Trace
    from bbfalsify.core.verdict import Outcome as Outcome
    from bbfalsify.core.verdict import Verdict as Verdict
    from bbfalsify.engines.falsification.baseline.smc import SmcOptions as SmcOptions
    from bbfalsify.engines.falsification.settings import Options as Options
    from bbfalsify.logic import Requirement as Requirement
    from bbfalsify.logic import parse_stl as parse_stl
    from bbfalsify.modelling import NetworkBuilder as NetworkBuilder
    from bbfalsify.modelling import load_network as load_network
    from bbfalsify.modelling import load_profile as load_profile
    from bbfalsify.records.counterexample import Counterexample as Counterexample
    from bbfalsify.running.replay import replay as replay
    from bbfalsify.systems import System as System
    from bbfalsify.systems import load_system as load_system
    from bbfalsify.systems import system as system
else:
    __all__, __getattr__ = lazy_names(__name__, __file__)
    __all__.insert(0, "__version__")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__version__ = "0.1.0"


_MOVED = {
    "bbfalsify.logic.temporal": "bbfalsify.logic.ltl",
    "bbfalsify.logic.temporal.sampling": "bbfalsify.logic.ltl.sampled_stl",
    "bbfalsify.modelling.mealy": "bbfalsify.automata.mealy",
    "bbfalsify.systems.octave": "bbfalsify.systems.programs.octave",
    "bbfalsify.systems.sockets": "bbfalsify.systems.servers",
}
"""Old addresses of modules that adapters import."""


class _MovedModules(MetaPathFinder, Loader):
    """An importer that forwards the old addresses to the new ones."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name in _MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__getattr__"] = partial(getattr, import_module(_MOVED[module.__name__]))


sys.meta_path.append(_MovedModules())
