"""Print a network in the notation of the modelling language, for failing random tests."""

from __future__ import annotations

from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.network import Edge, Location, Network, Process


class Printer:
    """Writes expressions and statements of one network."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def expression(self, node: ex.Expression | None) -> str:
        if node is None:
            return "true"
        show = self.expression
        match node:
            case ex.Constant():
                return str(node.value) if not node.kind.is_real else f"{node.value}r"
            case ex.Read() | ex.Bound():
                return self.variable(node) + ("" if node.index is None else f"[{show(node.index)}]")
            case ex.Unary():
                return f"{node.operator}({show(node.operand)})"
            case ex.Binary():
                return f"({show(node.left)} {node.operator} {show(node.right)})"
            case ex.Conditional():
                return f"({show(node.condition)} ? {show(node.then)} : {show(node.otherwise)})"
            case ex.Builtin() | ex.Random():
                return f"{node.name}({', '.join(show(a) for a in node.arguments)})"
            case ex.Call():
                name = self.network.functions[node.function].name
                return f"{name}({', '.join(show(a) for a in node.arguments)})"
            case ex.Quantifier():
                return f"{node.name}(local{node.slot} : {node.low}..{node.high}) {show(node.body)}"
            case ex.AtLocation():
                process = self.network.processes[node.process]
                return f"{process.name}.{process.locations[node.location].name}"
        raise TypeError(f"not an expression: {node!r}")

    def variable(self, node: ex.Read | ex.Bound) -> str:
        if isinstance(node, ex.Bound):
            return f"local{node.slot}"
        for v in self.network.variables:
            if v.kind.is_real == node.kind.is_real and v.slot <= node.slot < v.slot + v.size:
                return v.name
        return f"slot{node.slot}"

    def statement(self, node: ex.Statement) -> str:
        match node:
            case ex.Assign():
                return f"{self.expression(node.target)} = {self.expression(node.value)};"
            case ex.If():
                otherwise = f" else {{ {self.statements(node.otherwise)} }}" if node.otherwise else ""
                return f"if ({self.expression(node.condition)}) {{ {self.statements(node.then)} }}{otherwise}"
            case ex.While():
                return f"while ({self.expression(node.condition)}) {{ {self.statements(node.body)} }}"
            case ex.Return():
                return f"return {self.expression(node.value)};" if node.value is not None else "return;"
            case ex.Evaluate():
                return f"{self.expression(node.expression)};"
        raise TypeError(f"not a statement: {node!r}")

    def statements(self, nodes: tuple[ex.Statement, ...]) -> str:
        return " ".join(self.statement(n) for n in nodes)

    def location(self, location: Location) -> str:
        marks = " urgent" * location.urgent + " committed" * location.committed
        rates = "".join(
            f", {self.variable(ex.Read(r.slot, ex.Kind.CLOCK))}' == {self.expression(r.expression)}"
            for r in location.rates
        )
        rate = "" if location.exponential_rate is None else f", rate {self.expression(location.exponential_rate)}"
        return f"{location.name}{marks}: {self.expression(location.invariant)}{rates}{rate}"

    def edge(self, process: Process, edge: Edge) -> str:
        sync = ""
        if edge.channel is not None:
            sync = f" {self.network.channels[edge.channel].name}{'!' if edge.sends else '?'}"
        weight = "" if edge.weight is None else f" weight {self.expression(edge.weight)}"
        ends = " | ".join(
            f"{process.locations[b.target].name}"
            + ("" if b.weight is None else f" ({self.expression(b.weight)})")
            + (f" {{ {self.statements(b.updates)} }}" if b.updates else "")
            for b in edge.branches
        )
        source = process.locations[edge.source].name
        return f"{source} -> '{edge.action}'{sync}{weight} if {self.expression(edge.guard)} -> {ends}"


def network_text(network: Network) -> str:
    printer = Printer(network)
    lines = [f"{v.kind} {v.name} = {', '.join(map(str, v.initial))}" for v in network.variables]
    for c in network.channels:
        lines.append(f"{'urgent ' * c.urgent}{'broadcast ' * c.broadcast}chan {c.name}")
    lines += [f"function {f.name}: {printer.statements(f.body)}" for f in network.functions]
    for process in network.processes:
        lines.append(f"process {process.name}, starts in {process.locations[process.initial].name}")
        lines += [f"    {printer.location(here)}" for here in process.locations]
        lines += [f"    {number}: {printer.edge(process, e)}" for number, e in enumerate(process.edges)]
    return "\n".join(lines)
