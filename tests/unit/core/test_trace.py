"""Sample times: the grid and the events, each once, in order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bbfalsify.core.trace import sample_times

quarters = st.integers(-8, 60).map(lambda n: n / 4)


@given(
    duration=st.one_of(st.just(0.0), st.floats(0.0, 12.0)),
    period=st.sampled_from([0.1, 0.25, 1.0, 3.0, 20.0]),
    events=st.lists(st.one_of(quarters, st.floats(0.0, 12.0)), max_size=12).map(sorted),
)
def test_the_grid_and_the_events_are_merged(duration, period, events):
    grid = {k * period for k in range(int(np.floor(duration / period + 1e-9)) + 1)}
    expected = sorted({t for t in {*grid, *events, duration} if 0 <= t <= duration})
    assert sample_times(duration, period, np.array(events)).tolist() == expected
