"""A network → UPPAAL's XML: for tests that read it back.

UPPAAL cannot say everything: an edge has no weight of its own, and a guard does not look at other processes'
locations.  `expressible` takes that out of a network first.  Updates with `if` and loops become functions of the
template.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from xml.sax.saxutils import escape

from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.expressions import Kind
from bbfalsify.modelling.network.network import Branch, Edge, Location, Network, Process, Variable
from bbfalsify.modelling.network.visit import expressions_of, subexpressions, substatements
from tests.support.printing import Printer


def expressible(network: Network) -> Network:
    first = next(v for v in network.variables if v.kind is Kind.INT)
    instead = ex.Binary("==", ex.Read(first.slot, Kind.INT), ex.Constant(1, Kind.INT), Kind.BOOL)

    def changed(value):
        if isinstance(value, ex.AtLocation):
            return instead
        if isinstance(value, tuple):
            return tuple(changed(part) for part in value)
        if dataclasses.is_dataclass(value) and not isinstance(value, Variable):
            parts = {f.name: changed(getattr(value, f.name)) for f in dataclasses.fields(value) if f.name != "scope"}
            if isinstance(value, Edge):
                parts["weight"] = None
            return dataclasses.replace(value, **parts)
        return value

    return changed(network)


class UppaalWriter(Printer):
    def __init__(self, network: Network) -> None:
        super().__init__(network)
        self.prefix = ""
        self.procedures: list[str] = []

    def expression(self, node: ex.Expression | None) -> str:
        match node:
            case ex.Constant(kind=Kind.BOOL):
                return "true" if node.value else "false"
            case ex.Constant() if node.kind.is_real:
                value = Fraction(node.value)
                return f"({value.numerator}.0 / {value.denominator}.0)"
            case ex.Constant(value=value):
                return f"({value})"
            case ex.Read() if node.index is None:
                found = self.declaration(node)
                return self.variable(node) + (f"[{node.slot - found.slot}]" if found.dimensions else "")
            case ex.Quantifier():
                body = self.expression(node.body)
                return f"({node.name} (local{node.slot} : int[{node.low},{node.high}]) {body})"
        return super().expression(node)

    def declaration(self, node: ex.Read) -> Variable:
        return next(
            v
            for v in self.network.variables
            if v.kind.is_real == node.kind.is_real and v.slot <= node.slot < v.slot + v.size
        )

    def variable(self, node: ex.Read | ex.Bound) -> str:
        return super().variable(node).removeprefix(self.prefix)

    def document(self) -> str:
        own = tuple(process.name + "." for process in self.network.processes)
        declarations = [self.declared(v) for v in self.network.variables if not v.name.startswith(own)]
        for channel in self.network.channels:
            declarations.append(f"{'urgent ' * channel.urgent}{'broadcast ' * channel.broadcast}chan {channel.name};")
        declarations += [self.function(function) for function in self.network.functions]
        templates = "\n".join(self.template(process) for process in self.network.processes)
        names = ", ".join(process.name for process in self.network.processes)
        return (
            f'<?xml version="1.0"?>\n<nta>\n<declaration>{escape(chr(10).join(declarations))}</declaration>\n'
            f"{templates}\n<system>system {names};</system>\n</nta>\n"
        )

    def declared(self, variable: Variable) -> str:
        type_ = f"int[{variable.low},{variable.high}]" if variable.kind is Kind.INT else str(variable.kind)
        shape = "".join(f"[{d}]" for d in variable.dimensions)
        values = [self.expression(ex.Constant(v, variable.kind)) for v in variable.initial]
        start = f"{{{', '.join(values)}}}" if variable.dimensions else values[0]
        return f"{type_} {variable.name.removeprefix(self.prefix)}{shape} = {start};"

    def function(self, function: ex.Function) -> str:
        kinds = dict(enumerate(function.parameters))
        for statement in substatements(function.body):
            if isinstance(statement, ex.Assign) and isinstance(statement.target, ex.Bound):
                kinds.setdefault(statement.target.slot, statement.target.kind)
        arguments = ", ".join(f"{kind} local{slot}" for slot, kind in enumerate(function.parameters))
        count = len(function.parameters)
        locals_ = " ".join(f"{kind} local{slot};" for slot, kind in kinds.items() if slot >= count)
        return f"{function.result} {function.name}({arguments}) {{ {locals_} {self.statements(function.body)} }}"

    def template(self, process: Process) -> str:
        self.prefix = process.name + "."
        self.procedures = []
        own = [self.declared(v) for v in self.network.variables if v.name.startswith(self.prefix)]
        locations = "\n".join(self.location_element(location) for location in process.locations)
        edges = "\n".join(self.edge_element(process, number, edge) for number, edge in enumerate(process.edges))
        points = "\n".join(
            f'<branchpoint id="b{number}"/>' for number, edge in enumerate(process.edges) if _branches(edge)
        )
        start = process.locations[process.initial].name
        text = (
            f"<template><name>{process.name}</name>\n<declaration>{escape(chr(10).join(own + self.procedures))}"
            f'</declaration>\n{locations}\n{points}<init ref="{start}"/>\n{edges}</template>'
        )
        self.prefix = ""
        return text

    def location_element(self, location: Location) -> str:
        parts = [] if location.invariant is None else [self.expression(location.invariant)]
        parts += [
            f"{self.expression(ex.Read(rate.slot, Kind.CLOCK))}' == {self.expression(rate.expression)}"
            for rate in location.rates
        ]
        labels = _label("invariant", " && ".join(parts))
        if location.exponential_rate is not None:
            labels += _label("exponentialrate", self.expression(location.exponential_rate))
        marks = "<urgent/>" * location.urgent + "<committed/>" * location.committed
        return f'<location id="{location.name}"><name>{location.name}</name>{labels}{marks}</location>'

    def edge_element(self, process: Process, number: int, edge: Edge) -> str:
        labels = "" if edge.guard is None else _label("guard", self.expression(edge.guard))
        if edge.channel is not None:
            channel = self.network.channels[edge.channel].name
            labels += _label("synchronisation", channel + ("!" if edge.sends else "?"))
        source = process.locations[edge.source].name
        if not _branches(edge):
            return self.arrow(source, process.locations[edge.branches[0].target].name, labels, edge.branches[0])
        arrows = [self.arrow(source, f"b{number}", labels, None)]
        for branch in edge.branches:
            weight = "" if branch.weight is None else _label("probability", self.expression(branch.weight))
            arrows.append(self.arrow(f"b{number}", process.locations[branch.target].name, weight, branch))
        return "\n".join(arrows)

    def arrow(self, source: str, target: str, labels: str, branch: Branch | None) -> str:
        if branch is not None and branch.updates:
            name = f"update{len(self.procedures)}"
            self.procedures.append(f"void {name}() {{ {self.statements(branch.updates)} }}")
            labels += _label("assignment", f"{name}()")
        return f'<transition><source ref="{source}"/><target ref="{target}"/>{labels}</transition>'


def _branches(edge: Edge) -> bool:
    return len(edge.branches) > 1


def _label(kind: str, text: str) -> str:
    return f'<label kind="{kind}">{escape(text)}</label>' if text else ""


def reads_locations(network: Network) -> bool:
    texts = [e.guard for p in network.processes for e in p.edges]
    texts += [x for p in network.processes for e in p.edges for b in e.branches for x in expressions_of(b.updates)]
    return any(isinstance(part, ex.AtLocation) for text in texts for part in subexpressions(text))
