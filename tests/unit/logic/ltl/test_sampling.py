"""STL over sampled symbols: cells keep the truth of comparisons, and the translation agrees with the monitor."""

import math
import pickle

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.verdict import Verdict
from bbfalsify.logic import parse_stl
from bbfalsify.logic.ltl import first_bad_prefix, violates
from bbfalsify.logic.ltl.sampled_stl import Sampling
from bbfalsify.logic.ltl.word_semantics import satisfies
from bbfalsify.logic.stl.stl_monitor import judge


def test_thresholds_and_symbols():
    sampling = Sampling([parse_stl("always(T <= 75)"), parse_stl("always((T < 20) implies (v == 3))")], 0.5)
    assert sampling.thresholds == {"T": (20.0, 75.0), "v": (3.0,)}
    assert sampling.answer({"T": 75.0, "v": 3.0}) == "20<=T<=75, v=3"
    assert sampling.answer({"T": 75.1, "v": 2.9}) == "T>75, v<3"
    assert sampling.answer({"T": 19.9, "v": 4}) == "T<20, v>3"
    assert len(sampling.outputs) == 9 and sampling.answer({"T": -1e9, "v": 3}) in sampling.outputs
    assert sampling.answer({"T": math.nan, "v": 3}) == "T is not a number"


@pytest.mark.parametrize("text", ["x < 2", "x <= 2", "x > 2", "x >= 2", "x == 2", "x != 2", "2 < x", "2 >= x"])
@pytest.mark.parametrize("other", ["x < 2", "x <= 2", "x == 2", "x < 1", "x > 2.5"])
def test_a_threshold_is_exactly_where_it_is(text, other):
    sampling = Sampling([parse_stl(text), parse_stl(other)], 1.0)
    for value in (1.0, 1.5, math.nextafter(2, 0), 2.0, math.nextafter(2, 3), 2.5, 3.0):
        now = judge(parse_stl(text), np.array([0.0]), {"x": np.array([value])}, time="discrete")
        said = violates(sampling.properties[0], [], [("i", sampling.answer({"x": value}))], inputs=["i"])
        assert said is (now.verdict is Verdict.VIOLATED), value


def test_expressions_are_quantities():
    sampling = Sampling([parse_stl("always(abs(x - y) <= 0.1 * x)"), parse_stl("always(sqrt(x) > 1)")], 1.0)
    assert set(sampling.thresholds) == {"abs(x - y) - (0.1 * x)", "sqrt(x)"}
    assert sampling.answer({"x": 4.0, "y": 4.1}) == "abs(x - y) - (0.1 * x)<=0, sqrt(x)>1"
    assert sampling.answer({"x": -1.0, "y": 0.0}) == "sqrt(x) is not a number"


def test_comparisons_of_inputs_are_about_the_input():
    inputs = {"slow": {"gas": 10.0}, "fast": {"gas": 90.0}}
    sampling = Sampling([parse_stl("always((gas > 50) implies (eventually[0:2](v > 3)))")], 1.0, inputs=inputs)
    assert sampling.thresholds == {"v": (3.0,)}
    assert str(sampling.properties[0].formula).startswith("G(in == fast -> ")
    word = [("fast", "v<=3"), ("slow", "v<=3"), ("slow", "v<=3")]
    assert violates(sampling.properties[0], word, [], inputs=inputs)
    assert not violates(sampling.properties[0], word[1:], [("slow", "v<=3")], inputs=inputs)


def random_stl(rng, depth):
    """Texts whose bounds are multiples of the period 0.5."""
    if depth == 0:
        return (
            f"{rng.choice(['x', 'y', 'x - y'])} {rng.choice(['<', '<=', '>', '>=', '==', '!='])} {rng.integers(-1, 2)}"
        )
    one, two = (f"({random_stl(rng, depth - 1)})" for _ in range(2))
    lower = 0.5 * rng.integers(0, 3)
    window = f"[{lower}:{lower + 0.5 * rng.integers(0, 4)}]"
    kind = rng.choice(["always", "eventually", "until", "and", "or", "implies", "iff", "xor", "not", "next"])
    if kind in ("always", "eventually"):
        return f"{kind}{window}{one}"
    if kind == "until":
        return f"{one} until{window} {two}"
    return f"{kind}{one}" if kind in ("not", "next") else f"{one} {kind} {two}"


def test_the_translation_agrees_with_the_monitor():
    """Bounded formulas on random samples: what the discrete monitor finds, the formula over symbols says, too."""
    rng = np.random.default_rng(7)
    verdicts = {Verdict.VIOLATED: 0, Verdict.SATISFIED: 0}
    times = 0.5 * np.arange(40)
    for _ in range(300):
        formula = parse_stl(random_stl(rng, 3), signals=["x", "y"])
        sampling = Sampling([formula], 0.5)
        signals = {name: rng.integers(-1, 2, len(times)).astype(float) for name in "xy"}
        judgement = judge(formula, times, signals, time="discrete", period=0.5)
        word = [("i", sampling.answer({n: v[k] for n, v in signals.items()})) for k in range(len(times))]
        satisfied = satisfies(sampling.properties[0].formula, word[:-1], word[-1:])
        assert satisfied is (judgement.verdict is Verdict.SATISFIED), str(formula)
        verdicts[judgement.verdict] += 1
    assert min(verdicts.values()) > 60


def test_held_samples_in_dense_time_are_judged_alike():
    rng = np.random.default_rng(9)
    times = 0.5 * np.arange(60)
    for _ in range(150):
        body = f"always[0:2](eventually[{0.5 * rng.integers(0, 3)}:3]({random_stl(rng, 0)}))"
        formula = parse_stl(f"({body}) and (({random_stl(rng, 0)}) until[0:2] ({random_stl(rng, 0)}))")
        sampling = Sampling([formula], 0.5)
        signals = {name: rng.integers(-1, 2, len(times)).astype(float) for name in "xy"}
        judgement = judge(formula, times, signals, time="dense")
        word = [("i", sampling.answer({n: v[k] for n, v in signals.items()})) for k in range(len(times))]
        satisfied = satisfies(sampling.properties[0].formula, word[:-1], word[-1:])
        assert satisfied is (judgement.verdict is Verdict.SATISFIED), str(formula)


def test_unbounded_operators():
    wanted = Sampling([parse_stl("always((x > 0) implies (eventually(y > 0)))")], 1.0).properties[0]
    assert str(wanted.formula).startswith("G(") and "F(" in str(wanted.formula)
    assert wanted.text == "always((x > 0) implies (eventually(y > 0)))"
    waiting = [("i", "x>0, y<=0")]
    assert violates(wanted, [], waiting, inputs=["i"])
    assert not violates(wanted, waiting, [("i", "x>0, y>0")], inputs=["i"])


def test_long_windows_stay_small():
    wanted = Sampling([parse_stl("always((x > 3) implies (eventually[0:200](x < 2)))")], 1.0).properties[0]
    assert len(wanted.bad_words(["i"])) < 210
    again = pickle.loads(pickle.dumps(wanted))
    word = [("i", "x>3"), *[("i", "2<=x<=3")] * 201]
    assert first_bad_prefix(again, *zip(*word, strict=True), inputs=["i"]) == 201
    assert not violates(again, word[:200], [("i", "x<2")], inputs=["i"])


@pytest.mark.parametrize(
    "text, words",
    [
        ("always[0:1.3](x > 0)", "1.3 is not a multiple of the sampling period 0.5"),
        ("always((x > 0) implies once[0:5](y > 0))", "uses once, which looks back"),
        ("(x > 0) since (y > 0)", "uses since, which looks back"),
        ("always(rise(x > 0) implies (y > 0))", "uses rise, which looks back"),
        ("always[0:300](x > 0)", "looks 600 samples ahead, more than 200"),
        (" and ".join(f"(x{k} > 0)" for k in range(12)), "4096 output symbols"),
    ],
)
def test_what_has_no_counterpart_is_refused(text, words):
    with pytest.raises(UserError) as caught:
        Sampling([parse_stl(text)], 0.5).properties[0]
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "text, real",
    [
        ("always(x <= 75)", True),
        ("always((x > 3) implies (always[0:2](x > 1)))", True),
        ("eventually[0:2](x > 1)", False),
        ("always((x > 3) implies (eventually[0:2](x > 1)))", False),
        ("not(always(x > 1))", False),
        ("not(eventually(x > 1))", True),
        ("(x > 1) until[0:3] (x > 2)", False),
        ("(always(x > 1)) iff (y > 1)", False),
    ],
)
def test_what_happens_between_samples_is_not_seen(text, real):
    """Violations that rest on something not seen are named: they need not be real in between."""
    assert bool(Sampling([parse_stl(text)], 1.0).unseen) is not real
