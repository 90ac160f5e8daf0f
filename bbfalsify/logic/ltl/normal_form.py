"""Formulas in positive normal form, each stored once and simplified while it is built.

A node is a number.  A condition about one letter is one node with the set of letter classes where it is true, so the
logic of atoms is exact: `in == a & in == b` is false.  The other nodes are `& | X U R`, and on finite words the weak
next `N`.  The simplifications are those of Etessami and Holzmann and of Somenzi and Bloem: syntactic implication, pure
eventualities, and merging of neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable

from bbfalsify.logic.ltl.letters import Letters
from bbfalsify.logic.ltl.ltl_formula import Atom, Binary, Formula, Truth, Unary

FALSE, TRUE = 0, 1


class NormalForms:
    def __init__(self, letters: Letters, *, finite: bool = False) -> None:
        self.letters = letters
        self.finite = finite
        self.nodes: list[tuple] = [("p", 0), ("p", letters.all)]
        self._numbers = {node: k for k, node in enumerate(self.nodes)}
        self._implied: dict[tuple[int, int], bool] = {}
        self._negated = {FALSE: TRUE, TRUE: FALSE}
        self._purity: dict[int, tuple[bool, bool]] = {}
        self._read: dict[tuple[int, bool], int] = {}

    def _node(self, *parts: object) -> int:
        number = self._numbers.get(parts)
        if number is None:
            number = self._numbers[parts] = len(self.nodes)
            self.nodes.append(parts)
        return number

    # --- building ----------------------------------------------------------------------------------------------------

    def read(self, formula: Formula, positive: bool = True) -> int:
        """Return the node of a formula, or of its negation; a shared part is read once."""
        key = id(formula), positive
        found = self._read.get(key)
        if found is None:
            found = self._read[key] = self._reading(formula, positive)
        return found

    def _reading(self, formula: Formula, positive: bool) -> int:
        match formula:
            case Truth() | Atom():
                bits = self.letters.satisfying(formula)
                return self.condition(bits if positive else self.letters.all & ~bits)
            case Unary("!", body):
                return self.read(body, not positive)
            case Unary("X" | "WX" as operator, body):
                return self.next(self.read(body, positive), weak=(operator == "WX") == positive)
            case Unary("F" | "G" as operator, body):
                inner = self.read(body, positive)
                return self.until(TRUE, inner) if (operator == "F") == positive else self.release(FALSE, inner)
            case Binary("<->", left, right):
                same, other = self.read(right, positive), self.read(right, not positive)
                return self.either([self.both([self.read(left), same]), self.both([self.read(left, False), other])])
            case Binary("->", left, right):
                join = self.either if positive else self.both
                return join([self.read(left, not positive), self.read(right, positive)])
            case Binary(operator, left, right):
                a, b = self.read(left, positive), self.read(right, positive)
                match operator:
                    case "&" | "|":
                        return self.both([a, b]) if (operator == "&") == positive else self.either([a, b])
                    case "U" | "R":
                        return self.until(a, b) if (operator == "U") == positive else self.release(a, b)
                    case "W":  # p W q = q R (p | q); not: (!q) U (!p & !q)
                        return self.release(b, self.either([a, b])) if positive else self.until(b, self.both([a, b]))
                    case "M":  # p M q = q U (p & q); not: (!q) R (!p | !q)
                        return self.until(b, self.both([a, b])) if positive else self.release(b, self.either([a, b]))
        raise TypeError(f"not a formula: {formula!r}")

    def condition(self, bits: int) -> int:
        return self._node("p", bits)

    def negation(self, a: int) -> int:
        found = self._negated.get(a)
        if found is None:
            kind, *parts = self.nodes[a]
            if kind == "p":
                found = self.condition(self.letters.all & ~parts[0])
            elif kind in "&|":
                found = (self.either if kind == "&" else self.both)([self.negation(p) for p in parts[0]])
            elif kind in "XN":
                found = self.next(self.negation(parts[0]), weak=kind == "X")
            else:
                dual = self.release if kind == "U" else self.until
                found = dual(self.negation(parts[0]), self.negation(parts[1]))
            self._negated[a] = found
            self._negated.setdefault(found, a)
        return found

    def next(self, a: int, *, weak: bool = False) -> int:
        if not self.finite:
            if a in (FALSE, TRUE) or all(self.pure(a)):
                return a
            return self._node("X", a)
        if a == (TRUE if weak else FALSE):
            return a
        return self._node("N" if weak else "X", a)

    def both(self, parts: Iterable[int]) -> int:
        return self._join("&", parts)

    def either(self, parts: Iterable[int]) -> int:
        return self._join("|", parts)

    def _join(self, kind: str, parts: Iterable[int]) -> int:
        """Build & or |; comments about & hold for | with everything dual."""
        conjoin = kind == "&"
        zero, one = (FALSE, TRUE) if conjoin else (TRUE, FALSE)
        flat: dict[int, None] = {}
        bits = self.letters.all if conjoin else 0
        pending = list(parts)
        while pending:
            part = pending.pop()
            node = self.nodes[part]
            if node[0] == kind:
                pending.extend(node[1])
            elif node[0] == "p":
                bits = bits & node[1] if conjoin else bits | node[1]
            else:
                flat[part] = None
        condition = self.condition(bits)
        if condition == zero:
            return zero
        members = self._merged(kind, list(flat))
        if condition != one:
            members.append(condition)
        kept: list[int] = []
        for position, a in enumerate(members):
            if a == zero or self.opposed(a, members[:position], conjoin):
                return zero
            if a == one:
                continue
            later = members[position + 1 :]
            if any(self._stronger(b, a, conjoin) for b in kept) or any(self._stronger(b, a, conjoin) for b in later):
                continue
            kept.append(a)
        if not kept:
            return one
        return kept[0] if len(kept) == 1 else self._node(kind, tuple(sorted(kept)))

    def _stronger(self, b: int, a: int, conjoin: bool) -> bool:
        return self.implies(b, a) if conjoin else self.implies(a, b)

    def opposed(self, a: int, others: list[int], conjoin: bool) -> bool:
        """Tell whether a and one of the others exclude each other (under &), or cover everything (under |)."""
        if not others:
            return False
        negated = self.negation(a)
        return any(self.implies(b, negated) if conjoin else self.implies(negated, b) for b in others)

    def _merged(self, kind: str, parts: list[int]) -> list[int]:
        """Merge neighbours: X a & X b = X(a & b), (a U c) & (b U c) = (a & b) U c, (a R b) & (a R c), …"""
        groups: dict[tuple, list[tuple]] = {}
        rest: list[int] = []
        for part in parts:
            node = self.nodes[part]
            if node[0] in "XN":
                groups.setdefault((node[0],), []).append(node)
            elif node[0] == "R" and kind == "|" and node[1] == FALSE and self.pure(node[2])[0]:
                groups.setdefault(("GF",), []).append(node)
            elif node[0] == "U" and kind == "&" and node[1] == TRUE and self.pure(node[2])[1]:
                groups.setdefault(("FG",), []).append(node)
            elif node[0] in "UR":
                shared = node[2] if (node[0] == "U") == (kind == "&") else node[1]
                groups.setdefault((node[0], shared), []).append(node)
            else:
                rest.append(part)
        for key, nodes in groups.items():
            if len(nodes) == 1:
                rest.append(self._numbers[nodes[0]])
            elif key[0] in ("X", "N"):
                rest.append(self.next(self._join(kind, [n[1] for n in nodes]), weak=key[0] == "N"))
            elif key[0] == "GF":
                rest.append(self.release(FALSE, self.either([n[2] for n in nodes])))
            elif key[0] == "FG":
                rest.append(self.until(TRUE, self.both([n[2] for n in nodes])))
            elif (key[0] == "U") == (kind == "&"):
                joined = self._join(kind, [n[1] for n in nodes])
                rest.append(self.until(joined, key[1]) if key[0] == "U" else self.release(joined, key[1]))
            else:
                joined = self._join(kind, [n[2] for n in nodes])
                rest.append(self.until(key[1], joined) if key[0] == "U" else self.release(key[1], joined))
        return rest

    def until(self, a: int, b: int) -> int:
        return self._lasting("U", a, b)

    def release(self, a: int, b: int) -> int:
        return self._lasting("R", a, b)

    def _lasting(self, kind: str, a: int, b: int) -> int:
        """Build U or R; comments about U hold for R with everything dual."""
        until = kind == "U"
        zero, one, inside, outside = (FALSE, TRUE, "|", "&") if until else (TRUE, FALSE, "&", "|")
        if b in (FALSE, TRUE) or a == zero or self.pure(b)[not until] or self._stronger(a, b, until):
            return b
        if a != one and self._stronger(self.negation(b), a, until):
            a = one
        part, *parts = self.nodes[b]
        if part == kind and self._stronger(a, parts[0], until):
            return b
        if a == one:
            if part == kind:  # F (c U d) = F d
                return self._lasting(kind, one, parts[1])
            if part == inside:  # F is best as far inside as it goes: its parts may be simpler
                pure = [p for p in parts[0] if self.pure(p)[not until]]
                if pure:
                    others = [p for p in parts[0] if p not in pure]
                    return self._join(inside, [*pure, self._lasting(kind, one, self._join(inside, others))])
            if part == outside and not self.finite:  # F (a & GF b) = F a & GF b
                fixed = [p for p in parts[0] if all(self.pure(p))]
                if fixed:
                    others = [p for p in parts[0] if p not in fixed]
                    return self._join(outside, [*fixed, self._lasting(kind, one, self._join(outside, others))])
            if part == "X" and not self.finite:
                return self.next(self._lasting(kind, one, parts[0]))
        return self._node(kind, a, b)

    # --- knowing -----------------------------------------------------------------------------------------------------

    def pure(self, a: int) -> tuple[bool, bool]:
        """(true now if true later, true later if true now): pure eventualities and pure universalities."""
        found = self._purity.get(a)
        if found is None:
            kind, *parts = self.nodes[a]
            if kind == "p":
                constant = a in (FALSE, TRUE)
                found = constant, constant
            elif kind in "&|":
                flags = [self.pure(p) for p in parts[0]]
                found = all(f[0] for f in flags), all(f[1] for f in flags)
            elif kind in "XN":
                # At the end of a finite word a strong next is false and a weak one true, whatever was before.
                found = (False, False) if self.finite else self.pure(parts[0])
            else:
                (e1, u1), (e2, u2) = self.pure(parts[0]), self.pure(parts[1])
                universal = parts[0] == FALSE
                found = (parts[0] == TRUE or e2, u1 and u2) if kind == "U" else (e1 and e2, universal or u2)
            self._purity[a] = found
        return found

    def implies(self, a: int, b: int) -> bool:
        """Tell whether a implies b, as far as the shapes of both show."""
        if a == b or a == FALSE or b == TRUE:
            return True
        if a == TRUE or b == FALSE:
            return False
        key = a, b
        found = self._implied.get(key)
        if found is None:
            found = self._implied[key] = self._implies(a, b)
        return found

    def _implies(self, a: int, b: int) -> bool:
        left, right = self.nodes[a], self.nodes[b]
        p, q = left[0], right[0]
        if p == "p" and q == "p":
            return not left[1] & ~right[1]
        if p == "|":
            return all(self.implies(x, b) for x in left[1])
        if q == "&":
            return all(self.implies(a, y) for y in right[1])
        if p == "&" and any(self.implies(x, b) for x in left[1]):
            return True
        if q == "|" and any(self.implies(a, y) for y in right[1]):
            return True
        if p == q and p in "XN":
            return self.implies(left[1], right[1])
        if p == "X" and q == "N":
            return self.implies(left[1], right[1])
        if p == q and p in "UR" and self.implies(left[1], right[1]) and self.implies(left[2], right[2]):
            return True
        if q == "U" and self.implies(a, right[2]):
            return True
        if p == "R" and self.implies(left[2], b):
            return True
        if q == "R" and self.implies(a, right[1]) and self.implies(a, right[2]):
            return True
        if q == "R" and right[1] == FALSE and self.pure(a)[1] and self.implies(a, right[2]):
            return True
        if p == "U" and left[1] == TRUE and self.pure(b)[0] and self.implies(left[2], b):
            return True
        return p == "U" and self.implies(left[1], b) and self.implies(left[2], b)
