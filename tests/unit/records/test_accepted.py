"""Accepted failures: matching, limits, expiry, bad files, and writing them from a run."""

import datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbfalsify.core.errors import UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.records.accept_run import accept
from bbfalsify.records.accepted import Acceptance, Failure, load_acceptances, read_acceptances
from bbfalsify.records.documents import parse_yaml

TODAY = datetime.date(2026, 6, 1)


def probability(low, high=None):
    high = low if high is None else high
    return Estimate((low + high) / 2, low, high, 0.95, "test", 100)


def read(text):
    return read_acceptances(parse_yaml(text, file="accepted.yaml"))


def entries(*lines):
    return read("format_version: 1\naccepted:\n" + "".join(f"  - {{{line}}}\n" for line in lines))


def verdicts(acceptances, *rows):
    return list(acceptances.judge([Failure(r, tuple(a.split()), probability(*p)) for r, a, *p in rows], TODAY).verdicts)


def test_the_four_answers():
    said = entries(
        'requirement: R1, actions: [on, "off"], reason: x, max_probability: 0.01',
        "requirement: R1, actions: [on], reason: x, expires: 2026-05-31",
        "requirement: R1, actions: [off], reason: x, expires: 2026-06-01",
    )
    rows = [("R1", "on off", 0.005, 0.02), ("R1", "on off", 0.011, 0.02), ("R1", "on", 0.1), ("R1", "off", 0.1)]
    assert verdicts(said, *rows) == ["accepted", "too probable", "expired", "accepted"]
    assert verdicts(said, ("R2", "on off", 0.0), ("R1", "off on", 0.0)) == ["new", "new"]


def test_the_kindest_entry_that_matches_decides():
    said = entries(
        "requirement: R1, actions: [a], reason: old, expires: 2020-01-01",
        "requirement: R1, pattern: '**', reason: rare, max_probability: 0.001",
    )
    assert verdicts(said, ("R1", "a", 0.0), ("R1", "a", 0.5), ("R1", "b b", 0.5)) == [
        "accepted",
        "too probable",
        "too probable",
    ]


ON = (("on", "on", "off"), ("on", "on", "on"))


@pytest.mark.parametrize(
    ("named", "names", "words", "said"),
    [
        ("on×2", ("on×2", "off"), ON, "accepted"),
        ("on", ("on", "off"), ON, "accepted"),  # renamed: it holds the typical counterexample
        ("on", ("on", "on×2"), ON, "new"),  # another mode has the name still
        ("on", ("on", "off"), ON[1:], "new"),
    ],
)
def test_a_renamed_mode_is_known_by_its_typical_counterexample(named, names, words, said):
    accepted = entries('requirement: R1, mode: "on×2", typical: [on, on, "off"], reason: x')
    failure = Failure("R1", words[0], probability(0.1), named, probability(0.1), words, names)
    assert accepted.judge([failure], TODAY).verdicts == (said,)


def test_accepting_a_mode_notes_its_typical_counterexample(tmp_path):
    mode = Failure("R1", ("on", "on"), probability(0.1), "on×2", probability(0.1), ON, ("on×2",))
    [entry] = accept(tmp_path / "a.yaml", [], modes=[mode], reason="x")
    assert entry.typical == ON[0] and load_acceptances(tmp_path / "a.yaml").entries[0].typical == ON[0]
    renamed = mode._replace(mode="on", modes=("on",))
    assert accept(tmp_path / "a.yaml", [], modes=[renamed], reason="x") == []


def test_entries_that_match_nothing_are_listed():
    said = entries("requirement: R1, actions: [a], reason: x", "requirement: R1, pattern: b **, reason: y")
    judged = said.judge([Failure("R1", ("a",), probability(0.1))], TODAY)
    assert judged.all_accepted and [(e.reason, e.line) for e in judged.unmet] == [("y", 4)]


def brute_force(pattern, actions):
    """All ways to let each ** stand for so many *."""
    stars = [i for i, p in enumerate(pattern) if p == "**"]
    for counts in product(range(len(actions) + 1), repeat=len(stars)):
        numbers = dict(zip(stars, counts, strict=True))
        plain = [q for i, p in enumerate(pattern) for q in (["*"] * numbers[i] if i in numbers else [p])]
        if len(plain) == len(actions) and all(p in ("*", a) for p, a in zip(plain, actions, strict=True)):
            return True
    return False


@given(st.lists(st.sampled_from(["a", "b", "*", "**"]), max_size=5), st.lists(st.sampled_from("ab"), max_size=5))
def test_patterns_match_what_they_should(pattern, actions):
    entry = Acceptance("R", tuple(pattern), "x", pattern=True)
    assert entry.matches(Failure("R", actions, probability(0.1))) == brute_force(pattern, actions)


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("accepted: []", ["1: the key 'format_version' is missing"]),
        ("format_version: 2\naccepted: []", ["1: format_version 2 is not known"]),
        ("format_version: 1", ["the key 'accepted' is missing"]),
        ("format_version: 1\naccepted: 3", ["2: 'accepted' must be a list"]),
        (
            "format_version: 1\naccepted:\n  - {requirement: R1, actoins: [a]}\n",
            ["3: unknown key 'actoins'", "Did you mean 'actions'?", "the key 'reason' is missing", "needs one of"],
        ),
        (
            "format_version: 1\naccepted:\n"
            "  - {requirement: R1, actions: [], reason: x, max_probability: 2}\n"
            "  - {requirement: R1, pattern: '', reason: x, expires: tomorrow}\n",
            [
                "3: 'actions' is empty",
                "3: 'max_probability' must lie between",
                "4: the pattern is empty",
                "4: 'expires'",
            ],
        ),
    ],
)
def test_every_mistake_is_named_with_its_line(text, messages):
    with pytest.raises(UserError) as error:
        read(text)
    for message in messages:
        assert message in str(error.value)


def test_names_that_the_run_does_not_know_are_slips_of_the_pen():
    said = entries("requirement: R2, actions: [on, of], reason: x", "requirement: R1, pattern: on * ** off, reason: x")
    problems = [str(p) for p in said.problems(["R1"], ["on", "off"])]
    assert len(problems) == 2 and all("accepted.yaml:3" in p for p in problems)
    assert "Did you mean 'R1'?" in problems[0] and "Did you mean 'off'?" in problems[1]


ROWS = [
    Failure("R1", ("on", "off"), probability(0.001, 0.0012341)),
    Failure("R1", ("true", "a b"[:1]), probability(0.0, 1e-5)),
]


def test_written_entries_accept_what_they_were_written_for(tmp_path):
    file = tmp_path / "accepted.yaml"
    assert len(accept(file, ROWS, reason='it "trips": first', expires=datetime.date(2026, 12, 31), today=TODAY)) == 2
    said = load_acceptances(file)
    assert [(e.actions, e.reason) for e in said.entries] == [(a, 'it "trips": first') for _, a, *_ in ROWS]
    assert said.entries[0].max_probability == 0.00124 and said.entries[1].max_probability == 1e-5
    assert said.judge(ROWS, TODAY).all_accepted and not said.judge(ROWS, datetime.date(2027, 1, 1)).all_accepted
    assert accept(file, ROWS, reason="again", today=TODAY) == []


def test_a_file_is_extended_without_losing_what_people_wrote(tmp_path):
    file = tmp_path / "accepted.yaml"
    text = (
        "# ours\nformat_version: 1\naccepted:\n# the first\n- requirement: R1\n  actions: [x]\n  reason: because  # yes"
    )
    file.write_text(text)
    accept(file, ROWS, reason="new", limit=False, today=TODAY)
    assert file.read_text().startswith(text)
    said = load_acceptances(file)
    assert len(said.entries) == 3 and said.entries[1].max_probability is None
    empty = tmp_path / "empty.yaml"
    empty.write_text("format_version: 1\naccepted: []\n")
    assert len(accept(empty, ROWS, reason="new", today=TODAY)) == len(load_acceptances(empty).entries) == 2


def test_what_cannot_be_extended_stays_as_it_was(tmp_path):
    file = tmp_path / "accepted.yaml"
    text = "accepted:\n  - {requirement: R1, actions: [x], reason: y}\nformat_version: 1\n"
    file.write_text(text)
    with pytest.raises(UserError, match="write 'accepted:' last"):
        accept(file, ROWS, reason="new", today=TODAY)
    assert file.read_text() == text
    with pytest.raises(UserError, match="a reason is needed"):
        accept(file, ROWS, reason=" ")


def test_a_mode_is_accepted_with_all_its_counterexamples_up_to_its_own_probability(tmp_path):
    file = tmp_path / "accepted.yaml"
    row = Failure("R1", ("on", "on", "off"), probability(0.001, 0.002), "on×2", probability(0.01, 0.02))
    [entry] = accept(file, [], modes=[row], reason="fuse", today=TODAY)
    assert entry.mode == "on×2" and entry.max_probability == 0.02 and entry.actions == ()
    said = load_acceptances(file)
    assert [(e.mode, e.actions, e.max_probability) for e in said.entries] == [("on×2", (), 0.02)]
    likelier = row._replace(mode_probability=probability(0.03, 0.04))
    other = row._replace(actions=("on", "on", "on"))
    verdicts = said.judge([row, other, row._replace(mode="on"), likelier], TODAY).verdicts
    assert verdicts == ("accepted", "accepted", "new", "too probable")
    assert accept(file, [], modes=[row], reason="again", today=TODAY) == []


def test_an_entry_names_one_thing():
    text = "format_version: 1\naccepted:\n  - {requirement: R1, mode: on, pattern: on, reason: x}\n"
    with pytest.raises(UserError, match="one of 'actions'"):
        read_acceptances(parse_yaml(text, file="a.yaml"))
