"""The risk that a user meets any violation, not only the listed one: profile × learned machine × requirement.

Each action of the profile is a symbol of the machine, so the three together are one network: the profile, with one
more integer that follows the product of machine and watch.  Where time passes only by exponential delays that network
is a Markov chain and the risk is exact; else random runs estimate it.  Either is true if the learned machine is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.chains.answers import Solver
from bbfalsify.chains.chain import explore_chain
from bbfalsify.chains.refusals import not_markov
from bbfalsify.chains.uniformisation import Values
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.path_sampler import PathSampler
from bbfalsify.engines.estimation.plain import Plain
from bbfalsify.engines.estimation.questions import Path
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.logic.ltl import Property
from bbfalsify.modelling import Network
from bbfalsify.modelling.network.expressions import Assign, Binary, Conditional, Constant, Expression, Kind, Read
from bbfalsify.modelling.network.network import Variable
from bbfalsify.results.check_result import UseRisk

EXACT = "Markov chain of profile, learned machine and requirement"
MOST_PRODUCT_STATES = 20_000


@dataclass(frozen=True)
class Product:
    """Machine and watch together; state 0 is the initial one."""

    steps: tuple[dict[str, int], ...]
    bad: tuple[bool, ...]
    restart: tuple[int, ...]
    """Where a bad state goes on when the watch starts anew."""


def product_of(machine: MealyMachine, requirement: Property) -> Product:
    """Explore the product as far as words go; bad states go on, with the watch anew."""
    watch = requirement.watch(machine.inputs)
    numbers: dict[tuple[int, int], int] = {}
    order: list[tuple[int, int]] = []

    def number(pair: tuple[int, int]) -> int:
        if pair not in numbers:
            numbers[pair] = len(order)
            order.append(pair)
        return numbers[pair]

    number((0, watch.initial))
    steps: list[dict[str, int]] = []
    place = 0
    while place < len(order):
        state, seen = order[place]
        number((state, watch.initial))
        here: dict[str, int] = {}
        for symbol in machine.inputs:
            target, answer = machine.step(state, symbol)
            here[symbol] = number((target, watch.step(seen, watch.letters.number(symbol, answer))))
        steps.append(here)
        place += 1
        if place > MOST_PRODUCT_STATES:
            raise ValueError(f"machine and requirement together have more than {MOST_PRODUCT_STATES} states")
    bad = tuple(watch.bad[seen] for _, seen in order)
    return Product(tuple(steps), bad, tuple(numbers[state, watch.initial] for state, _ in order))


def _lookup(slot: int, values: list[int]) -> Expression:
    """values[state] as a tree of comparisons, which needs no array in the state."""
    if len(set(values)) == 1:
        return Constant(values[0], Kind.INT)

    def tree(low: int, high: int) -> Expression:
        if len(set(values[low:high])) == 1:
            return Constant(values[low], Kind.INT)
        middle = (low + high) // 2
        below = Binary("<", Read(slot, Kind.INT), Constant(middle, Kind.INT), Kind.BOOL)
        return Conditional(below, tree(low, middle), tree(middle, high), Kind.INT)

    return tree(0, len(values))


def used_network(network: Network, product: Product, *, again: bool) -> tuple[Network, int]:
    """The profile with the product as one more integer: (network, its slot).

    `again`: the watch starts anew after a violation, which costs 1; else a violation stays.
    """
    slot, last = network.integer_count, len(product.steps) - 1
    follow: dict[str, tuple[Assign, Expression]] = {}
    for action in network.actions:
        targets = []
        for state, steps in enumerate(product.steps):
            target = steps.get(action, state)
            targets.append(state if product.bad[state] and not again else target)
        hits = [int(product.bad[t]) for t in targets]
        ends = [product.restart[t] if again and product.bad[t] else t for t in targets]
        follow[action] = Assign(Read(slot, Kind.INT), _lookup(slot, ends), 0, last), _lookup(slot, hits)
    processes = []
    for process in network.processes:
        edges = []
        for edge in process.edges:
            if edge.is_output:
                step, cost = follow[edge.action]
                branches = tuple(replace(b, updates=(*b.updates, step)) for b in edge.branches)
                edge = replace(edge, branches=branches, cost=cost if again else None)
            else:
                edge = replace(edge, cost=None)
            edges.append(edge)
        locations = tuple(replace(location, cost_rate=None) for location in process.locations)
        processes.append(replace(process, edges=tuple(edges), locations=locations))
    followed = Variable("product of machine and requirement", Kind.INT, slot, low=0, high=last, initial=(0,))
    variables = (*network.variables, followed)
    return replace(network, processes=tuple(processes), variables=variables, integer_count=slot + 1), slot


def use_risk(
    network: Network, machine: MealyMachine, requirement: Property, within: float | None, seeds: SeedTree
) -> UseRisk | None:
    """The risk of a requirement, None where no word can show that it is violated."""
    product = product_of(machine, requirement)
    if not any(product.bad):
        return None
    used, slot = used_network(network, product, again=False)
    met = Binary("!=", _lookup(slot, [int(bad) for bad in product.bad]), Constant(0, Kind.INT), Kind.BOOL)
    if not_markov(network):
        return None if within is None else UseRisk(within=within, probability=_simulated(used, met, within, seeds))
    chain = explore_chain(used)
    solver = Solver(chain)
    goal, everywhere = chain.values(met) != 0, np.ones(chain.states, bool)
    ever = _exact(solver.until(everywhere, goal, 0.0, np.inf))
    timed = not chain.discrete
    mean = _exact(solver.expected_time(goal)) if timed else None
    again = explore_chain(used_network(network, product, again=True)[0])
    rate = _exact(Solver(again).long_run_cost()) if timed else None
    soon = _exact(solver.until(everywhere, goal, 0.0, within)) if within is not None and timed else None
    return UseRisk(within=within if timed else None, probability=soon, ever=ever, mean_time=mean, rate=rate)


def _exact(found: Values) -> Estimate:
    value, error = float(found.values[0]), float(found.errors[0])
    return Estimate(value, value - error, value + error, 1.0, EXACT, 0)


def _simulated(network: Network, goal: Expression, within: float, seeds: SeedTree) -> Estimate:
    settings = EstimateSettings(method="sequence", runs=200_000)
    sampler = PathSampler(network, Path(goal, None, within), settings.steps)
    return Plain(sampler, settings, seeds, lambda: True).estimate(None, None)[0]
