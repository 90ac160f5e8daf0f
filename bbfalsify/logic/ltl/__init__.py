"""Requirements about words of (input, output) letters, for black box checking.

    ltl("G(in == request -> F out == grant)")        infinite words; patterns such as response(…) as well
    ltlf("F out == ready", ends="in == quit")         finite words
    monitor("door.yaml"), dfa(…)                      machines that watch
    hoa("spec.hoa")                                   Büchi automata

    read_property("ltl", "…")                         any of them, by the name of its form

Each is a `Property`: it knows the automaton of the words that violate it and the watch that recognises bad prefixes.

    find_violation(machine, property)                 a short `Lasso` of inputs, or None
    violates(property, prefix, loop, inputs=…)        of a word that was seen, letters being (input, output) pairs
    first_bad_prefix(property, word, outputs, inputs=…)   the length, or None; `inputs` is the alphabet
    vacuity(machine, property)                        why it holds only vacuously, or None
    property.watch(inputs)                            bad prefixes step by step: `step(state, letter)`, `bad[state]`

`in` is the input of a step and `out` the answer to it, so one letter is one step of the system.
"""

from bbfalsify.logic.ltl.automaton import Automaton
from bbfalsify.logic.ltl.hoa import hoa
from bbfalsify.logic.ltl.hoa_format import hoa_text
from bbfalsify.logic.ltl.monitors import dfa, monitor
from bbfalsify.logic.ltl.properties import Property, ltl, ltlf
from bbfalsify.logic.ltl.property_forms import FORMS, read_property
from bbfalsify.logic.ltl.sampled_stl import Sampling
from bbfalsify.logic.ltl.vacuity import vacuity
from bbfalsify.logic.ltl.violation_search import Lasso, find_violation, first_bad_prefix, search, violates

__all__ = [
    "FORMS",
    "Automaton",
    "Lasso",
    "Property",
    "Sampling",
    "dfa",
    "find_violation",
    "first_bad_prefix",
    "hoa",
    "hoa_text",
    "ltl",
    "ltlf",
    "monitor",
    "read_property",
    "search",
    "vacuity",
    "violates",
]
