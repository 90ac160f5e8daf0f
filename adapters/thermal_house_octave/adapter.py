"""The thermal house, computed by GNU Octave: one Octave per worker, which answers one year after the other."""

from pathlib import Path

from bbfalsify.systems import ProcessSystem, octave_command

HERE = Path(__file__).parent

system = ProcessSystem(
    octave_command(HERE / "serve_house.m"),
    folder=HERE,
    name="thermal_house",
    inputs={"T_out": "degC"},
    outputs={"T": "degC"},
)
