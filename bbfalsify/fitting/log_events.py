"""Sessions of a log of use and their events, in little memory: logs have millions of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, MutableSequence, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, overload


class Instant(NamedTuple):
    """A time as a quotient of whole numbers, not reduced: millions of them are read and subtracted."""

    ticks: int
    scale: int

    def __lt__(self, other: tuple[int, ...]) -> bool:
        ticks, scale = other
        return self.ticks < ticks if self.scale == scale else self.ticks * scale < ticks * self.scale

    def after(self, earlier: Instant) -> Instant:
        """The delay since an earlier time, exactly; dividing its parts gives the nearest float."""
        if self.scale == earlier.scale:
            return Instant(self.ticks - earlier.ticks, self.scale)
        return Instant(self.ticks * earlier.scale - earlier.ticks * self.scale, self.scale * earlier.scale)

    @property
    def exact(self) -> Fraction:
        return Fraction(self.ticks, self.scale)


class LogEvent(NamedTuple):
    instant: Instant
    action: str
    line: int

    @property
    def time(self) -> Fraction:
        return self.instant.exact


class LogEvents(Sequence[LogEvent]):
    """Events in columns, a few bytes each; whole numbers beyond 64 bits are kept as Python has them."""

    def __init__(self) -> None:
        self._ticks: MutableSequence[int] = array("q")
        self._scales: MutableSequence[int] = array("q")
        self._actions: list[str] = []
        self._lines = array("q")

    def add(self, instant: Instant, action: str, line: int) -> None:
        try:
            self._ticks.append(instant.ticks)
        except OverflowError:
            self._ticks = [*self._ticks, instant.ticks]
        try:
            self._scales.append(instant.scale)
        except OverflowError:
            self._scales = [*self._scales, instant.scale]
        self._actions.append(action)
        self._lines.append(line)

    def __len__(self) -> int:
        return len(self._actions)

    def __iter__(self) -> Iterator[LogEvent]:
        instants = map(Instant, self._ticks, self._scales)
        return map(LogEvent, instants, self._actions, self._lines)

    @overload
    def __getitem__(self, place: int) -> LogEvent: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[LogEvent]: ...

    def __getitem__(self, place: int | slice) -> LogEvent | Sequence[LogEvent]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        return LogEvent(Instant(self._ticks[place], self._scales[place]), self._actions[place], self._lines[place])


@dataclass
class LogSession:
    file: str
    name: str
    """Empty if the file has no such column."""
    start: Fraction | None
    """None if the delay of the first action is unknown."""
    end: Fraction
    """End of the observation."""
    events: Sequence[LogEvent] = ()

    def __str__(self) -> str:
        return f"session '{self.name}' of {self.file}" if self.name else self.file


@dataclass(frozen=True)
class Log:
    sessions: tuple[LogSession, ...]

    @property
    def events(self) -> int:
        return sum(len(s.events) for s in self.sessions)

    @property
    def actions(self) -> tuple[str, ...]:
        """In the order of first appearance."""
        return tuple(dict.fromkeys(e.action for s in self.sessions for e in s.events))
