"""Words of STL, and explanations of syntax errors: what was found, what belongs there, what other tools' words mean."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

WORDS = {
    "not": "PREFIX", "next": "PREFIX", "prev": "PREFIX", "s_next": "PREFIX", "s_prev": "PREFIX",
    "rise": "EDGE", "fall": "EDGE",
    "always": "WINDOW", "eventually": "WINDOW", "historically": "WINDOW", "once": "WINDOW",
    "until": "UNTIL", "unless": "UNLESS", "since": "SINCE",
    "and": "AND", "or": "OR", "implies": "IMPLIES", "iff": "IFF", "xor": "XOR",
    "abs": "FUNCTION", "sqrt": "FUNCTION", "exp": "FUNCTION", "pow": "FUNCTION",
    "true": "TRUTH", "TRUE": "TRUTH", "false": "TRUTH", "FALSE": "TRUTH",
}  # fmt: skip
SHORT = {
    "G": "always", "F": "eventually", "H": "historically", "O": "once", "U": "until", "W": "unless", "S": "since",
    "X": "next", "Y": "prev", "!": "not", "&": "and", "&&": "and", "|": "or", "||": "or", "->": "implies",
    "<->": "iff", "!==": "!=",
}  # fmt: skip
_TIMED = ("WINDOW", "UNTIL", "UNLESS", "SINCE")
_ENDS_OPERAND = ("NUMBER", "SIGNAL", "TRUTH", "RPAR")
_BEGINS_OPERAND = ("NUMBER", "SIGNAL", "TRUTH", "LPAR", "FUNCTION", "PREFIX", "EDGE", "WINDOW")
_CHARACTERS = {
    "=>": "write '->'", "=<": "write '<='", "=": "'==' compares", ";": "give one formula, without ';'",
    "^": "write pow(x, 2)", "%": "there is no remainder", "/\\": "write 'and'", "\\/": "write 'or'", "~": "write 'not'",
    "¬": "write 'not'", "∧": "write 'and'", "∨": "write 'or'", "→": "write '->'", "≤": "write '<='", "≥": "write '>='",
    "'": "close the quote", '"': "close the quote",
    "□": "write 'always'", "◇": "write 'eventually'", "◊": "write 'eventually'",
}  # fmt: skip
"""What to write instead of characters that have no meaning; longer ones first."""
_FOREIGN = {
    "alw": "always", "alw_": "always", "always_": "always", "globally": "always", "G_": "always", "[]": "always",
    "[]_": "always", "ev": "eventually", "ev_": "eventually", "eventually_": "eventually", "finally": "eventually",
    "F_": "eventually", "<>": "eventually", "<>_": "eventually", "until_": "until", "U_": "until",
    "hist": "historically", "hist_": "historically", "historically_": "historically", "H_": "historically",
    "once_": "once", "O_": "once", "S_": "since", "since_": "since", "<=>": "iff",
}  # fmt: skip
"""Operators of Breach, S-TaLiRo and others, and ours."""
_FOREIGN_OPERATOR = re.compile(r"(\[\]_?|<>_?|<=>|[A-Za-z]+_?(?![\w.]))\s*(\[[^\[\]\n]*\])?")


def explain_character(text: str, position: int) -> str:
    """Explain a character that begins no word of the language."""
    # The lexer reads the slash of S-TaLiRo's `/\\` as a division.
    start = position - 1 if text[max(0, position - 1) : position + 1] == "/\\" else position
    hint = next((meant for found, meant in _CHARACTERS.items() if text.startswith(found, start)), None)
    return f"'{text[position]}' has no meaning here" + (f"; {hint}" if hint else "")


def explain(
    text: str, tokens: Sequence[Any], number: int, signals: Sequence[str] | None
) -> tuple[str, Any, dict[str, Any]]:
    """Explain why the parser refused a token: message, the token to blame, and facts of the problem."""
    token, before = tokens[number], tokens[number - 1] if number else None
    last = "" if before is None else before.type
    for blamed, follower in ((token, None), (before, token)):
        if blamed is not None and (message := _foreign(text, blamed, follower, signals)):
            return message, blamed, {}
    opening = _enclosing(tokens[:number])
    if opening is not None and opening.type == "LSQB":
        if last in ("NUMBER", "UNIT", "INFINITY"):
            inside = {each.type for each in tokens[:number] if each.start_pos > opening.start_pos}
            if inside & {"COLON", "COMMA"}:
                return f"the time interval is not closed by ']' but by '{token}'", token, {}
            return f"a time interval is written [from:to], but here is '{token}'", token, {}
        return f"a bound of a time interval is a number or inf, not '{token}'", token, {}
    if token.type == "LSQB" and last in (*WORDS.values(), "COMPARISON") and last not in ("FUNCTION", "TRUTH"):
        return f"'{SHORT.get(str(before), before)}' takes no time interval", token, {"allowed": _timed_words()}
    if token.type == "LSQB" and last == "SIGNAL" and re.match(r"\[\s*t\s*\]", text[token.start_pos :]):
        return f"'{before}[t]' is written '{before}' here", before, {}
    if token.type == "LSQB" and last == "SIGNAL" and before not in (signals or ()):
        return f"unknown operator '{before}'", before, _close(str(before), _timed_words())
    if last == "FUNCTION":
        return f"the function '{before}' needs its argument in parentheses", before, {}
    if last == "SIGNAL" and token.type == "COLON" and number == 1:
        instead = "LTL is about symbols, for 'bbfalsify check'; here is STL" if before == "ltl" else "give it alone"
        return f"a formula does not begin with '{before}:'; {instead}", before, {}
    if last == "SIGNAL" and token.type == "LPAR":
        return _not_a_function(before, signals)
    if token.type == "$END" and opening is not None:
        return "this '(' is never closed", opening, {}
    if last in ("LPAR", "COMMA") and token.type in ("RPAR", "COMMA"):
        return f"nothing stands before '{token}'", token, {}
    if last in _ENDS_OPERAND and token.type in _BEGINS_OPERAND:
        return f"an operator is missing before '{token}'", token, {}
    if last in ("PLUS", "MINUS", "FACTOR"):
        return f"here should be a number, a signal or '(', not '{token}'", token, {}
    if token.type == "$END":
        return "the formula ends too early", token, {}
    return f"unexpected '{token}'", token, {}


def _enclosing(tokens: Sequence[Any]) -> Any:
    """Return the innermost bracket that is open after the tokens."""
    opened: list[Any] = []
    for token in tokens:
        if token.type in ("LPAR", "LSQB"):
            opened.append(token)
        elif token.type in ("RPAR", "RSQB") and opened:
            opened.pop()
    return opened[-1] if opened else None


def _foreign(text: str, token: Any, follower: Any, signals: Sequence[str] | None) -> str | None:
    """Translate an operator of another tool; a word is one only if it stands where an operator does."""
    match = _FOREIGN_OPERATOR.match(text, token.start_pos)
    ours = None if match is None or token in (signals or ()) else _FOREIGN.get(match[1])
    if match is None or ours is None:
        return None
    infix = ours in ("until", "since", "iff")
    if match[1][0].isalpha() and follower is None and not infix:
        return None
    if match[1][0].isalpha() and follower is not None and follower.type not in (*_BEGINS_OPERAND, "LSQB"):
        return None
    interval = "".join((match[2] or "").split()).replace(",", ":")
    return f"'{match[0].strip()}' is written '{ours}{interval}' here"


def _not_a_function(token: Any, signals: Sequence[str] | None) -> tuple[str, Any, dict[str, Any]]:
    if signals is not None and token in signals:
        word = SHORT.get(token, str(token))
        hint = f"; here it is a signal, the operator is written '{word}'" if word in WORDS else ""
        return f"the signal '{token}' is followed by '('{hint}", token, {}
    allowed = tuple(sorted(word for word, kind in WORDS.items() if kind == "FUNCTION"))
    return f"unknown function '{token}'", token, _close(token, allowed, [word for word in WORDS if word.islower()])


def _timed_words() -> tuple[str, ...]:
    return tuple(sorted(word for word, kind in WORDS.items() if kind in _TIMED))


def _close(word: str, allowed: tuple[str, ...], known: Sequence[str] = ()) -> dict[str, Any]:
    """Return the facts of a problem: what is allowed, and the closest of that or of all that is known."""
    close = difflib.get_close_matches(word, known or allowed, n=1, cutoff=0.6)
    return {"allowed": allowed, "closest": close[0] if close else None}
