"""What does it cost to find the one word that opens a combination lock, and on what does the price depend?

    python experiments/checking/locks.py

Locks of the paper's family (Figure 1): the right symbols in a row open it, a wrong one sends it back to the start.  The
requirement "it never opens" is violated by one word, and nothing that the lock answers before tells how far one is.
"""

import sys
from pathlib import Path

from bbfalsify import check

sys.path.insert(0, str(Path(__file__).parents[2]))  # the random machines are those of the tests
from tests.support.boxes import combination_lock  # noqa: E402

LETTERS = "abc"
NEVER = "never out == open"


def price(length: int, bound: int | None, **options: object) -> tuple[str, int, int]:
    """The word that was found, and the queries and symbols until then."""
    lock = combination_lock(tuple("abcacbbaccab"[:length]), tuple(LETTERS))
    result = check(lock, NEVER, max_states=bound, seed=1, **options)
    return " ".join(result.requirements[0].prefix), result.queries, result.symbols


def main() -> None:
    print("the lock grows, the bound is 20:")
    for length in range(1, 7):
        word, queries, symbols = price(length, 20)
        print(f"  {length + 1} states: {queries:5} queries, {symbols:6} symbols  {word}")
    print("the lock has 5 states, the bound grows:")
    for bound in (5, 10, 20, 40, 1000):
        word, queries, symbols = price(4, bound)
        print(f"  bound {bound:4}: {queries:5} queries, {symbols:6} symbols  {word}")


if __name__ == "__main__":
    main()
