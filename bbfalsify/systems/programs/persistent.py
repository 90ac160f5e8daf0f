"""Use a program that stays alive as a black box: `ProcessSystem` answers signals, `ProcessSymbolSystem` symbols.

    ProcessSystem(["./simulator", "--fast"])                     # its hello says ports and abilities
    ProcessSystem("octave-cli --quiet house.m", inputs={"T_out": "degC"}, outputs={"T": "degC"})
    load_system("cmd:./simulator --fast")                        # either kind, as its hello says

Each worker has its own process of the program, which serves one simulation after the other.  When it fails it is ended,
and the next simulation gets a new one.  A program without declared ports is started once to ask for them; declare the
ports where starting is slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, Unpack

from bbfalsify.core.errors import UserError
from bbfalsify.core.redaction import without_secrets
from bbfalsify.core.trace import Stimulus
from bbfalsify.systems.failures import MalformedAnswer
from bbfalsify.systems.interface import Capabilities, Port, PortsLike, StepwiseSession, Usage, as_ports
from bbfalsify.systems.parameters import ParameterInfo, ParametersLike, Values, as_parameters
from bbfalsify.systems.programs.conversation import Conversation
from bbfalsify.systems.programs.launching import LaunchOptions, launch_and_rest
from bbfalsify.systems.programs.line_protocol import Hello, whole_signal, with_values


class ProcessOptions(LaunchOptions, total=False):
    """Keywords for a program that stays alive, which runs in its folder; defaults in parentheses."""

    start_limit_s: float
    """Limit until its hello (60)."""
    time_limit_s: float | None
    """Limit of one answer: a whole run, or one step (none; the run's limit per simulation holds in any case)."""
    close_limit_s: float
    """Time to end by itself before it is killed (1; at the end of a run at most 2)."""
    restart_every: int | None
    """Simulations after which the process is replaced; 1 for a program that cannot reset itself (none)."""


def _connect(command: str | Sequence[str], options: ProcessOptions) -> Conversation:
    launch, own = launch_and_rest(command, {**options}, ProcessOptions)
    return Conversation(launch, **own)


class _Program:
    """Common base of both kinds of systems."""

    def __init__(self, conversation: Conversation, description: Hello | None, name: str | None) -> None:
        self.conversation = conversation
        self._name = name
        if description is not None:
            conversation.description = description

    @property
    def name(self) -> str:
        return self._name if self._name is not None else self.conversation.describe().name

    @property
    def capabilities(self) -> Capabilities:
        return self.conversation.describe().capabilities

    @property
    def parameters(self) -> Mapping[str, ParameterInfo]:
        return self.conversation.describe().parameters

    def prepare(self) -> None:
        self.conversation.start()

    def close(self) -> None:
        self.conversation.close()


class ProcessSystem(_Program):
    """A program that stays alive and takes whole signals, or goes step by step."""

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        inputs: PortsLike | None = None,
        outputs: PortsLike | None = None,
        capabilities: Capabilities | None = None,
        name: str | None = None,
        parameters: ParametersLike | None = None,
        **options: Unpack[ProcessOptions],
    ) -> None:
        """Declare inputs, outputs, capabilities and parameters, or none of them: then the program's hello says them."""
        conversation = _connect(command, options)
        if (inputs is None) != (outputs is None) or (inputs is None and (capabilities or parameters) is not None):
            raise UserError("say both the inputs and the outputs of a program, or neither.")
        description = None
        if inputs is not None and outputs is not None:
            shown = name or Path(conversation.launch.command[0]).name
            description = Hello(
                shown,
                as_ports(inputs),
                as_ports(outputs),
                capabilities=capabilities or Capabilities(),
                parameters=as_parameters(parameters, shown),
            )
        super().__init__(conversation, description, name)

    @property
    def inputs(self) -> tuple[Port, ...]:
        return self.conversation.describe().inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        return self.conversation.describe().outputs

    def open(self, seed: int, parameters: Values | None = None) -> ProcessSession:
        return ProcessSession(self.conversation, seed, parameters)


class ProcessSymbolSystem(_Program):
    """A program that stays alive and answers each input symbol with an output symbol."""

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        alphabet: Sequence[str] | None = None,
        capabilities: Capabilities | None = None,
        name: str | None = None,
        **options: Unpack[ProcessOptions],
    ) -> None:
        conversation = _connect(command, options)
        description = None
        if alphabet is not None:
            shown = name or Path(conversation.launch.command[0]).name
            abilities = capabilities or Capabilities(stepwise=True)
            description = Hello(shown, alphabet=tuple(alphabet), capabilities=abilities)
        super().__init__(conversation, description, name)

    @property
    def alphabet(self) -> tuple[str, ...]:
        alphabet = self.conversation.describe().alphabet
        if alphabet is None:
            raise UserError(f"the program '{self.name}' answers signals, not symbols: it is a ProcessSystem.")
        return alphabet

    def open(self, seed: int, parameters: Values | None = None) -> ProcessSymbolSession:
        return ProcessSymbolSession(self.conversation, seed, parameters)


def program_system(
    command: str | Sequence[str], **options: Unpack[ProcessOptions]
) -> ProcessSystem | ProcessSymbolSystem:
    """Start the program once, and return the kind of system that its hello describes."""
    system = ProcessSystem(command, **options)
    if system.conversation.describe().alphabet is None:
        return system
    symbols = ProcessSymbolSystem(command, **options)
    symbols.conversation.description = system.conversation.description
    return symbols


class _ProcessSession:
    """One use of the process from reset to close; the process stays for the next session."""

    _measures_memory = False

    def __init__(self, conversation: Conversation, seed: int, parameters: Values | None = None) -> None:
        self._conversation, self._seed, self._values = conversation, seed, dict(parameters or {})
        self.usage = Usage()

    def __enter__(self) -> Self:
        self._conversation.begin()
        return self

    def __exit__(self, *exception: Any) -> None:
        try:
            if exception[0] is None:
                self._conversation.check_memory()
        finally:
            self.usage = self._conversation.finish(memory=self._measures_memory)


class ProcessSession(_ProcessSession, StepwiseSession):
    _measures_memory = True

    def __init__(self, conversation: Conversation, seed: int, parameters: Values | None = None) -> None:
        super().__init__(conversation, seed, parameters)
        self._outputs: Mapping[str, float] | None = None

    def execute(self, stimulus: Stimulus) -> Mapping[str, Any]:
        if not self._conversation.runs:
            return super().execute(stimulus)
        stimulus = replace(stimulus, parameters=self._values)
        return _outputs(self._conversation.request("run", whole_signal(stimulus, self._seed)))

    def observe(self) -> Mapping[str, float]:
        if self._outputs is None:
            self._outputs = _numbers(self._conversation.request("reset", with_values(self._seed, self._values)))
        return self._outputs

    def step(self, inputs: Mapping[str, float], duration_s: float) -> None:
        if self._outputs is None:
            self.observe()
        self._outputs = _numbers(self._conversation.step(inputs, duration_s))


class ProcessSymbolSession(_ProcessSession):
    def __enter__(self) -> Self:
        super().__enter__()
        try:
            self._conversation.request("reset", with_values(self._seed, self._values))
        except BaseException:
            self._conversation.finish(memory=False)
            raise
        return self

    def step(self, symbol: str) -> str:
        answer = self._conversation.request("step", {"symbol": symbol})
        if "symbol" not in answer:
            raise MalformedAnswer(f"its answer to the symbol '{symbol}' has no 'symbol'")
        return answer["symbol"]


def _outputs(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    outputs = answer.get("outputs")
    if not isinstance(outputs, Mapping):
        raise MalformedAnswer("its answer has no 'outputs' that map names to values")
    return outputs


def _numbers(answer: Mapping[str, Any]) -> Mapping[str, float]:
    outputs = answer.get("outputs")
    if type(outputs) is not dict:
        return _outputs(answer)
    for name, value in outputs.items():
        if type(value) is not float and type(value) is not int:
            raise MalformedAnswer(f"output '{name}': expected a number, got {without_secrets(repr(value)):.80}")
    return outputs
