import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.reporting.exports.recordings import csv_text, read_csv


def test_what_is_written_is_read_back_bit_by_bit(tmp_path):
    values = np.array([0.1, 1 / 3, 1e-300])
    file = tmp_path / "t.csv"
    rows = zip([0.0, 0.1, 0.2], ["on", "", "off"], values.tolist(), strict=True)
    file.write_text(csv_text(["time", "action", "T"], rows))
    [trace] = read_csv(file).values()
    assert list(trace.signals) == ["T"]
    assert trace.signals["T"].tolist() == values.tolist()
    assert trace.times.tolist() == [0.0, 0.1, 0.2]


def test_every_wrong_line_is_named(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("t,T,T\n0,1,1\n1,x,1\n1,2\n0,3,1\n2,nan,1\n")
    with pytest.raises(UserError) as error:
        read_csv(file)
    assert [str(p).removeprefix(f"{file}:") for p in error.value.problems] == [
        "1: column 'T' is given twice.",
        "3: column 'T' must hold finite numbers; found 'x'.",
        "4: 2 values where the first line names 3 columns.",
        "5: time must grow; 0 follows 0.",
        "6: column 'T' must hold finite numbers; found 'nan'.",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: the first line must name time and at least one signal."),
        ("<a>\n<b>1</b>\n<c>2, 3</c>\n", "1: the first line must name time and at least one signal."),
        ("time,T\n", " the file has no samples."),
        ("x,T\n0,1\n", "1: the first column must be 'time'; found 'x'."),
    ],
)
def test_files_without_a_trace(tmp_path, text, message):
    file = tmp_path / "t.csv"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        read_csv(file)
    assert str(error.value.problems[0]).removeprefix(f"{file}:") == message


def test_missing_file(tmp_path):
    with pytest.raises(UserError, match="there is no such file"):
        read_csv(tmp_path / "none.csv")


@pytest.mark.parametrize("text", ["time,x\n0,1\n1,2.5\n", 'time,x\n0,"1"\n1,2.5\n', "time , x\n 0, 1\n\n1 ,2_5e-1\n"])
def test_plain_numbers_are_read_fast_and_all_others_with_the_same_result(tmp_path, text):
    file = tmp_path / "trace.csv"
    file.write_text(text)
    [(name, trace)] = read_csv(file).items()
    assert (name, trace.times.tolist(), {n: v.tolist() for n, v in trace.signals.items()}) == (
        "",
        [0, 1],
        {"x": [1, 2.5]},
    )
