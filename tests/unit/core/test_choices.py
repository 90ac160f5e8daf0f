"""Choice sequences keep what they are given, refuse what is no quantile, and survive JSON."""

import json

import numpy as np
import pytest

from bbfalsify.core.choices import ChoiceSequence, Label, labelled


def sequence() -> ChoiceSequence:
    return ChoiceSequence(np.array([0.1, 0.5, 0.25]), labelled([("value", "x"), ("delay", "x"), ("value", "x")]))


def test_labels_count_occurrences_of_kind_and_name():
    assert sequence().labels == (Label("value", "x", 0), Label("delay", "x", 0), Label("value", "x", 1))


def test_json_gives_the_same_sequence():
    assert ChoiceSequence.from_json(json.loads(json.dumps(sequence().as_json()))) == sequence()


def test_a_sequence_is_immutable_and_keeps_no_view_of_its_source():
    source = np.array([0.5])
    made = ChoiceSequence(source, (Label("value", "x"),))
    source[0] = 0.7
    assert made.quantiles[0] == 0.5
    with pytest.raises(ValueError):
        made.quantiles[0] = 0.1


@pytest.mark.parametrize("quantiles", [[1.0], [-0.1], [float("nan")], [0.1, 0.2]])
def test_what_is_no_quantile_is_refused(quantiles):
    with pytest.raises(ValueError):
        ChoiceSequence(np.array(quantiles), (Label("value", "x"),))
