"""Resolve the texts of a model into a network.

    network, assembly = assemble(model)          all problems are in assembly.problems
    expression, frame = parse_expression("P.x >= 3 && n == N", network)

Templates are instantiated, `select` and channel indices expanded, names replaced by slots.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from bbfalsify.core.errors import Place, UserError
from bbfalsify.modelling.language.builtin_functions import language_scope
from bbfalsify.modelling.language.declarations import Declarer
from bbfalsify.modelling.language.initial_draws import with_initial_draws
from bbfalsify.modelling.language.matched_channels import Unmatched, with_matched_channels
from bbfalsify.modelling.language.model_text import ModelText, TemplateText
from bbfalsify.modelling.language.phase_delays import expand_phases
from bbfalsify.modelling.language.priority_levels import with_priorities
from bbfalsify.modelling.language.process_instances import ProcessInstances
from bbfalsify.modelling.language.receiver_choices import with_receiver_choices
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import BROKEN, Context
from bbfalsify.modelling.language.scopes import Assembly, Frame, Scope, visible_variables
from bbfalsify.modelling.language.special_functions import with_begin_executed, with_updates_around
from bbfalsify.modelling.language.typed_symbols import ConstantSymbol, Symbol, Type
from bbfalsify.modelling.network.expressions import Expression, Kind
from bbfalsify.modelling.network.network import Network, Process
from bbfalsify.modelling.network.visit import clock_constants, expressions_of
from bbfalsify.records.documents import Text


def assemble(model: ModelText) -> tuple[Network, Assembly]:
    """Build the network; it is complete if there are no `problems` in the assembly."""
    expand_phases(model)
    try:
        return _assembled(model, matching=model.channel_priorities is None and model.process_priorities is None)
    except Unmatched:
        return _assembled(model, matching=False)


def _assembled(model: ModelText, *, matching: bool) -> tuple[Network, Assembly]:
    assembly = Assembly(model.as_uppaal, model.system_outputs, matching, notes=model.notes)
    scope = Scope(language_scope())
    for text in model.declarations:
        declarations, unread = assembly.parse_declarations(text)
        scope.silent |= unread
        Declarer(assembly, scope, text.place).declare(declarations)
    for template in model.templates:
        parse_everything(assembly, template)
    processes = with_initial_draws(ProcessInstances(model, assembly, scope).build(), assembly.initial_draws)
    if matching:
        processes = with_matched_channels(processes, assembly)
    if model.as_uppaal:
        processes = with_updates_around(processes, assembly, scope)
    network = Network(
        name=model.name,
        variables=tuple(assembly.variables),
        channels=tuple(assembly.channels),
        functions=tuple(assembly.functions),
        processes=tuple(processes),
        integer_count=len(assembly.integer_ranges),
        real_count=assembly.real_count,
        file=model.place.file,
        largest_constant=largest_constant(assembly, processes),
        ode_step=model.ode_step,
        scope=scope,
        as_uppaal=model.as_uppaal,
    )
    if model.as_uppaal:
        network = with_begin_executed(network, assembly, scope, model.place)
    network = with_receiver_choices(network)
    return with_priorities(network, model.channel_priorities, model.process_priorities, assembly), assembly


def parse_everything(assembly: Assembly, template: TemplateText) -> None:
    """Parse all texts of a template, to find syntax errors even if it is not instantiated."""
    if template.parameters is not None:
        assembly.parse(template.parameters, "parameters", "parameters")
    for text in template.declarations:
        assembly.parse_declarations(text)
    for location in template.locations:
        for what in ("invariant", "exponential_rate", "cost_rate"):
            text = getattr(location, what)
            if text is not None:
                assembly.parse(text, "expression", what.replace("_", " "))
        for clock, rate in location.rates:
            assembly.parse(clock, "expression", "clock of a rate")
            assembly.parse(rate, "expression", "rate")
    for edge in template.edges:
        for what, start in (("select", "selects"), ("guard", "expression"), ("sync", "sync"), ("weight", "expression"),
                            ("cost", "expression")):  # fmt: skip
            text = getattr(edge, what)
            if text is not None:
                assembly.parse(text, start, what)
        for branch in edge.branches:
            if branch.weight is not None:
                assembly.parse(branch.weight, "expression", "weight")
            if branch.update is not None:
                assembly.parse(branch.update, "updates", "update")


def largest_constant(assembly: Assembly, processes: list[Process]) -> int:
    texts: list[Expression | None] = []
    for process in processes:
        texts += [location.invariant for location in process.locations]
        texts += [edge.guard for edge in process.edges]
    for function in assembly.functions:
        texts += expressions_of(function.body)
    constants = [c for text in texts for c in clock_constants(text, assembly.range_of)]
    return max((math.ceil(c) for c in constants), default=0)


def parse_expression(
    text: str, network: Network, *, file: str | None = None, line: int | None = None, what: str = "expression"
) -> tuple[Expression, int]:
    """Parse an expression over a finished network; return it with the number of frame slots that it needs.

    It may use the names of the model's global declarations, `P.x` and `P.location`, and in a network of one process
    also that process's variables without the prefix.
    """
    assembly = Assembly(network.as_uppaal, functions=list(network.functions))
    place = Place(file, line)
    expression, frame_size = resolve_against(text, network, assembly, place, what)
    if assembly.problems or expression is None:
        raise UserError(assembly.problems)
    return expression, frame_size


def parse_condition(
    text: str, network: Network, truths: Mapping[str, bool], *, file: str | None = None, line: int | None = None
) -> Expression:
    """Parse a condition over a finished network; `truths` are additional names with truth values.

    Quantifiers are unrolled, so that `forall (i : id_t) P(i).idle` may name processes by the bound variable.
    """
    assembly, place = Assembly(network.as_uppaal, functions=list(network.functions)), Place(file, line)
    node = assembly.parse(Text(text, place), "expression", "query")
    symbols: dict[str, Symbol] = {
        name: ConstantSymbol(name, Type(Kind.BOOL), (int(value),), line=0) for name, value in truths.items()
    }
    scope = Scope(_scope_of(network), symbols)
    value: Expression = BROKEN
    if node is not None:
        _know_ranges(assembly, network)
        value = ExpressionResolver(assembly, scope, place, Context("query", network=network)).resolve(node)
        if value is not BROKEN and value.kind is not Kind.BOOL:  # mostly `sum (i : T) P(i).a <= 1` for (sum …) <= 1
            hint = "a condition is needed, found a number. Quantifiers reach as far to the right as they can: write "
            assembly.report(place.problem(f"query: {hint}'(sum (i : T) …) <= 1', or '… != 0'.", node.line))
    if assembly.problems or value is BROKEN:
        raise UserError(assembly.problems)
    return value


def resolve_against(
    text: str, network: Network, assembly: Assembly, place: Place, what: str
) -> tuple[Expression | None, int]:
    """Parse an expression as `parse_expression` does, but report problems to the assembly."""
    node = assembly.parse(Text(text, place), "expression", what)
    if node is None:
        return None, 0
    _know_ranges(assembly, network)
    frame = Frame()
    context = Context(what, frame, network=network)
    value = ExpressionResolver(assembly, _scope_of(network), place, context).resolve(node)
    return (None if value is BROKEN else value), frame.size


def _know_ranges(assembly: Assembly, network: Network) -> None:
    if not assembly.integer_ranges:
        for variable in sorted((v for v in network.variables if not v.kind.is_real), key=lambda v: v.slot):
            assembly.integer_ranges += [(variable.low, variable.high)] * variable.size


def _scope_of(network: Network) -> Scope:
    outer = network.scope
    if not isinstance(outer, Scope):
        outer = Scope(language_scope(), dict(visible_variables(network, "")))
    if len(network.processes) == 1:
        return Scope(outer, dict(visible_variables(network, network.processes[0].name + ".")))
    return outer
