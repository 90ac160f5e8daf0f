"""Active automata learning with AALpy's L*, KV and L#.

A learner asks for the outputs of a word, which the `Box` answers, and whether a hypothesis is right, which a *teacher*
answers: a function from a hypothesis to a word on which the box disagrees with it, or None to end.  `strategy.py` has
such a teacher, which uses model checking and conformance testing.

    machine = learn("lsharp", box, alphabet, teacher)

L# walks its tree in compiled code (`lsharp.py`).
AALpy's own caching, printing and counting is switched off, because the observation tree does that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from bbfalsify.automata.mealy import MealyMachine, Word
from bbfalsify.core.errors import InvariantViolated, UserError, unknown_name
from bbfalsify.engines.checking.box import Box
from bbfalsify.engines.checking.settings import LEARNERS

if TYPE_CHECKING:
    from aalpy.automata import MealyMachine as AalpyMachine
    from aalpy.base import SUL, Oracle

Teacher = Callable[[MealyMachine], Word | None]


def learn(
    learner: str, box: Box, alphabet: Sequence[str], teacher: Teacher, *, older: MealyMachine | None = None
) -> MealyMachine:
    """Learn until the teacher returns None.  `older` is a model of an earlier version, to start from (L#)."""
    if learner not in LEARNERS[:3]:
        raise UserError(unknown_name("learner", learner, LEARNERS))
    if older is not None and learner != "lsharp":
        raise UserError(f"only lsharp can start from an older model, not {learner}.")
    from aalpy.learning_algs import run_adaptive_Lsharp, run_KV, run_Lstar
    from aalpy.learning_algs.deterministic.ObservationTree import MealyNode

    from bbfalsify.engines.checking.lsharp import run_lsharp

    # Nodes are numbered over all learning of a process, and sets of them are walked in the order of these numbers.
    MealyNode._id_counter = 0
    symbols, sul, oracle = learner_parts(box, alphabet, teacher)
    plain = {"cache_and_non_det_check": False, "print_level": 0}
    if older is not None:
        found = run_adaptive_Lsharp(symbols, sul, [to_aalpy(older)], oracle, "mealy", **plain)
    elif learner == "lsharp":
        # Adaptive queries would have to be executed symbol by symbol; separating sequences are whole words.
        found = run_lsharp(symbols, sul, oracle)
    elif learner == "kv":
        found = run_KV(symbols, sul, oracle, "mealy", **plain)
    else:
        found = run_Lstar(symbols, sul, oracle, "mealy", **plain)
    return from_aalpy(found, symbols)


class AnswersWords(Protocol):
    def outputs(self, word: Word) -> Word: ...


def learner_parts(box: AnswersWords, alphabet: Sequence[str], teacher: Teacher) -> tuple[list[str], SUL, Oracle]:
    """Alphabet, system and oracle as AALpy's learners take them."""
    symbols, sul = list(alphabet), _sul(box)
    return symbols, sul, _oracle(symbols, sul, teacher)


def _sul(box: AnswersWords) -> SUL:
    from aalpy.base import SUL

    class BoxAsSul(SUL):
        def query(self, word: Sequence[str]) -> list[str]:
            return list(box.outputs(tuple(word)))

        def pre(self) -> None:
            raise InvariantViolated("a learner wants to step through the box; it has to ask for whole words")

        step = post = pre

    return BoxAsSul()


def _oracle(symbols: list[str], sul: SUL, teacher: Teacher) -> Oracle:
    from aalpy.base import Oracle

    class Teaching(Oracle):
        def find_cex(self, hypothesis: AalpyMachine) -> Word | None:
            return teacher(from_aalpy(hypothesis, symbols))

    return Teaching(symbols, sul)


def from_aalpy(machine: AalpyMachine, alphabet: Sequence[str], start: Any = None) -> MealyMachine:
    """Convert a machine; states are numbered breadth first, so that equal learning gives equal machines.

    Numbering begins at the initial state, or at the state `start`.
    """
    first = machine.initial_state if start is None else start
    states, names = [first], {id(first): "s0"}
    transitions = {}
    for state in states:  # grows while it is walked
        for symbol in alphabet:
            target = state.transitions[symbol]
            if id(target) not in names:
                names[id(target)] = f"s{len(states)}"
                states.append(target)
            transitions[names[id(state)], symbol] = (names[id(target)], state.output_fun[symbol])
    return MealyMachine.from_transitions(transitions, "s0", inputs=alphabet, name="learned")


def to_aalpy(machine: MealyMachine) -> AalpyMachine:
    from aalpy.automata import MealyMachine as AalpyMachine
    from aalpy.automata import MealyState

    states = [MealyState(name) for name in machine.states]
    for s, state in enumerate(states):
        for i, symbol in enumerate(machine.inputs):
            state.transitions[symbol] = states[machine.successor[s, i]]
            state.output_fun[symbol] = machine.outputs[machine.answer[s, i]]
    found = AalpyMachine(states[machine.initial], states)
    found.compute_prefixes()
    return found
