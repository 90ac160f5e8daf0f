"""Start a program: its command, folder, environment, secrets and limits.

A command is a list of words, or a text that is split as a shell would split it; a shell itself is never involved.
Secrets are given by name: `secrets=("API_TOKEN",)` passes that variable on to the program and keeps its value out of
everything that is logged, recorded or shown.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.redaction import Redactor, keep_secret, too_short
from bbfalsify.systems.programs.sandbox import MEMORY_MB, SANDBOXES, Sandbox, sandbox_problems, sandbox_words

MARK = "BBFALSIFY_PROGRAM"
"""All processes that a program starts inherit this variable, so that those it leaves behind can be recognised."""


@dataclass(frozen=True)
class Launch:
    """The settings of starting a program, the same for all simulations."""

    command: tuple[str, ...]
    folder: Path | None = None
    """Folder in which it runs and to which its path is relative; None: the current one."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables to set, in addition to our own."""
    secrets: tuple[str, ...] = ()
    """Names of variables whose values must not appear anywhere."""
    memory_mb: float | None = None
    output_limit_mb: float = 64.0
    """Limit of one answer, and of its other output that is kept."""
    sandbox: Sandbox | None = None
    """Isolation of the program; None: none but a process of its own."""

    @property
    def output_limit_bytes(self) -> int:
        return int(self.output_limit_mb * 2**20)

    def problems(self) -> list[Problem]:
        """Find the reasons why it cannot be started."""
        if os.name != "posix":
            return [Problem("programs can be used as systems on Linux and macOS only.")]
        found = []
        if self.folder is not None and not self.folder.is_dir():
            found.append(Problem(f"there is no folder '{self.folder}' to run the program in."))
        elif self.executable() is None:
            found.append(self._not_found())
        if self.sandbox is not None:
            found += sandbox_problems()
        known = dict(self.environment) | os.environ
        for name in self.secrets:
            if problem := secret_problem(name, known):
                found.append(problem)
        return found

    def executable(self) -> str | None:
        """The program's file; a bare name is looked up in PATH, a path is relative to the folder."""
        program = self.command[0]
        if "/" in program:
            program = str((self.folder or Path.cwd()) / program)
        return shutil.which(program, path=dict(self.environment).get("PATH"))

    def _not_found(self) -> Problem:
        program = self.command[0]
        if "/" not in program:
            return Problem(f"there is no program '{program}' in PATH.")
        file = (self.folder or Path.cwd()) / program
        if file.is_file():
            return Problem(f"'{file}' is not executable (chmod +x makes it so).")
        others = [p.name for p in file.parent.glob("*") if p.is_file()] if file.parent.is_dir() else []
        return Problem(f"there is no program '{file}'.", closest=unknown_name("file", file.name, others).closest)

    def start(self, command: Sequence[str] | None = None, folder: Path | None = None) -> tuple[subprocess.Popen, str]:
        """Start the process in a session of its own; return it with its mark, or raise UserError."""
        if problems := self.problems():
            raise UserError(problems)
        mark = uuid.uuid4().hex
        words = [str(self.executable()), *(command or self.command)[1:]]
        try:
            process = subprocess.Popen(
                [*_die_with_us(), *self._isolating(words, folder), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=folder or self.folder,
                env={**os.environ, **dict(self.environment), MARK: mark},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise UserError(f"the program '{self.command[0]}' cannot be started: {error}.") from None
        return process, mark

    def _isolating(self, words: Sequence[str], folder: Path | None) -> list[str]:
        """Words before the command that isolate it, where that is wanted; `folder` is that of one simulation."""
        if self.sandbox is None:
            return []
        here = (self.folder or Path.cwd()).absolute()
        named = [Path(word) for word in words if word.startswith("/")]
        return sandbox_words(folder, [here, *(path.parent for path in named)], folder or here)

    def redactor(self) -> Redactor:
        return redactor_of(self.secrets, dict(self.environment) | os.environ)


def redactor_of(names: Iterable[str], variables: Mapping[str, str]) -> Redactor:
    """Register secrets, given by their names, with this process, and return a filter for streams."""
    values = [variables[name] for name in names if variables.get(name)]
    keep_secret(values)
    return Redactor(values)


def secret_problem(name: str, variables: Mapping[str, str]) -> Problem | None:
    """Tell what is wrong with an environment variable that is named as a secret."""
    if not variables.get(name):
        return Problem(f"the environment variable '{name}', named as a secret, is not set.")
    short = too_short(name, variables[name])
    return None if short is None else Problem(short)


def split_command(command: str | Sequence[str]) -> tuple[str, ...]:
    """Split a text as a shell does, without expanding anything."""
    if not isinstance(command, str):
        words = tuple(map(str, command))
    else:
        try:
            words = tuple(shlex.split(command))
        except ValueError as error:
            raise UserError(f'the command "{command}" cannot be split into words: {str(error).lower()}.') from None
    if not words or not words[0]:
        raise UserError("the command of the program is empty.")
    return words


class LaunchOptions(TypedDict, total=False):
    """Keywords for every kind of program; defaults in parentheses."""

    folder: str | Path | None
    """Folder to which the program's path is relative (the current one)."""
    environment: Mapping[str, str] | None
    """Variables to set, in addition to our own."""
    secrets: Iterable[str]
    """Names of environment variables whose values must not appear in logs and records."""
    memory_mb: float | None
    """A program that has more is ended (no limit)."""
    output_limit_mb: float
    """Limit of one answer, and of its standard error that is kept (64)."""
    sandbox: Sandbox | None
    """"bubblewrap" takes network, other processes and the right to write from it, and limits its memory (none)."""


def launch_and_rest(
    command: str | Sequence[str], options: Mapping[str, Any], known: type[LaunchOptions]
) -> tuple[Launch, dict[str, Any]]:
    """Make a launch of the options that concern it, and return the others; report all mistakes at once."""
    folder, environment, secrets = options.get("folder"), options.get("environment"), options.get("secrets", ())
    memory_mb, output_limit_mb = options.get("memory_mb"), options.get("output_limit_mb", 64.0)
    problems = [unknown_name("option", n, known.__annotations__) for n in options if n not in known.__annotations__]
    words: tuple[str, ...] = ()
    try:
        words = split_command(command)
    except UserError as error:
        problems += error.problems
    sandbox = options.get("sandbox")
    if sandbox not in (None, *SANDBOXES):
        problems.append(unknown_name("sandbox", str(sandbox), SANDBOXES))
    elif sandbox is not None and memory_mb is None:
        memory_mb = MEMORY_MB
    for name, value in (("memory_mb", memory_mb), ("output_limit_mb", output_limit_mb)):
        if value is not None and not value > 0:
            problems.append(Problem(f"{name} is {value}; it must be more than 0."))
    if problems:
        raise UserError(problems)
    variables = tuple((str(name), str(value)) for name, value in (environment or {}).items())
    names = (secrets,) if isinstance(secrets, str) else tuple(secrets)
    place = None if folder is None else Path(folder)
    launch = Launch(words, place, variables, names, memory_mb, output_limit_mb, sandbox)
    launch.redactor()  # from now on this process knows what to hide
    return launch, {name: value for name, value in options.items() if name not in LaunchOptions.__annotations__}


def _die_with_us() -> tuple[str, ...]:
    """Words before a command that have it killed when this process is, even by SIGKILL (on Linux).

    The request is bound to the *thread* that starts the program, so only the main thread may make it.
    """
    if not sys.platform.startswith("linux") or threading.current_thread() is not threading.main_thread():
        return ()
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()
