"""Enter the words of a test method into the sketch, item by item.

An item is an access word followed by a middle part of so many inputs.  Items are numbered, and visited in an order that
spreads over states and middle parts, so that an error is not found last because its state has the last number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bbfalsify.automata.identification import Numbers
from bbfalsify.engines.checking.conformance.identifiers import LONGEST, fill_pool
from bbfalsify.engines.checking.conformance.sketch import FULL, apart, append, cost, step
from bbfalsify.jit import jit

STACK = 4096


class Identifiers(NamedTuple):
    """A set of words for each state, flattened."""

    first: np.ndarray
    """[state]: its first word; [state + 1]: the first that is not its own."""
    start: np.ndarray
    symbols: np.ndarray


def flattened(sets: list[list[Numbers]]) -> Identifiers:
    words = [word for chosen in sets for word in chosen]
    first = np.cumsum([0, *(len(chosen) for chosen in sets)]).astype(np.int64)
    start = np.cumsum([0, *(len(word) for word in words)]).astype(np.int64)
    return Identifiers(first, start, np.array([i for word in words for i in word], np.int32))


@jit(reference_counting=False, called_from_python=False)
def _reach(sketch, machine, access, item, middle, path):
    """Enter an item; return its last node, or FULL.  Its nodes behind the access word go into `path`."""
    inputs = sketch.child.shape[1]
    rest = item
    for position in range(middle - 1, -1, -1):
        path[position] = rest % inputs
        rest //= inputs
    node = access[rest]
    for position in range(middle):
        node = step(sketch, machine, node, path[position])
        if node == FULL:
            return FULL
        path[position] = node
    return node


@jit(reference_counting=False)
def enter_word(sketch, machine, word):
    """Enter a word from the root on; return its last node, or FULL."""
    return append(sketch, machine, 0, word, len(word))


@jit(reference_counting=False)
def enter_sets(sketch, machine, access, identifiers, middle, path, items):
    """W, Wp, HSI: enter the words of its state behind each item; return the number of items before it was FULL."""
    for done in range(len(items)):
        node = _reach(sketch, machine, access, items[done], middle, path)
        if node == FULL:
            return done
        state = sketch.state[node]
        for word in range(identifiers.first[state], identifiers.first[state + 1]):
            start, end = identifiers.start[word], identifiers.start[word + 1]
            if append(sketch, machine, node, identifiers.symbols[start:end], end - start) == FULL:
                return done
    return len(items)


class Choice(NamedTuple):
    """Work space of the H method."""

    opponents: np.ndarray
    """Nodes from which the item has to be separated: the access words, then its own prefixes."""
    open: np.ndarray
    """Those from which it is not separated yet, the first `n` entries."""
    stack: np.ndarray
    word: np.ndarray
    usual: np.ndarray
    """[state]: the word that separated the last item of this state from all access words, or -1."""


def empty_choice(access: np.ndarray, longest_middle: int, longest_separation: int) -> Choice:
    states = len(access)
    opponents = np.concatenate([access, np.zeros(longest_middle, np.int32)]).astype(np.int32)
    return Choice(
        opponents,
        np.zeros(len(opponents), np.int32),
        np.zeros((STACK, 2), np.int32),
        np.zeros(max(LONGEST, longest_separation), np.int32),
        np.full(states, -1, np.int32),
    )


@jit(reference_counting=False, called_from_python=False)
def _still_open(sketch, machine, choice, node, opponents):
    """Fill `choice.open`; return the number of its entries."""
    count, state = 0, sketch.state[node]
    for index in range(opponents):
        other = choice.opponents[index]
        if sketch.state[other] != state and not apart(sketch, machine, other, node, choice.stack):
            choice.open[count] = other
            count += 1
    return count


@jit(reference_counting=False, called_from_python=False)
def _best_word(sketch, machine, pools, choice, node, count, reuse):
    """Choose the word of the pool that settles the open opponents with the fewest symbols; -1 if none settles any.

    The price is its cost behind the item, its cost behind the opponents (shared with later items), and a further word
    of the same length for the opponents it leaves open, in proportion.
    """
    state = sketch.state[node]
    best, best_cost = -1, 0.0
    for candidate in range(pools.filled[state]):
        word = pools.word[state, candidate]
        settled, longest, elsewhere = 0, 0, 0
        for index in range(count):
            other = choice.open[index]
            after = pools.separates[state, candidate, sketch.state[other]]
            if after:
                settled += 1
                longest = max(longest, after)
                elsewhere += cost(sketch, other, word, after)
        if settled == 0:
            continue
        left = count - settled
        price = cost(sketch, node, word, longest) + elsewhere / reuse
        if left:
            price += (sketch.depth[node] + longest) * (1.0 + left / (settled + left))
        if best < 0 or price < best_cost:
            best, best_cost = candidate, price
    return best


@jit(reference_counting=False, called_from_python=False)
def _shortest_word(sketch, machine, pools, choice, node):
    """Write the shortest word that settles the first open opponent to `choice.word`; return its length."""
    s, t = sketch.state[node], sketch.state[choice.open[0]]
    length = pools.needed[s, t]
    for position in range(length):
        i = pools.first[s, t]
        choice.word[position] = i
        s, t = machine.successor[s, i], machine.successor[t, i]
    return length


@jit(reference_counting=False, called_from_python=False)
def _settle(sketch, machine, pools, beam, choice, node, opponents, reuse):
    """Enter words until the node is separated from all its opponents; return False if there is no room."""
    state = sketch.state[node]
    fresh = sketch.inner[node] == 0
    count = _still_open(sketch, machine, choice, node, opponents)
    if count and pools.filled[state] < 0:
        fill_pool(machine, pools, beam, state)
    first = True
    while count:
        usual = choice.usual[state]
        best = (
            usual if first and fresh and usual >= 0 else _best_word(sketch, machine, pools, choice, node, count, reuse)
        )
        if first and fresh:
            choice.usual[state] = best
        first = False
        if best < 0:
            length = _shortest_word(sketch, machine, pools, choice, node)
            if append(sketch, machine, node, choice.word, length) == FULL:
                return False
            if append(sketch, machine, choice.open[0], choice.word, length) == FULL:
                return False
        else:
            word = pools.word[state, best]
            longest = 0
            for index in range(count):
                other = choice.open[index]
                after = pools.separates[state, best, sketch.state[other]]
                longest = max(longest, after)
                if append(sketch, machine, other, word, after) == FULL:
                    return False
            if append(sketch, machine, node, word, longest) == FULL:
                return False
        count = _still_open(sketch, machine, choice, node, opponents)
    return True


@jit(reference_counting=False)
def enter_apart(sketch, machine, access, pools, beam, choice, middle, path, items):
    """H: separate each item from the access words, and from its own prefixes behind its access word."""
    states = len(access)
    reuse = 1.0 * sketch.child.shape[1] ** middle
    for done in range(len(items)):
        node = _reach(sketch, machine, access, items[done], middle, path)
        if node == FULL:
            return done
        for position in range(middle - 1):
            choice.opponents[states + position] = path[position]
        if not _settle(sketch, machine, pools, beam, choice, node, states + max(0, middle - 1), reuse):
            return done
    return len(items)
