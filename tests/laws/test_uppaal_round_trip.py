"""Random networks, written as UPPAAL's XML and read back, walk as before: the same delays, edges and states for the
same seeds.  A reader that mistook a bound, a priority of operators, an order of edges or updates, or a rate would walk
differently.

Left out are networks in which a choice that cannot be entered may stand beside one that can: where the written form
hides this in functions, other random numbers are used for the same law (`test_own_semantics.py` judges those)."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, note

from bbfalsify.kernel import accelerated_walks, compile_network, stochastic_walks
from bbfalsify.modelling import load_model
from bbfalsify.modelling.language.receiver_choices import has_open_choices
from bbfalsify.modelling.network.network import Network
from tests.drawing import examples
from tests.laws.test_kernel_against_reference import FOREVER, seeds
from tests.laws.uppaal_writer import UppaalWriter, expressible, reads_locations
from tests.support.networks import networks
from tests.support.printing import network_text

RECORDED = ("status", "steps", "times", "edges", "locations", "integers", "reals")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("uppaal")


def read_back(network: Network, folder) -> Network:
    text = UppaalWriter(network).document()
    note(text)
    file = folder / "network.xml"
    file.write_text(text, encoding="utf-8")
    # How far an unbounded delay may go depends on this number, which is not part of the file.
    return dataclasses.replace(load_model(file)[0], largest_constant=network.largest_constant)


def walks_are_the_same(network: Network, folder, *, steps: int, stochastic: bool) -> None:
    network = dataclasses.replace(expressible(network), as_uppaal=True)
    assert not reads_locations(network)
    note(network_text(network))
    both = network, read_back(network, folder)
    assume(not any(has_open_choices(one) for one in both))
    batches = []
    for one in both:
        model = compile_network(one)
        if stochastic:
            batches.append(stochastic_walks(model, seeds(3), FOREVER, steps))
        else:
            batches.append(accelerated_walks(model, seeds(3), np.arange(3) * 5 % 11, FOREVER, steps))
    for name in RECORDED:
        np.testing.assert_array_equal(getattr(batches[0], name), getattr(batches[1], name), err_msg=name)


@examples(40)
@given(network=networks(prepared=False))
def test_accelerated_walks_are_the_same(folder, network):
    walks_are_the_same(network, folder, steps=40, stochastic=False)


@examples(25)
@given(network=networks(handshakes=False, prepared=False))
def test_stochastic_walks_are_the_same(folder, network):
    walks_are_the_same(network, folder, steps=40, stochastic=True)


@pytest.mark.slow
@examples(1500)
@given(network=networks(prepared=False))
def test_accelerated_walks_of_thousands_of_networks_are_the_same(folder, network):
    walks_are_the_same(network, folder, steps=150, stochastic=False)
