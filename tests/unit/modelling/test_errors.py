"""Every kind of mistake in a model: the message, the file and the exact line."""

from __future__ import annotations

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import NetworkBuilder, parse_network
from tests.unit.modelling.helpers import model, problems_of

LOCATION_LINE, EDGE_LINE = 9, 12  # in `model(…)` with one line of declarations


@pytest.mark.parametrize(
    ("declarations", "line", "message"),
    [
        ("int a;\nint a;", 5, "'a' is declared twice (first on line 4)."),
        ("int a = true;", 4, "the value of 'a' is of type int, found a bool. Write (… ? 1 : 0)."),
        ("int a = 1.5;", 4, "the value of 'a' is of type int, found a double. fint(…) truncates a double."),
        ("bool b = 1;", 4, "the value of 'b' is a bool, found an int."),
        ("int[0,3] a = 5;", 4, "the value of 'a' is 5, outside 0…3."),
        ("int[3,0] a;", 4, "the range int[3,0] is empty."),
        ("int n;\nint a[n];", 5, "the size of an array must be constant; this is only known when the model runs."),
        ("int a[0];", 4, "an array has between 1 and 1000000 elements, found 0."),
        ("int a[1.5];", 4, "the size of an array must be an int, found a double."),
        ("int a[2] = {1, 2, 3};", 4, "'a' has 2 elements, found 3 values."),
        ("int a[2] = 1;", 4, "the array 'a' needs a list of values in braces."),
        ("int a = {1};", 4, "'a' is not an array."),
        ("const int N;", 4, "the constant 'N' needs a value."),
        ("const clock c = 1;", 4, "the clock 'c' cannot be constant."),
        ("int n = random(3);", 4, "declaration: 'random' draws at random, which is only allowed in updates."),
        ("int n;\nint m = n;", 5,
         "the value of 'm' must be constant; values that are computed or drawn belong into the "
         "update of a first edge."),
        ("integer a;", 4, "unknown type 'integer'."),
        ("void v;", 4, "'v' cannot be of type void."),
        ("chan c = 1;", 4, "the channel 'c' has no value."),
        ("int f(int n) { return f(n - 1); }", 4, "function 'f' calls itself; recursion is not allowed."),
        ("int f() { int x = 1; }", 4, "function 'f' never returns a value."),
        ("void f() { return 1; }", 4, "a void function returns no value."),
        ("int f() { return; }", 4, "a value of type int must be returned."),
        ("int f() {\n  return true;\n}", 5, "what is returned is of type int, found a bool. Write (… ? 1 : 0)."),
        ("clock f() { return 1; }", 4,
         "a function cannot return clock; allowed: void, int, bool, double, structs of them."),
        ("void f(clock a[2]) { }", 4,
         "parameter 'a' cannot be of type clock[2]; allowed: int, bool, double, arrays and "
         "structs of them; a clock by reference, with '&'."),
        ("void f(clock c) { }", 4, "parameter 'c' cannot be of type clock; allowed: int, bool, double, arrays and "
         "structs of them; a clock by reference, with '&'."),
        ("void f(chan c) { }", 4, "function 'f' cannot take a channel."),
        ("void f() { clock c; }", 4, "the local variable 'c' cannot be of type clock; allowed: int, bool, double."),
        ("void f() {\n  for (i : int) { }\n}", 5, "'for' needs a bounded range such as (i : int[0,3]), found int."),
        ("void f() { int x[2] = {1}; }", 4, "'x' has 2 elements, found 1 values."),
        ("int n;\nvoid f() {\n  if (n) n = 1;\n}", 6,
         "function 'f': a condition (bool) is needed, found an int. Compare it, for example with '!= 0'."),
        ("int n = 99999999999999999999;", 4, "the number 99999999999999999999 does not fit into 64 bits."),
    ],
)  # fmt: skip
def test_declarations(declarations, line, message):
    assert problems_of(model(declarations)) == [(line, message)]


NAMES = (
    "clock x, y[2]; int[0,3] n; bool b; double d; const int K = 2; int a[2][3]; chan h[2]; urgent chan u; "
    "void set() { n = 1; } int get() { return n; } double draw() { return random(1); }"
)


@pytest.mark.parametrize(
    ("guard", "message"),
    [
        ("z > 1", "unknown name 'z' in the guard."),
        ("n", "guard: a condition (bool) is needed, found an int. Compare it, for example with '!= 0'."),
        ("x", "guard: a condition (bool) is needed, found a clock."),
        ("n + 1.5", "guard: a condition (bool) is needed, found a double."),
        ("b == 1", "'==' compares two numbers or two bools; found a bool and an int."),
        ("b < true", "'<' needs two numbers; found a bool and a bool."),
        ("n + b > 1", "'+' needs two numbers; found an int and a bool."),
        ("x % 2 == 0", "'%' needs two ints; found a clock and an int. For reals there is fmod(a, b)."),
        ("(d & 1) == 0", "'&' needs two ints; found a double and an int."),
        ("-b == 1", "'-' needs a number, found a bool."),
        ("~d == 1", "'~' needs an int, found a double."),
        ("!n", "guard: a condition (bool) is needed, found an int. Compare it, for example with '!= 0'."),
        ("n / 0 == 1", "division by zero."),
        ("(b ? 1 : true) == 1", "both sides of '?:' must be of one kind; found an int and a bool."),
        ("a[1] == 0", "'a[2][3]' needs 2 indices, found 1."),
        ("n[1] == 0", "'n' is not an array."),
        ("a[1][3] == 0", "index 3 is outside 'a', whose indices are 0…2."),
        ("a[d][0] == 0", "the index of 'a' must be an int, found a double."),
        ("h == 1", "guard: 'h' is a channel, not a value."),
        ("get > 1", "guard: 'get' is a function, not a value."),
        ("K(1) > 1", "'K' is a constant and cannot be called."),
        ("gett() > 1", "unknown function 'gett'."),
        ("get(1) > 1", "function 'get' takes 0 arguments, found 1."),
        ("sin(1, 2) > 1", "sin takes 1 argument, found 2."),
        ("sin(b) > 1", "sin needs numbers, found a bool."),
        ("random(3) > 1", "guard: 'random' draws at random, which is only allowed in updates."),
        ("draw() > 1", "guard: 'draw' draws at random, which is only allowed in updates."),
        ("x' == 1", "guard: a rate such as x' == 2 stands alone in an invariant, joined by && only."),
        ("A.L", "guard: '.L' is only allowed in queries and inputs."),
        ("forall (i : int) i > 0", "'forall' needs a bounded range such as (i : int[0,3]), found int."),
        ("x = 3", "guard: unexpected '=' at column 3 of 'x = 3'. '=' assigns; '==' compares."),
    ],
)
def test_guards(guard, message):
    text = model(NAMES, edge=f'action: go, guard: "{guard}"')
    assert problems_of(text) == [(EDGE_LINE, message)]


def test_functions_that_assign_are_refused_in_guards():
    declarations = "int n; int count() { n++; return n; }"
    text = model(declarations, edge='guard: "count() > 1"')
    assert problems_of(text) == [(EDGE_LINE, "guard: 'count' assigns variables, which is only allowed in updates.")]


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ("K = 3", "'K' is constant and cannot be assigned."),
        ("n = x",
         "what is assigned is of type int[0,3], found a clock. A clock is a real number: fint(…) truncates its "
         "value."),
        ("n = 1.5", "what is assigned is of type int[0,3], found a double. fint(…) truncates a double."),
        ("n = b", "what is assigned is of type int[0,3], found a bool. Write (… ? 1 : 0)."),
        ("b = 1", "what is assigned is a bool, found an int."),
        ("x = b", "a clock is set to a number, found a bool."),
        ("n = 7", "7 is outside the variable's range 0…3."),
        ("n == 3", "update: this has no effect; assign, or call a function. Did you mean '='?"),
        ("n + 1", "update: this has no effect; assign, or call a function."),
        ("h = 1", "'h' is a channel and cannot be assigned."),
        ("get() = 1", "only a variable or an element of an array can be assigned."),
        ("m = 1", "unknown name 'm' in the update."),
        ("a[0] = 1", "'a[2][3]' needs 2 indices, found 1."),
        ("n = set()", "function 'set' returns nothing, so it has no value."),
        ("b++", "'+' needs two numbers; found a bool and an int."),
    ],
)  # fmt: skip
def test_updates(update, message):
    assert problems_of(model(NAMES, edge=f'update: "{update}"')) == [(EDGE_LINE, message)]


@pytest.mark.parametrize(
    ("edge", "message"),
    [
        ('sync: "c!"', "unknown channel 'c'."),
        ('sync: "n!"', "'n' is a variable, not a channel."),
        ('sync: "h!"', "'h[2]' needs 1 index, found 0."),
        ('sync: "h[2]!"', "index 2 is outside 'h', whose indices are 0…1."),
        ('sync: "h[K]!"', "sync: index 2 is outside 'h', whose last element is 'h[1]'."),
        ('sync: "h[1]"', "sync: 'h[1]' is followed by ! (send) or ? (receive)."),
        ('sync: "u!", action: go', "an edge has either an action or a sync: the action of an output is its channel."),
        ('action: "a b"', "an action's name has neither spaces nor commas, found 'a b'."),
        ('select: "i : int"', "select: 'i' needs a range such as int[0,3], found int."),
        ('select: "i : int[0,1000000]"', "select: 'i' needs a range such as int[0,3], found int[0,1000000]."),
        ("weight: -1", "weight: a non-negative number is needed, found -1."),
        ('weight: "b"', "weight: a number is needed, found a bool."),
        ('cost: "random(1)"', "cost: 'random' draws at random, which is only allowed in updates."),
    ],
)
def test_edges(edge, message):
    assert problems_of(model(NAMES, edge=edge)) == [(EDGE_LINE, message)]


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ('invariant: "n\' == 1"', "only clocks have rates; 'n' is an int."),
        ('invariant: "y\' == 1"', "'y[2]' needs 1 index, found 0."),
        ('invariant: "y[n]\' == 1"', "the index of 'y[n]' must be constant where a rate is given."),
        ('invariant: "x\' == 1 || x < 2"',
         "invariant: a rate such as x' == 2 stands alone in an invariant, joined by && only."),
        ('invariant: "x\' == 1 && x\' == 2"', "location 'L' gives the rate of 'x' twice."),
        ('invariant: "x\' == y[0]\'"', "invariant: a rate has the form x' == expression."),
        ('invariant: "x\' <= 2"', "invariant: a rate such as x' == 2 stands alone in an invariant, joined by && only."),
        ('rates: {d: "1"}', "only clocks have rates; 'd' is a double."),
        ('rates: {x: "true"}', "rate: a number is needed, found a bool."),
        ('rates: {x: "random(1)"}', "rate: 'random' draws at random, which is only allowed in updates."),
        ('invariant: "x + 1"', "invariant: a condition (bool) is needed, found a double."),
        ("exponential_rate: 0", "exponential rate: a positive number is needed, found 0."),
        ("urgent: true, committed: true", "location 'L' is urgent and committed; committed alone says it all."),
    ],
)  # fmt: skip
def test_locations(location, message):
    assert problems_of(model(NAMES, location=location)) == [(LOCATION_LINE, message)]


def test_two_automata_cannot_give_the_rate_of_one_clock():
    text = """\
format_version: 1
name: m
declarations: clock x;
automata:
  A:
    initial: L
    locations:
      L: {rates: {x: 2}}
  B:
    initial: L
    locations:
      L:
        invariant: >
          x' == 0
"""
    assert problems_of(text) == [(14, "the rate of clock 'x' is given by two processes, 'A' and 'B'.")]


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("[Q]", "unknown automaton 'Q'."),
        ("[P]",
         "automaton 'P' needs a value for its parameter 'k': write 'P(…)' in the system, or give the parameter a "
         "range such as int[0,3]."),
        ("[P(1)]", "automaton 'P' takes 2 arguments, found 1."),
        ('["P(1, n)"]', "the argument 'k' of 'P' must be constant; values that are computed or drawn belong into the "
         "update of a first edge."),
        ('["P(9, 1)"]', "the argument 'i' of 'P' is 9, outside 0…3."),
        ('["P(1, 1)", "P(1, 1)"]', "there are two processes 'P(1,1)'; name them: 'A = P', 'B = …'."),
        ("[]", "'system' is empty; name at least one automaton, or leave the key out."),
        ('["P(1,"]', "system: the text 'P(1,' ends too early."),
    ],
)  # fmt: skip
def test_systems(system, message):
    text = f"""\
format_version: 1
name: m
declarations: int n;
automata:
  P:
    parameters: const int[0,3] i, const int k
    initial: L
    locations: {{L: }}
system: {system}
"""
    found = problems_of(text)
    assert found == [(9, message)]


def test_lines_inside_block_texts():
    text = """\
format_version: 1
name: m
declarations: |
  // a comment
  int n;

  void f() {
      n = 1;
      m = 2;
  }
automata:
  A:
    declarations: |
      clock x;
      int k = wrong;
    initial: L
    locations:
      L:
        invariant: |
          x <= 5 &&
          n <= q
    edges:
      - from: L
        to: L
        guard: |
          x >= 3 &&
          zz
        update: |
          n = 1,
          yy = 2
"""
    assert problems_of(text) == [
        (9, "unknown name 'm' in the function 'f'."),
        (15, "unknown name 'wrong' in the declaration."),
        (21, "unknown name 'q' in the invariant."),
        (27, "unknown name 'zz' in the guard."),
        (30, "unknown name 'yy' in the update."),
    ]


def test_unknown_names_come_with_the_closest_one():
    with pytest.raises(UserError) as caught:
        parse_network(model("int counter; clock x;", edge='guard: "countr > 1"'), file="m.yaml")
    (problem,) = caught.value.problems
    assert problem.closest == "counter"
    assert problem.allowed == ("counter", "x")


def test_a_broken_declaration_does_not_cause_further_complaints():
    declarations = "int n = ;\nint m = true;\nint f() { return 3 }"
    text = model(declarations, edge='guard: "n > 0 && m > 0 && f() > 0", update: "n = 1, m = 2"')
    assert [line for line, _ in problems_of(text)] == [4, 5, 6]


def test_both_sides_of_an_operator_are_checked():
    assert len(problems_of(model("int n;", edge='guard: "p > q && r"'))) == 3


def test_a_template_is_reported_once_for_all_its_instances():
    b = NetworkBuilder("t")
    p = b.automaton("P", parameters="const int[0,9] id")
    p.location("L", invariant="zz < 1")
    with pytest.raises(UserError) as caught:
        b.build()
    assert len(caught.value.problems) == 1


def test_builder_problems_point_at_the_call():
    b = NetworkBuilder("t").declare("int n = true;")
    p = b.automaton("P", parameters="const int i", declarations="clok x;")
    p.location("L", invariant="zz < 1")
    p.location("L")
    p.edge("L", "M", guard="n")
    p.edge("L")
    b.instance("P", 1).instance("Q")
    with pytest.raises(UserError) as caught:
        b.build()
    assert sorted(str(problem).split(" Allowed")[0] for problem in caught.value.problems) == sorted(
        [
            "builder call declare(…): the value of 'n' is of type int, found a bool. Write (… ? 1 : 0).",
            "builder call automaton('P'): unknown type 'clok'.",
            "builder call location('L') of 'P': unknown name 'zz' in the invariant.",
            "builder call location('L') of 'P': there is already a location 'L'.",
            "builder call edge('L', 'M') of 'P': unknown location 'M' of automaton 'P'.",
            "builder call edge('L') of 'P': an edge needs either a target or branches.",
            "builder call instance('Q'): unknown automaton 'Q'.",
        ]
    )


def test_empty_builders():
    with pytest.raises(UserError, match="builder call build.*the network has no automaton"):
        NetworkBuilder("t").build()
    b = NetworkBuilder("t")
    b.automaton("P")
    with pytest.raises(UserError, match="automaton 'P' has no location"):
        b.build()
