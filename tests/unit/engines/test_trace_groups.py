"""Several traces to one target: they differ, are grouped by what differs, and each group keeps its shortest."""

import pytest

from bbfalsify import reach
from bbfalsify.engines.reachability.settings import ReachSettings
from bbfalsify.examples.models import named_model
from bbfalsify.modelling import NetworkBuilder
from bbfalsify.records.recording import Recording
from bbfalsify.reporting.terminal.reach import group_lines
from bbfalsify.results.reach_result import QueryResult
from bbfalsify.running.execution import Execution
from bbfalsify.running.query_run import Question, answer_all
from bbfalsify.running.reach.reach_run import ReachRun


def found(traces: int, **more):
    network, family = named_model("fischer-faulty:3")
    return reach(network, family.query, traces=traces, seed=1, timeout=None, walks=20_000, jobs=1, **more)


def test_traces_differ_and_the_first_stays_the_first():
    one, several = found(1), found(12)
    everything = [*several.found.findings, *several.found.others]
    moves = [tuple(step.moves for step in finding.trace.steps) for finding in everything]
    assert len(everything) == 12 == len(set(moves))
    assert one.found.findings[0].walk == several.found.findings[0].walk and one.groups == []


def test_groups_are_pairs_of_processes_inside_and_keep_their_shortest():
    several = found(30)
    groups = several.groups
    assert sum(group.traces for group in groups) == 30 and 1 < len(groups) <= 9
    for group in groups:
        inside = [fact for fact in group.differs.split(", ") if fact.endswith(".cs")]
        assert len(inside) == 2  # the violation: two are inside
    lengths = [len(f.trace.steps) for f in (*several.found.findings, *several.found.others)]
    assert min(len(group.shortest.trace.steps) for group in groups) == min(lengths)


def test_two_ways_into_one_location_are_two_groups():
    """The end is the same in all of them, so the last step decides."""
    builder = NetworkBuilder("door")
    door = builder.automaton("Door").location("shut").location("locked").location("alarm")
    door.edge("shut", "locked").edge("locked", "shut").edge("shut", "alarm").edge("locked", "alarm")
    several = reach(builder.build(), "E<> Door.alarm", traces=8, seed=1, timeout=None, walks=20_000, jobs=1)
    assert sorted(group.differs for group in several.groups) == [
        "last Door: locked -> alarm", "last Door: shut -> alarm",
    ]  # fmt: skip


def test_processes_of_one_kind_are_told_apart_by_their_numbers_only_where_that_tells_something():
    """Six traces of six processes would be as many groups."""
    network, family = named_model("fischer-faulty:6")
    [group] = reach(network, family.query, traces=6, seed=1, timeout=None, walks=20_000, jobs=1).groups
    assert group.differs == "all end alike, last P: wait -> cs" and group.traces == 6


def test_a_target_with_a_single_trace_ends_the_search():
    builder = NetworkBuilder("lamp")
    builder.automaton("Lamp").location("off").location("on").edge("off", "on")
    result = reach(builder.build(), "E<> Lamp.on", traces=5, seed=1, timeout=None, walks=100_000, jobs=1)
    assert result.found.others == [] and result.groups == []


@pytest.mark.parametrize("width", [80, 40])
def test_rows_files_and_the_terminal_hold_groups(tmp_path, width):
    network, family = named_model("fischer-faulty:3")
    settings = ReachSettings(traces=12, timeout=None, walks=20_000)
    recording = Recording(out=tmp_path, name="several")
    result = answer_all(
        ReachRun,
        network, [Question("Q1", "", family.query)], about={"example": "fischer-faulty:3"}, settings=settings, seed=1,
        execution=Execution(), recording=recording,
    )  # fmt: skip
    [row] = result.requirements
    assert QueryResult.from_json(row.as_json()).groups == row.groups and sum(g.traces for g in row.groups) == 12
    assert len({group.file for group in row.groups}) == len(row.groups)
    lines = list(group_lines(row, width))
    assert lines[0].startswith("12 different traces") and max(map(len, lines[1:])) <= width
