"""Read every form of UPPAAL's queries (`uppaal_query_forms.py`).

Conditions, expressions and limits stay texts: `parse_condition` and `parse_expression` of `bbfalsify.modelling` read
them for a network, so this module needs no model.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bbfalsify.core.bracketed_text import outside, split
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.logic.uppaal_query_forms import (
    Elsewhere,
    Expectation,
    Extremes,
    LeadsTo,
    Probability,
    ProbabilityComparison,
    ProbabilityTest,
    RunBound,
    Simulation,
    StateQuery,
    UppaalQuery,
)

FORMS = (
    "E<> φ", "A[] φ", "E[] φ", "A<> φ", "φ --> ψ", "sup: e", "inf: e", "bounds: e",
    "Pr[<=T](<> φ)", "E[<=T; N](max: e)", "simulate [<=T] {e}",
)  # fmt: skip


_ELSEWHERE = {
    "control": "asks for a strategy of a game (UPPAAL Tiga)",
    "control_t": "asks for a strategy of a game (UPPAAL Tiga)",
    "strategy": "names a strategy of a game (UPPAAL Stratego)",
    "saveStrategy": "saves a strategy of a game (UPPAAL Stratego)",
    "loadStrategy": "loads a strategy of a game (UPPAAL Stratego)",
    "minE": "asks for a strategy that is best on average (UPPAAL Stratego)",
    "maxE": "asks for a strategy that is best on average (UPPAAL Stratego)",
    "minPr": "asks for a strategy of the least probability (UPPAAL Stratego)",
    "maxPr": "asks for a strategy of the largest probability (UPPAAL Stratego)",
    "acontrol": "asks for a strategy of a game (UPPAAL Tiga)",
    "sat": "compares with a live sequence chart",
    "refinement": "compares two specifications (ECDAR)",
    "consistency": "is about specifications (ECDAR)",
    "specification": "is about specifications (ECDAR)",
    "implementation": "is about specifications (ECDAR)",
}
_QUANTIFIER = re.compile(r"(E\s*<>|A\s*\[\s*\]|E\s*\[\s*\]|A\s*<>)")
_GAME = re.compile(r"(\{.*\}|[EA]\s*(<>|\[\s*\]))\s*control(_t)?\s*[:*]")
"""`{observed} control: …` and `E<> control: …`."""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\\[ \t]*\r?\n", re.DOTALL)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def read_query(text: str, *, file: str | None = None, line: int | None = None) -> UppaalQuery:
    """Read a query of any form, or raise a UserError that says what was found and what is allowed."""
    query = " ".join(_COMMENT.sub(" ", text).split())
    try:
        return replace(_read(query), text=query)
    except _Unreadable as problem:
        raise UserError(Problem(f"query '{query}': {problem}", file, line, allowed=FORMS)) from None


def answered_elsewhere(text: str) -> str | None:
    """Say who answers a query that `reach` does not; None if it is for `reach`, or no query at all."""
    try:
        query = read_query(text)
    except UserError:
        return None
    if isinstance(query, Elsewhere):
        return f"'{query.word}' {query.reason}"
    return None if query.command == "reach" else f"'bbfalsify {query.command}' is the command for that"


class _Unreadable(Exception):
    pass


def _read(query: str) -> UppaalQuery:
    if _GAME.match(query):
        return Elsewhere("control", _ELSEWHERE["control"])
    start = re.match(r"([A-Za-z_]\w*)\s*([:({*]|\w+\s*=(?!=))?", query)
    word = start.group(1) if start else ""
    if start and start.group(2) and word in _ELSEWHERE:
        return Elsewhere(word, _ELSEWHERE[word])
    if re.search(r"\bunder\s+\w+\s*$", query):
        return Elsewhere("under", "asks about runs under a strategy of a game (UPPAAL Stratego)")
    if word == "Pr" and re.match(r"Pr\s*[\[(<]", query):
        return _probability_query(query)
    if re.match(r"E\s*\[\s*[^\]\s]", query):
        return _expectation(query)
    if re.match(r"simulate\s*[\[\d]", query):
        return _simulation(query)
    if re.match(r"(sup|inf|bounds)\s*[:{]", query):
        return _extremes(query, word)
    quantifier = _QUANTIFIER.match(query)
    if quantifier is not None:
        condition = query[quantifier.end() :].strip()
        if outside(condition, r"-->"):
            raise _Unreadable("'-->' stands between two conditions, without E<>, A[], E[] or A<> before it.")
        return StateQuery(quantifier.group().replace(" ", ""), _given(condition))
    arrow = outside(query, r"-->")
    if arrow is not None:
        return LeadsTo(_given(query[: arrow.start()]), _given(query[arrow.end() :]))
    if re.match(r"A\s*\[", query):
        return Elsewhere("A[ U ]", "asks for a strategy of a game (UPPAAL Tiga)")
    raise _Unreadable("it must start with E<> or A[], or have another of UPPAAL's forms.")


def _given(condition: str, what: str = "a condition") -> str:
    if not condition.strip():
        raise _Unreadable(f"{what} is missing.")
    return condition.strip()


def _extremes(query: str, word: str) -> Extremes:
    rest = query[len(word) :].strip()
    condition = None
    if rest.startswith("{"):
        condition, rest = _bracketed(rest)
    if not rest.startswith(":"):
        raise _Unreadable(f"':' and an expression are missing after {word}.")
    return Extremes(word, (condition or "").strip() or None, _listed(rest[1:]))


def _probability_query(query: str) -> UppaalQuery:
    probability, rest = _probability(query)
    if not rest:
        return probability
    comparison = re.match(r"(>=|<=|>|<|==)\s*", rest)
    if comparison is None:
        raise _Unreadable(f"unexpected '{rest}' after the probability.")
    operator, other = comparison.group(1), rest[comparison.end() :]
    if re.match(r"Pr\s*[\[(<]", other):
        right, after = _probability(other)
        if after:
            raise _Unreadable(f"unexpected '{after}' after the second probability.")
        return ProbabilityComparison(probability, operator, right)
    return ProbabilityTest(probability, operator, _given(other, "a probability"))


def _probability(text: str) -> tuple[Probability, str]:
    """Read `Pr[…](…)` at the beginning; return it and the text after it."""
    rest = text[2:].strip()
    bound = None
    if rest.startswith("["):
        inside, rest = _bracketed(rest)
        bound = _bound(inside) if inside.strip() else None
    if not rest.startswith("("):
        raise _Unreadable("'(' is missing after Pr[…]: Pr[<=100](<> φ).")
    formula, after = _bracketed(rest)
    formula, whole = formula.strip(), text[: len(text) - len(after)].strip()
    path = re.match(r"(<>|\[\s*\])(?!\s*\[)", formula)
    if path is not None:
        sign = path.group().replace(" ", "")
        return Probability(bound, sign, _given(formula[path.end() :]), text=whole), after
    until = outside(formula, r"\bU\b(?!\s*\[)")
    if until is not None:
        before, condition = _given(formula[: until.start()]), _given(formula[until.end() :])
        return Probability(bound, "U", condition, before, text=whole), after
    if bound is None and re.search(r"(<>|\[\s*\]|\b[UX])\s*[\[(]?", formula):
        return Probability(None, "mitl", _given(formula), text=whole), after
    raise _Unreadable("<> or [] is missing: Pr[<=100](<> φ).")


def _expectation(query: str) -> UppaalQuery:
    inside, rest = _bracketed(query[1:].strip())
    if "<=" not in inside:
        return Elsewhere("E[ U ]", "is about a whole run until a state; no command answers it")
    if not rest.startswith("("):
        raise _Unreadable("(max: e) or (min: e) is missing: E[<=100; 50](max: e).")
    body, after = _bracketed(rest)
    extreme = re.match(r"\s*(min|max)\s*:", body)
    if extreme is None or after:
        raise _Unreadable("(max: e) or (min: e) is missing: E[<=100; 50](max: e).")
    return Expectation(_bound(inside), extreme.group(1), _given(body[extreme.end() :], "an expression"))


def _simulation(query: str) -> Simulation:
    rest = query[len("simulate") :].strip()
    number = re.match(r"\d+", rest)  # before UPPAAL 5: simulate 10 [<=100] {e}
    rest = rest[number.end() :].strip() if number else rest
    if not rest.startswith("["):
        raise _Unreadable("[<=T] is missing: simulate [<=100; 10] {e}.")
    inside, rest = _bracketed(rest)
    bound = _bound(inside)
    if number is not None:
        bound = replace(bound, runs=number.group())
    if not rest.startswith("{"):
        raise _Unreadable("{e} is missing: simulate [<=100; 10] {e}.")
    listed, rest = _bracketed(rest)
    expressions = _listed(listed)
    if not rest:
        return Simulation(bound, expressions)
    if not rest.startswith(":"):
        raise _Unreadable(f"unexpected '{rest}' after the expressions.")
    condition = rest[1:].strip()
    hits = re.match(r"(\d+)\s*:", condition)
    return Simulation(
        bound, expressions, _given(condition[hits.end() if hits else 0 :]), hits.group(1) if hits else None
    )


def _bound(text: str) -> RunBound:
    limited, *runs = split(text, ";")
    sign = outside(limited, r"<=")
    if sign is None or len(runs) > 1:
        raise _Unreadable(f"'[{text.strip()}]' is no bound of a run; allowed: [<=T], [#<=K], [x<=T], [<=T; N].")
    what = limited[: sign.start()].strip()
    limit = _given(limited[sign.end() :], "a limit after '<='")
    number = _given(runs[0], "a number of runs after ';'") if runs else None
    return RunBound(limit, {"": "time", "#": "steps"}.get(what, what), number)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(_given(part, "an expression") for part in split(text, ","))


def _bracketed(text: str) -> tuple[str, str]:
    """The text within the bracket that opens here, and the text after it."""
    pending = []
    for place, sign in enumerate(text):
        if sign in _CLOSING:
            pending.append(_CLOSING[sign])
        elif pending and sign == pending[-1]:
            pending.pop()
        if not pending:
            return text[1:place], text[place + 1 :].strip()
    raise _Unreadable(f"'{pending[-1]}' is missing.")
