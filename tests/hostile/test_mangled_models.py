"""Mangled model files: whatever is cut out, doubled or put in, the answer is a network or problems with lines.

Each example is one of our models with one to four words removed, replaced or inserted, by a fixed seed.
"""

import random
import re

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import load_model
from tests.unit.modelling.test_priorities import ABC
from tests.unit.modelling.test_structs_and_references import INSTANCES, POINTS
from tests.unit.modelling.uppaal.test_xml_reader import BRANCHES, FISCHER
from tests.unit.modelling.uppaal.test_xta_reader import CSP, OLD, TRAINS
from tests.unit.modelling.uppaal.uppaal_files import xml_model

RICH = (
    POINTS
    + """
typedef int[1,3] id_t; id_t list[4]; int len; const int T[2] = {3, 4};
int top(int a[2]) { int m = a[0]; for (k : int[0,1]) if (a[k] > m) m = a[k]; return m; }
const int MOST = top(T); broadcast chan go[id_t]; chan hand; chan priority hand < default;
void put(int &v, const id_t e) { v = e; list[len++] = e; q[i] = p; while (len > MOST) { len--; } }
"""
)
SEEDS = {
    "fischer.xml": FISCHER,
    "rich.xml": xml_model(declarations=RICH, local="clock x[2];", select="e : id_t", guard="x[0] >= 2 && p == q[0]",
                          sync="go[e]!", update="put(len, e), x[1] = p.w[0]",
                          invariant="forall (k : int[0,1]) x[k]' == k",
                          more=BRANCHES.replace("n = ", "len = ").replace(">N<", ">MOST<").replace("= n +", "= len +")),
    "trains.xta": TRAINS,
    "old.ta": OLD,
    "csp.xta": CSP,
    "abc.xta": ABC,
    "instances.yaml": INSTANCES,
}  # fmt: skip
WORDS = """&lt; ++ [ ] ( ) { } " ; , . int clock struct process system const typedef 1 0 - x a ! ? = ' : chan for IO < >
priority default forall scalar 99999999999 1e9 true void & && | # \\ é <a> </a> - --- |""".split()


def mangled(text: str, generator: random.Random) -> str:
    words = re.findall(r"\w+|\s+|.", text, re.DOTALL)
    for _ in range(generator.randint(1, 4)):
        at, what = generator.randrange(len(words)), generator.random()
        if what < 0.4:
            words[at] = ""
        elif what < 0.7:
            words[at] = generator.choice(WORDS)
        elif what < 0.85:
            words[at] = generator.choice(words)
        else:
            words.insert(at, f" {generator.choice(WORDS)} ")
    return "".join(words)


@pytest.mark.parametrize("name", SEEDS)
def test_the_model_itself_is_read(tmp_path, name):
    (tmp_path / name).write_text(SEEDS[name], encoding="utf-8")
    load_model(tmp_path / name)


@pytest.mark.parametrize("name", SEEDS)
@pytest.mark.parametrize("count", [60, pytest.param(3000, marks=pytest.mark.slow)])
def test_mangled_models_are_read_or_refused(tmp_path, name, count):
    generator = random.Random(f"mangled {name}")
    file = tmp_path / name
    refused = 0
    for _ in range(count):
        file.write_text(mangled(SEEDS[name], generator), encoding="utf-8")
        try:
            load_model(file)
        except UserError as error:
            refused += 1
            assert all(problem.file == str(file) and problem.line for problem in error.problems)
    assert refused > count / 4
