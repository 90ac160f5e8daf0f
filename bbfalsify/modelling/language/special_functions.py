"""Functions that UPPAAL calls by itself: `before_update`, `after_update`, `__ON_CONSTRUCT__` and `__ON_BEGIN__`.

The first two are called around the updates of each transition.  What comes last is the update of an internal edge, the
receiver's of a handshake, and of a broadcast that of the last process: one that receives every broadcast is added.  The
others are executed once, for the initial values.  `__ON_END__` and `__ON_DESTRUCT__` come too late to matter.
"""

from __future__ import annotations

from dataclasses import replace

from bbfalsify.core.errors import Place
from bbfalsify.modelling.language.initial_draws import NAME as INITIAL_DRAWS
from bbfalsify.modelling.language.scopes import Assembly, Scope
from bbfalsify.modelling.language.typed_symbols import FunctionSymbol
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.expressions import Call, Evaluate, Kind, Statement
from bbfalsify.modelling.network.network import Branch, Edge, Location, Network, Process

BEFORE, AFTER = "before_update", "after_update"
AT_THE_BEGIN = ("__ON_CONSTRUCT__", "__ON_BEGIN__")
NAME = "_after_update"
"""The process that receives every broadcast."""


def with_updates_around(processes: list[Process], assembly: Assembly, scope: Scope) -> list[Process]:
    """Call `before_update` first and `after_update` last in each transition."""
    before, after = _calls(BEFORE, scope), _calls(AFTER, scope)
    if not before and not after:
        return processes

    def around(edge: Edge) -> Edge:
        broadcast = edge.channel is not None and assembly.channels[edge.channel].broadcast
        first = before if edge.is_output else ()
        last = after if edge.channel is None or (not edge.sends and not broadcast) else ()
        branches = (replace(branch, updates=(*first, *branch.updates, *last)) for branch in edge.branches)
        return replace(edge, branches=tuple(branches))

    found = [p if p.name == INITIAL_DRAWS else replace(p, edges=tuple(map(around, p.edges))) for p in processes]
    channels = sorted({edge.channel for p in processes for edge in p.edges if edge.channel is not None and edge.sends})
    heard = [channel for channel in channels if assembly.channels[channel].broadcast]
    if after and heard:
        edges = tuple(Edge(0, (Branch(0, after),), channel=channel, action=AFTER) for channel in heard)
        found.append(Process(NAME, (Location("always"),), 0, edges))
    return found


def with_begin_executed(network: Network, assembly: Assembly, scope: Scope, place: Place) -> Network:
    """Execute what UPPAAL does before a query, and take the values for the initial ones."""
    calls = [call for name in AT_THE_BEGIN for call in _calls(name, scope)]
    if not calls or assembly.problems:
        return network
    from bbfalsify.modelling.reference.evaluation import Evaluator, Memory
    from bbfalsify.modelling.reference.exact_code import ExactCode
    from bbfalsify.modelling.reference.exact_values import DependsOnDraw, ModelRuntimeError, Sample, at_delay

    memory = Memory([p.initial for p in network.processes], list(network.initial_integers()), network.initial_reals())
    try:
        if EffectAnalysis(network.functions).statements(calls).random:
            raise DependsOnDraw("it draws at random")
        Evaluator(ExactCode(network), memory, Sample(0, set())).run(calls)
    except (ModelRuntimeError, DependsOnDraw) as error:
        assembly.fail(place, f"{' or '.join(AT_THE_BEGIN)} gives no initial values: {error}.")
        return network
    variables = []
    for variable in network.variables:
        store = memory.reals if variable.kind.is_real else memory.integers
        values = (at_delay(store[slot], 0) for slot in range(variable.slot, variable.slot + variable.size))
        variables.append(replace(variable, initial=tuple(values)))
    return replace(network, variables=tuple(variables))


def _calls(name: str, scope: Scope) -> tuple[Statement, ...]:
    """A call of this function, if the model declares it without parameters."""
    symbol = scope.symbols.get(name)
    if not isinstance(symbol, FunctionSymbol) or symbol.parameters or symbol.index is None:
        return ()
    return (Evaluate(Call(symbol.index, (), symbol.result.kind or Kind.INT)),)
