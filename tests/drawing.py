"""What hypothesis draws in our tests: the same examples every time, for everybody, whatever else runs beside them.

`derandomize` alone does not do that.  Now and then hypothesis draws a number or a text that is written somewhere in the
modules of the project that happen to be loaded: a test alone would see other examples than the same test in the whole
suite, and any constant that changes anywhere would change them.
"""

from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers


def draw_the_same_everywhere() -> None:
    """For every test: a fixed seed, nothing remembered from earlier runs, no limit on the time of an example, and no
    constants from our modules (those that hypothesis itself thinks awkward are still drawn).

    There is no setting for the last; `test_drawing.py` says whether this still works.
    """
    settings.register_profile("the same everywhere", derandomize=True, database=None, deadline=None)
    settings.load_profile("the same everywhere")
    providers._get_local_constants = lambda: providers._local_constants


def examples(count: int) -> settings:
    """For laws: so many examples; shrinking large ones would take minutes."""
    return settings(
        max_examples=count,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
