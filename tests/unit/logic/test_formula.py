"""What can be known of a formula without a trace."""

import pytest

from bbfalsify.logic import parse_stl


@pytest.mark.parametrize(
    ("text", "falsifiable"),
    [
        ("x <= 1", True),
        ("always(x <= 1)", True),
        ("eventually(x <= 1)", False),
        ("eventually[0:5](x <= 1)", True),
        ("always((x <= 1) implies (eventually(y <= 1)))", False),
        ("always((x <= 1) implies (eventually[0:3](y <= 1)))", True),
        ("not(always(x <= 1))", False),
        ("(x <= 1) or (eventually(y <= 1))", False),
        ("(x <= 1) and (eventually(y <= 1))", True),
        ("(x <= 1) until (y <= 1)", True),
    ],
)
def test_what_no_finite_trace_can_violate_is_known(text, falsifiable):
    assert parse_stl(text).falsifiable is falsifiable
