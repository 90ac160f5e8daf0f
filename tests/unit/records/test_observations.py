"""Files of observations: the lines of a check, logs of use, and those of older versions."""

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.records.line_file import line_of
from bbfalsify.records.observations import read_log

OLD_CHECKSUM = b"195f8451"
"""As version 1 wrote it for the word `push`, answered `no`."""


def test_all_forms_of_a_line_are_read(tmp_path):
    file = tmp_path / "seen.jsonl"
    file.write_bytes(
        line_of({"inputs": ["coin", "push"], "outputs": ["click", "go"]})
        + b'[["push"],["no"],"'
        + OLD_CHECKSUM
        + b'"]\n'
        + b'[["coin", "coin"], ["click", "back"]]\n'
    )
    assert dict(read_log(file).words()) == {
        ("coin", "push"): ("click", "go"),
        ("push",): ("no",),
        ("coin", "coin"): ("click", "back"),
    }


def test_a_changed_line_is_named_whatever_its_form(tmp_path):
    file = tmp_path / "seen.jsonl"
    new = line_of({"inputs": ["a"], "outputs": ["1"]})
    file.write_bytes(new + new.replace(b'"1"', b'"2"') + b'[["push"],["on"],"' + OLD_CHECKSUM + b'"]\n')
    with pytest.raises(UserError) as error:
        read_log(file)
    assert [p.line for p in error.value.problems] == [2, 3]


def test_wrong_lines_are_named(tmp_path):
    file = tmp_path / "log.jsonl"
    file.write_text('[["a"], ["1"]]\n\nno json\n[["a"], ["2"]]\n[["a", "b"], ["1"]]\n{"a": 1}\n')
    with pytest.raises(UserError) as error:
        read_log(file)
    assert [p.line for p in error.value.problems] == [3, 4, 5, 6]
    with pytest.raises(UserError, match="there is no such file"):
        read_log(tmp_path / "none")
