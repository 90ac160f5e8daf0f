"""Machine code of a model: the same walks, bit by bit, as its bytecode."""

import numpy as np
import pytest

from bbfalsify.core.heuristic import Heuristic
from bbfalsify.examples.models.protocols import train_gate
from bbfalsify.kernel import compile_network
from bbfalsify.kernel.loop_turns import turns
from bbfalsify.kernel.native_background import AFTER_S, NativeInBackground
from bbfalsify.kernel.native_code import NativePlan
from bbfalsify.kernel.target_search import Target, TargetSearch
from bbfalsify.logic.reach_query import parse_query
from bbfalsify.modelling import NetworkBuilder

SEEDS = np.arange(12, dtype=np.uint64)
DISTRIBUTIONS = np.arange(12) % 11


def everything(limit: int):
    """Every kind of expression and statement; the value of `n` leaves its range where it exceeds the limit."""
    b = NetworkBuilder("everything")
    b.declare(
        f"""
        const int N = 4; typedef int[0,N-1] id_t; int a[N]; int[0,{limit}] n; bool flag; double d = 0.5; clock z;
        int last;
        int weight(int k) {{ int sums[N]; for (i : id_t) {{ sums[i] = k * i; }} return sums[k % N] - (k / 3); }}
        double half(double v) {{ return v / 2.0; }}
        int drop(int &v, int &w[N], int k) {{
            while (v > 0) {{ v -= k; w[k] += v; if (v % 3 == 1) return v; }}
            return -1;
        }}
        void mix(id_t me) {{
            int left = 3, more = 7 + me, kept[N];
            last = drop(more, kept, 2) + kept[2] - more;
            while (left > 0 && !(a[me] > 40)) {{ a[me] += weight(left) + (flag ? 1 : -1); left--; }}
            if (a[me] < -20 || (a[me] & 3) == 2) {{ a[me] = -a[me] % 7; flag = !flag; }} else {{ a[me] ^= 5; }}
            d = half(d) + ((flag imply a[me] > 0) ? 1.5 : 0.25);
            if (d > 2.0) {{ d = 0.0; }}
        }}
        bool fits(id_t me) {{ return forall (i : id_t) a[i] < 60 + me && (exists (j : id_t) a[j] <= a[me]); }}
        """
    )
    p = b.automaton("P", parameters="const id_t me", declarations="clock x, y;")
    p.location("A", invariant="x <= 5 + me", rates={"y": "(flag ? 2.0 : 1.0)"})
    p.location("B", invariant="x <= 3")
    p.edge("A", "B", guard="x >= 1 && fits(me)", update="x = 0, mix(me), n = n + (sum (i : id_t) a[i] > 10)")
    p.edge("B", "A", guard="a[me] + n > -100", update="x = d")
    p.edge("B", "B", guard="x >= 2 && n < a[(me + 1) % N]", update="n = 0, z = 1.0")
    b.instance("P")
    return b.build()


def walks(search):
    batch = search.walks(SEEDS, DISTRIBUTIONS, 300)
    walker = search._walker
    return repr(batch), walker.S[14:].tobytes(), walker.X.tobytes(), walker.R.tobytes(), walker.error()


@pytest.mark.parametrize(
    "network", [everything(10**6), everything(40), train_gate(3)], ids=["everything", "out of range", "train gate"]
)
@pytest.mark.parametrize("heuristic", [Heuristic.RET, Heuristic.SEM])
def test_walks_are_bit_identical(network, heuristic):
    target = Target(compile_network(network), parse_query("E<> false", network).alive)
    with_bytecode, native = TargetSearch(target, heuristic), TargetSearch(target, heuristic)
    plan = NativePlan.of(target.model)
    plan.compile()
    plan.install(native._walker)
    expected, found = walks(with_bytecode), walks(native)
    # the stack and the frame of the bytecode are scratch memory
    assert found[0] == expected[0]
    assert found[3:] == expected[3:]
    first = slice(14, 14 + network.integer_count + len(network.processes))
    assert (native._walker.S[first] == with_bytecode._walker.S[first]).all()
    clocks = slice(0, 6 + 3 * network.real_count)
    assert native._walker.X[clocks].tobytes() == with_bytecode._walker.X[clocks].tobytes()


def test_an_error_of_the_model_is_the_same_error():
    network = everything(40)
    target = Target(compile_network(network), parse_query("E<> false", network).alive)
    search = TargetSearch(target, Heuristic.RET)
    plan = NativePlan.of(target.model)
    plan.compile()
    plan.install(search._walker)
    batch = search.walks(SEEDS, DISTRIBUTIONS, 3000)
    assert batch.ended == "failed"
    assert "variable 'n' with range [0, 40]" in batch.error


def test_instances_of_a_template_share_their_code():
    small, large = (
        NativePlan.of(Target(compile_network(train_gate(n)), None).model) for n in (4, 6)
    )  # fmt: skip
    assert len(large.source) < 1.05 * len(small.source)
    assert small.file != large.file


def test_turns_of_loops_are_bounded_where_that_is_certain():
    network = everything(10)
    by_name = {f.name: f for f in network.functions}
    assert turns(by_name["weight"].body, network.functions) == 4
    assert turns(by_name["mix"].body, network.functions) == float("inf")
    assert turns(by_name["fits"].body, network.functions) == 4 * (1 + 4)


def test_a_search_that_lasts_compiles_beside_its_walks():
    network = train_gate(5)
    target = Target(compile_network(network), parse_query("E<> Gate.len > 4", network).alive)
    search = TargetSearch(target, Heuristic.RET)
    plan = NativePlan.of(target.model)
    for suffix in (".py", ".done", ".lock"):
        plan.file.with_suffix(suffix).unlink(missing_ok=True)
    native = NativeInBackground(search._walker)
    native.look(AFTER_S / 2)
    assert not plan.file.exists()
    while search._walker.code is None:
        native._looked = 0.0
        native.look(AFTER_S)
    assert plan.is_compiled
    other = TargetSearch(target, Heuristic.RET)
    again = NativeInBackground(other._walker)
    again.look(AFTER_S)
    assert other._walker.code is not None
