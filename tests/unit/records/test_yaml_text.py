from hypothesis import given
from hypothesis import strategies as st

from bbfalsify.records.documents import parse_yaml
from bbfalsify.records.yaml_text import as_yaml, number_text

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=20
) | st.sampled_from(
    [
        "on",
        "off",
        "null",
        "~",
        "1e5",
        "- a",
        "a: b",
        "a #b",
        "x >= 3",
        "{",
        "weight of User.S -> S (on)",
        "a\nb",
        "true",
        "",
    ]
)
KEYS = TEXTS.filter(lambda t: "\n" not in t)
LEAVES = TEXTS | st.integers(-(10**6), 10**6) | st.booleans() | st.floats(-1e9, 1e9).map(lambda x: float(f"{x:.6g}"))
DATA = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=12
)


@given(st.dictionaries(KEYS, DATA, min_size=1, max_size=4))
def test_what_is_written_is_read_back(data):
    def comparable(value):
        match value:
            case str():
                return value.rstrip("\n") if "\n" in value else value
            case list():
                return [comparable(v) for v in value]
            case dict():
                return {k: comparable(v) for k, v in value.items()}
        return value

    comments = {(key,): ["a comment: with [signs]"] for key in data}
    assert comparable(parse_yaml(as_yaml(data, comments)).data) == comparable(data)


def test_small_numbers_stay_numbers():
    assert number_text(1e-5) == "1.0e-05" and parse_yaml(f"a: {number_text(1e-5)}").data == {"a": 1e-5}
