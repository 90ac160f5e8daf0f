"""Stays are kept in columns, and come back as they were."""

from bbfalsify.fitting.stays import Stay, Stays, Wait

BOUNDED, FREE = Wait(((1.0, 2.0), (3.0, 5.0)), 5.0, (0.0,)), Wait(((0.0, float("inf")),), None, (0.5,))


def test_a_stay_ends_where_its_wait_was_left():
    assert BOUNDED.until(4.0, True) == Stay(((1.0, 2.0), (3.0, 4.0)), 5.0, True, 4.0, (0.0,))
    assert BOUNDED.until(1.0, False).pieces == () and FREE.until(2.5, False).exposure == 2.5


def test_pooled_stays_keep_their_order_and_their_waits():
    one, other, pooled = Stays(), Stays(), Stays()
    one.add(BOUNDED, 1.5, True)
    one.add(FREE, 2.0, False)
    other.add(FREE, 3.0, True)
    pooled.extend(one)
    pooled.extend(other)
    assert len(pooled) == 3 and list(pooled) == [*one, *other]
    assert [(s.delay, s.acted) for s in pooled.unbounded()] == [(2.0, False), (3.0, True)]
    assert list(one)[0].bound == 5.0
