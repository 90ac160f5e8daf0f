"""Damaged records are named with file and line, and with what can still be used; older ones are read as they are."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bbfalsify.campaigns.directory import CampaignDirectory
from bbfalsify.core.checksums import line_is_whole, sealed_line
from bbfalsify.core.errors import UserError
from bbfalsify.core.events import BatchAnswered, EstimateMade, StageStarted
from bbfalsify.records.event_log import Recorder, read_events
from bbfalsify.records.json_files import format_json, read_json, write_json
from bbfalsify.records.recording import Recording
from bbfalsify.records.run_directory import RunDirectory
from tests.support.recorded import unsealed


def log(folder: Path, events: int = 4) -> Path:
    with Recorder(folder / "events.jsonl") as recorder:
        for number in range(events):
            recorder.record(EstimateMade("x", {"value": 0.25 + number}))
    return folder / "events.jsonl"


def changed(file: Path, change) -> Path:
    lines = file.read_bytes().splitlines(keepends=True)
    change(lines)
    file.write_bytes(b"".join(lines))
    return file


def swap(lines):
    lines[1], lines[2] = lines[2], lines[1]


def flip(lines):
    lines[1] = lines[1].replace(b"1.25", b"1.35")


def zero(lines):
    lines[1] = bytes(len(lines[1]) - 1) + b"\n"


def cut_a_field(lines):
    lines[1] = lines[1].replace(b'"what":"x",', b"")


@pytest.mark.parametrize("change", [swap, flip, zero, cut_a_field])
def test_damage_in_the_middle_is_named_with_its_line(tmp_path, change):
    file = changed(log(tmp_path), change)
    with pytest.raises(UserError, match=r"events.jsonl:2: .*; the 1 events before it are whole"):
        list(read_events(file))


def test_an_older_log_whose_kind_of_event_is_no_word_is_refused(tmp_path):
    """Lines of older versions have no checksum, so the kind itself is looked at."""
    file = log(tmp_path)
    unsealed(file)

    def list_for_a_word(lines):
        assert b'"EstimateMade"' in lines[1]
        lines[1] = lines[1].replace(b'"EstimateMade"', b'["EstimateMade"]')

    with pytest.raises(UserError, match=r"events.jsonl:2: damaged"):
        list(read_events(changed(file, list_for_a_word)))


@pytest.mark.parametrize("kept", [0, 3])
def test_damaged_lines_at_the_end_are_cut_off_and_named(tmp_path, kept):
    def spoil(lines):
        lines[kept:] = [line.replace(b"25", b"35") for line in lines[kept:]]

    file = changed(log(tmp_path), spoil)
    told = []
    with Recorder(file, [told.append]) as recorder:
        recorder.record(StageStarted("next", 1))
    damage = told[0]
    assert (damage.file, damage.line) == (str(file), kept + 1)
    assert damage.what.endswith(f"cut off; the {kept} before are used")
    kinds = [event.kind for event in read_events(file)]
    assert kinds == ["EstimateMade"] * kept + ["RecordDamaged", "StageStarted"]


def test_a_line_without_its_end_is_no_damage(tmp_path):
    file = log(tmp_path)
    file.write_bytes(file.read_bytes()[:-5])
    told = []
    with Recorder(file, [told.append]):
        assert told == []


def test_older_logs_without_checksums_are_read(tmp_path):
    file = log(tmp_path)
    before = list(read_events(file))
    assert "crc" not in unsealed(file)
    assert list(read_events(file)) == before


def test_every_changed_byte_of_a_line_is_noticed(tmp_path):
    line = sealed_line('{"a":1,"b":"two"}')
    assert line_is_whole(line) and json.loads(line)["b"] == "two"
    file = log(tmp_path)
    whole = file.read_bytes()
    first, second, *_ = whole.splitlines(keepends=True)
    for place in range(len(first), len(first) + len(second)):
        for bit in (1, 32, 128):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
            with pytest.raises(UserError, match="events.jsonl:2: "):
                list(read_events(file))


def test_files_of_json_have_a_checksum_that_survives_another_layout(tmp_path):
    file, content = tmp_path / "x.json", {"b": (1, 2.5e-300), "a": {"n": "inf", "text": "ä\u2028"}}
    write_json(file, content)
    assert read_json(file) == {"b": [1, 2.5e-300], "a": content["a"]}
    text = json.dumps(json.loads(file.read_text()), indent=7, sort_keys=True).replace("\n", "\r\n")
    file.write_text(text)
    assert read_json(file)["b"] == [1, 2.5e-300]
    file.write_text(text.replace("2.5e-300", "2.5e-301"))
    with pytest.raises(UserError, match="x.json: damaged, or changed by hand: its checksum is wrong"):
        read_json(file)
    file.write_text(format_json({"b": 1}))  # as older versions wrote it
    assert read_json(file) == {"b": 1}


def begun(place: Path, told: list) -> None:
    recording = Recording(None, place, listeners=[told.append])
    with recording.begin("x", recording.seed(None), {"engine": 1}) as record:
        record.record_start("x", "s", ("R1",), 7, (None, None), 1)
    record.write_results({"outcome": "falsified"})


def test_lost_manifests_and_damaged_results_are_named_and_made_anew(tmp_path):
    begun(tmp_path / "run", [])
    seed = RunDirectory(tmp_path / "run").read_manifest()["seed"]
    (tmp_path / "run" / "manifest.json").write_bytes(b"")
    (tmp_path / "run" / "results.json").write_text('{"outcome": "not_falsified", "checksum": "crc32:00000000"}')
    told: list = []
    recording = Recording(None, tmp_path / "run", listeners=[told.append])
    with pytest.raises(UserError, match="begun with other settings, and its manifest is lost"):
        recording.begin("x", 8, {"engine": 1})
    with recording.begin("x", seed, {"engine": 1}):
        pass
    assert [Path(event.file).name for event in told] == ["manifest.json", "results.json"]
    assert "recorded answers are used" in told[0].what and "made anew from the events" in told[1].what


def test_lost_events_are_named(tmp_path):
    begun(tmp_path / "run", [])
    (tmp_path / "run" / "events.jsonl").unlink()
    told: list = []
    begun(tmp_path / "run", told)
    assert "the events are lost: the run begins anew" in told[0].what and told[0].file.endswith("events.jsonl")


def test_the_seed_of_a_run_survives_its_manifest(tmp_path):
    recording = Recording(None, tmp_path / "run")
    with recording.begin("x", 77, {}) as record:
        record.record_start("x", "s", ("R1",), 77, (None, None), 1)
    (tmp_path / "run" / "manifest.json").unlink()
    assert recording.seed(None) == 77


def test_a_campaign_has_one_process_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("bbfalsify.records.locks._LOCK_WAIT_S", 0.0)
    (tmp_path / "campaign.json").write_text("{}")
    place = CampaignDirectory(tmp_path)
    with place.locked():
        with pytest.raises(
            UserError, match=rf"campaign.json: another process \({os.getpid()}\) is running this campaign"
        ):
            place.locked()
    place.locked().close()


def test_an_answer_without_its_status_is_named(tmp_path):
    """Of a log without checksums: whatever reads it is told, and none of them ends with a KeyError."""
    with Recorder(tmp_path / "events.jsonl") as recorder:
        recorder.record(BatchAnswered(({"query": "q/1", "judgements": [], "seconds": 0.1},)))
    unsealed(tmp_path / "events.jsonl")
    with pytest.raises(UserError, match="events.jsonl:1: BatchAnswered without status"):
        list(read_events(tmp_path / "events.jsonl"))
