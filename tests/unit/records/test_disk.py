"""What has to survive a power failure is waited for, in its order: at once, or together with other things."""

import os

import pytest

from bbfalsify.records.disk import soon, together, wait_for


@pytest.fixture
def waited(monkeypatch):
    """The names of what fsync was called for; it is called as always."""
    names, really = [], os.fsync

    def fsync(handle):
        names.append(os.path.basename(os.readlink(f"/proc/self/fd/{handle}")))
        really(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return names


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / name for name in "abcd"]
    for path in paths:
        path.write_text("x")
    return paths


def test_alone_nothing_is_put_off(files, waited):
    soon(files[0])
    soon(files[1])
    assert waited == ["a", "b"]


def test_together_they_are_waited_for_at_the_end_and_each_once(files, waited):
    with together():
        wait_for(files[3])
        for path in (*files[:3], files[0]):
            soon(path)
        assert waited == ["d"], "the next wait is due in a second"
    assert waited == ["d", "a", "b", "c"]
    soon(files[0])
    assert waited[4:] == ["a"]


def test_who_waits_now_waits_for_all_that_was_left_before(files, waited):
    with together():
        wait_for(files[0])
        soon(files[1])
        wait_for(files[2])
        assert waited == ["a", "b", "c"]


def test_after_a_second_it_is_time(files, waited, monkeypatch):
    with together():
        wait_for(files[0])
        soon(files[1])
        monkeypatch.setattr("bbfalsify.records.disk.EVERY_S", 0.0)
        soon(files[2])
        assert waited == ["a", "b", "c"]


def test_an_error_in_the_middle_loses_nothing(files, waited):
    with pytest.raises(RuntimeError), together():
        wait_for(files[0])
        soon(files[1])
        raise RuntimeError
    assert waited == ["a", "b"]


def test_what_is_gone_is_not_waited_for(files, tmp_path, waited):
    files[0].unlink()
    wait_for(files[0], files[1], tmp_path)
    assert waited == ["b", tmp_path.name]
