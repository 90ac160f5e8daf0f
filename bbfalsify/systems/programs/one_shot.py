"""Use a program as a black box that is started for each simulation: it reads its input, writes its output and ends.

    ProgramSystem(["./simulate", "{input}", "--result", "{output}"], inputs={"heat": "1"}, outputs={"T": "degC"})
    ProgramSystem("python3 {here}/simulate.py --seed {seed}", folder=HERE, inputs=["u"], outputs=["y"])

Where the command has {input}, that is a file with the input signals; otherwise they come on standard input.  Where it
has {output}, that is the file to write; otherwise standard output is read.  Each run has a temporary folder of its own,
in which it is started and which is removed afterwards.

Parameters stand in the command by their names, and in JSON input under "parameters":

    ProgramSystem("./cart --mass {mass}", inputs=["force"], outputs=["x"], parameters={"mass": 1.0})
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Unpack

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.trace import Stimulus
from bbfalsify.systems.failures import MalformedAnswer, SystemDied
from bbfalsify.systems.interface import Capabilities, NothingToClose, PortsLike, Usage, as_ports
from bbfalsify.systems.parameters import ParametersLike, Values, as_parameters, completed
from bbfalsify.systems.programs.child import Child
from bbfalsify.systems.programs.launching import LaunchOptions, launch_and_rest
from bbfalsify.systems.programs.line_protocol import portable_seed
from bbfalsify.systems.signal_files import FORMATS, RESAMPLING, read_outputs, write_inputs
from bbfalsify.systems.temporary import remove_left_behind, temporary

Format = Literal["csv", "json"]
_PLACEHOLDERS = ("input", "output", "folder", "here", "seed", "duration")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class ProgramOptions(LaunchOptions, total=False):
    """Keywords for a program that is started for each simulation; defaults in parentheses."""

    input_format: Format
    """Format of its input (csv)."""
    output_format: Format
    """Format of its output (csv)."""
    input_file: str | None
    """Name of its input file, where that is fixed."""
    output_file: str | None
    """Name of its output file, where that is fixed."""
    resample: Literal["hold", "linear"] | None
    """How to resample the outputs of a program that writes at times of its own (none: its times must be ours)."""
    time_limit_s: float | None
    """Limit of one simulation (none; the run's limit per simulation holds in any case)."""
    parameters: ParametersLike | None
    """Its parameters with their defaults (none); {name} in the command is the value."""


class ProgramSystem:
    """A program that is started for each simulation."""

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        inputs: PortsLike,
        outputs: PortsLike,
        capabilities: Capabilities | None = None,
        name: str | None = None,
        **options: Unpack[ProgramOptions],
    ) -> None:
        self.launch, own = launch_and_rest(command, {**options}, ProgramOptions)
        input_format, output_format = own.get("input_format", "csv"), own.get("output_format", "csv")
        resample, time_limit_s = own.get("resample"), own.get("time_limit_s")
        words = self.launch.command
        self.inputs, self.outputs = as_ports(inputs), as_ports(outputs)
        self.name = name or Path(words[0]).name
        self.parameters = as_parameters(own.get("parameters"), self.name)
        used = {found for word in words for found in _PLACEHOLDER.findall(word)}
        known = (*_PLACEHOLDERS, *self.parameters)
        problems = [unknown_name("placeholder", n, known) for n in sorted(used.difference(known))]
        problems += self._parameter_problems(used, input_format)
        problems += [unknown_name("format", f, FORMATS) for f in (input_format, output_format) if f not in FORMATS]
        if resample not in (None, *RESAMPLING):
            problems.append(unknown_name("way to resample", str(resample), RESAMPLING))
        if time_limit_s is not None and not time_limit_s > 0:
            problems.append(Problem(f"time_limit_s is {time_limit_s:g}; it must be more than 0."))
        if not self.outputs:
            problems.append(Problem(f"the program '{self.name}' declares no output, so nothing could be judged."))
        if problems:
            raise UserError(problems)
        here = str((self.launch.folder or Path.cwd()).resolve())
        self.launch = replace(self.launch, command=tuple(word.replace("{here}", here) for word in words))
        self.capabilities = capabilities or Capabilities(seedable="seed" in used)
        self.formats = input_format, output_format
        # None: standard input, standard output.
        self.input_file = own.get("input_file") or (f"input.{input_format}" if "input" in used else None)
        self.output_file = own.get("output_file") or (f"output.{output_format}" if "output" in used else None)
        self.resample, self.time_limit_s = resample, time_limit_s

    def _parameter_problems(self, used: set[str], input_format: str) -> Iterator[Problem]:
        for name in self.parameters:
            if name in _PLACEHOLDERS:
                yield Problem(f"the parameter '{name}' has the name of a placeholder.", allowed=("any other name",))
            elif name not in used and input_format != "json":
                yield Problem(f"the parameter '{name}' does not reach the program: write {{{name}}} in the command.")

    def prepare(self) -> None:
        if problems := self.launch.problems():
            raise UserError(problems)
        remove_left_behind()

    def open(self, seed: int, parameters: Values | None = None) -> ProgramSession:
        return ProgramSession(self, portable_seed(seed), parameters or {})


class ProgramSession(NothingToClose):
    def __init__(self, system: ProgramSystem, seed: int, parameters: Values) -> None:
        self._system, self._seed = system, seed
        self._values = completed(parameters, system.parameters)
        self.usage = Usage()

    def execute(self, stimulus: Stimulus) -> Mapping[str, Any]:
        with temporary("program") as folder:
            return self._execute(stimulus, folder)

    def _execute(self, stimulus: Stimulus, folder: Path) -> Mapping[str, Any]:
        system = self._system
        data = write_inputs(system.formats[0], replace(stimulus, parameters=self._values), self._seed)
        if system.input_file is not None:
            (folder / system.input_file).write_bytes(data)
            data = b""
        child = Child(system.launch, command=self._command(stimulus, folder), folder=folder)
        try:
            answer = child.run_to_end(data, system.time_limit_s, keep_output=system.output_file is None)
        finally:
            child.end()
            self.usage = Usage(child.cpu_seconds_total, child.memory_peak_mb)
        if child.code != 0:
            raise SystemDied(child.how_it_ended())
        if system.output_file is not None:
            answer = self._file(folder / system.output_file)
        try:
            return read_outputs(system.formats[1], answer, system.outputs, stimulus, system.resample)
        except MalformedAnswer as failure:
            raise MalformedAnswer(child.redact(str(failure))) from None

    def _command(self, stimulus: Stimulus, folder: Path) -> list[str]:
        values = {
            "input": str(folder / (self._system.input_file or "")),
            "output": str(folder / (self._system.output_file or "")),
            "folder": str(folder),
            "seed": str(self._seed),
            "duration": repr(stimulus.duration),
            **{name: repr(self._number(name)) for name in self._values},
        }
        return [_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in self._system.launch.command]

    def _number(self, name: str) -> float:
        return int(self._values[name]) if self._system.parameters[name].whole else float(self._values[name])

    def _file(self, file: Path) -> bytes:
        """Read the file that the program wrote: an ordinary one within the limit, whatever its name leads to."""
        limit = self._system.launch.output_limit_bytes
        try:
            with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as opened:  # a pipe must not keep us waiting
                if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                    raise MalformedAnswer(f"its file '{file.name}' is a device, a pipe or a folder, no ordinary file")
                data = opened.read(limit + 1)
        except OSError as error:
            raise MalformedAnswer(f"it wrote no file '{file.name}' ({error.strerror})") from None
        if len(data) > limit:
            raise MalformedAnswer(f"its file '{file.name}' is longer than {limit / 2**20:g} MB")
        return data
