from fractions import Fraction
from itertools import pairwise

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.fitting import read_logs
from bbfalsify.fitting.log_events import Instant, LogEvent, LogEvents


def log(tmp_path, text, **options):
    file = tmp_path / "log.csv"
    file.write_text(text)
    return read_logs([file], **options)


def problems(tmp_path, text, **options):
    with pytest.raises(UserError) as error:
        log(tmp_path, text, **options)
    return [str(p).removeprefix(f"{tmp_path}/") for p in error.value.problems]


def test_one_session_with_marks(tmp_path):
    (session,) = log(tmp_path, "time,action\n0.1,\n0.3,on\n0.3,off\n2,\n").sessions
    assert (session.start, session.end) == (Fraction(1, 10), 2)
    assert [(e.time, e.action, e.line) for e in session.events] == [
        (Fraction(3, 10), "on", 3),
        (Fraction(3, 10), "off", 4),
    ]


def test_sessions_may_be_interleaved_and_columns_in_any_order(tmp_path):
    text = " Action ,extra,Time,session\non,x,5,a\non,x,1,b\noff,x,7,a\n\noff,x,2,b\n"
    a, b = log(tmp_path, text).sessions
    assert [e.action for e in a.events] == ["on", "off"] == [e.action for e in b.events]
    assert a.start is None and log(tmp_path, text, from_zero=True).sessions[0].start == 0


def test_several_actions_at_one_moment_as_simulate_writes_them(tmp_path):
    text = "walk,time,action\n1,1,a b\n"
    assert log(tmp_path, text, actions=["a", "b"]).actions == ("a", "b")
    assert log(tmp_path, text, actions=["a", "b", "a b"]).actions == ("a b",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "log.csv:1: the file is empty; the first line must name the columns time and action."),
        ("time,action\n", "log.csv: the file has no rows."),
        ("t,action\n1,a\n", "log.csv:1: there is no column 'time'; the file has t, action."),
        (
            "time,acton\n1,a\n",
            "log.csv:1: there is no column 'action'; the file has time, acton. Perhaps 'acton' is meant.",
        ),
        ("time,action,time\n1,a,2\n", "log.csv:1: column 'time' is given twice."),
        ("time,action\n2,a\n1.5,a\n", "log.csv:3: time must not run backwards; 1.5 follows 2."),
        ("time,action,session\n2,a,x\n1,a,x\n", "log.csv:3: time must not run backwards; 1 follows 2 in session 'x'."),
        (
            "time,action\nnan,a\n",
            "log.csv:2: time must be a finite number, or a time such as 2026-01-31T08:15:02; found 'nan'.",
        ),
        (
            "time,action\n1e999,a\n",
            "log.csv:2: time must be a finite number, or a time such as 2026-01-31T08:15:02; found '1e999'.",
        ),
        (
            "time,action\nnoon,a\n",
            "log.csv:2: time must be a finite number, or a time such as 2026-01-31T08:15:02; found 'noon'.",
        ),
        ("time,action\n1,a,b\n", "log.csv:2: 3 cells where the first line names 2."),
        ("time,action\n1,onn\n", "log.csv:2: unknown action 'onn'. Allowed: a, on. Did you mean 'on'?"),
    ],
)
def test_every_mistake_has_its_line(tmp_path, text, message):
    assert problems(tmp_path, text, actions=["on", "a"]) == [message]


def test_many_mistakes_are_told_once_and_not_without_end(tmp_path):
    found = problems(tmp_path, "time,action\n" + "x,a\n" * 100)
    assert len(found) == 21 and found[-1] == "… and 80 more problems."
    assert len(problems(tmp_path, "time,action\n" + "1,b\n" * 100, actions=["a"])) == 1


def test_an_absurd_exponent_is_read_in_no_time(tmp_path):
    assert log(tmp_path, "time,action\n1e-999999999,a\n2,a\n").events == 2


def test_a_name_for_learning_has_no_spaces(tmp_path):
    assert "neither spaces nor commas" in problems(tmp_path, "time,action\n1,open door\n")[0]


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(UserError, match="there is no such file"):
        read_logs([tmp_path / "nowhere.csv"])


def test_times_of_different_precision_are_subtracted_exactly(tmp_path):
    [session] = log(tmp_path, "time,action\n0,\n3.2,a\n7.9,b\n1.5e1,a\n 15.25,b\n").sessions
    instants = [event.instant for event in session.events]
    delays = [later.after(earlier) for earlier, later in pairwise(instants)]
    assert [delay.exact for delay in delays] == [Fraction(47, 10), Fraction(71, 10), Fraction(1, 4)]
    assert [delay.ticks / delay.scale for delay in delays] == [4.7, 7.1, 0.25]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_other_separators_columns_and_times_of_iso_8601(tmp_path, separator):
    """The same session, as other programs write it."""
    rows = [
        ("user", "Timestamp", "event", "time"),
        ("a", "2026-01-31T23:59:58.25", "", "x"),
        ("a", "2026-02-01T01:00:01.5+01:00", "on", "x"),
        ("a", "2026-02-01 00:00:02Z", "off", "x"),
    ]
    file = tmp_path / "log.csv"
    file.write_text("".join(separator.join(row) + "\n" for row in rows))
    [session] = read_logs([file], columns={"time": "timestamp", "action": "event", "session": "user"}).sessions
    assert (session.name, [event.action for event in session.events]) == ("a", ["on", "off"])
    assert [float(event.time - session.start) for event in session.events] == [3.25, 3.75]


def test_columns_that_nobody_knows_are_named(tmp_path):
    (tmp_path / "log.csv").write_text("time,action\n1,a\n")
    with pytest.raises(UserError, match="unknown column 'tme'"):
        read_logs([tmp_path / "log.csv"], columns={"tme": "time"})
    with pytest.raises(UserError, match="there is no column 'action'"):
        read_logs([tmp_path / "log.csv"], columns={"action": "event"})


def test_events_are_kept_exactly_whatever_the_size_of_their_numbers():
    given = [LogEvent(Instant(*pair), action, line) for pair, action, line in (
        ((5, 10), "on", 2), ((7**40, 10), "off", 3), ((8**41, 3**60), "on", 4), ((9, 1), "off", 2**40),
    )]  # fmt: skip
    events = LogEvents()
    for event in given:
        events.add(*event)
    assert list(events) == given == [events[i] for i in range(4)]
    assert list(events[1:3]) == given[1:3] and events[-1] == given[-1]


def test_times_with_different_numbers_of_decimals_are_compared_exactly():
    assert Instant(1, 10) < Instant(11, 100) and not Instant(11, 100) < Instant(1, 10)
    assert not Instant(10, 100) < Instant(1, 10)
