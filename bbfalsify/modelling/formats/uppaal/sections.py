"""Split declarations and the system part into sections.

    Section("declarations", …)   variables, channels, typedefs and functions, as the modelling language reads them
    Section("instance", …)       Fast(int[0,3] i) = Train(i, 10)
    Section("system", …)         the names after `system`, with their separators
    Section("priority", …)       a, b < default < c
    Section("IO", …)             IO P {a, b}: the channels of a process that synchronises without ! and ?
    Section("process", …)        of an .xta file; the scanner stops before its name

Other sections of UPPAAL either have no effect on a walk (noted) or are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bbfalsify.core.errors import Place, Problem
from bbfalsify.modelling.formats.uppaal.scanner import CLOSING, OPENING, Scanner, Token, joined, split
from bbfalsify.modelling.language.model_text import InstanceText, ModelText
from bbfalsify.records.documents import Text

_WITHOUT_EFFECT = {
    "progress": "progress measures steer another tool's search; they are left out.",
    "gantt": "the Gantt chart is left out.",
    "string": "constants of type string are left out; only functions of external libraries take them.",
}
_AROUND = ("before_update", "after_update")
_REFUSED = {
    "dynamic": "dynamic templates are not supported; declare as many instances as can live at once, with a location "
    "in which they wait to be spawned.",
    "import": "functions of external libraries are not supported; write them in the model's own language.",
}


@dataclass
class Section:
    kind: str
    text: Text


def sections(scanner: Scanner, problems: list[Problem], notes: list[Problem]) -> Iterator[Section]:
    first: int | None = None  # of the declarations that have not been handed over

    def declarations() -> Iterator[Section]:
        nonlocal first
        if first is not None:
            text = scanner.text(first, begin)
            first = None
            yield Section("declarations", text)

    while not scanner.at_end:
        begin = scanner.position
        word = scanner.current
        special = _special(scanner)
        if special is None:
            first = begin if first is None else first
            _skip_declaration(scanner)
            continue
        yield from declarations()
        place = scanner.place_of(word)
        if special == "process":
            scanner.take()
            yield Section("process", Text("", place))
        elif special == "IO":
            scanner.skip_to("{")
            scanner.accept("{")
            scanner.skip_to("}")
            scanner.take()
            yield Section(special, scanner.text(begin, scanner.position))
        elif special in ("instance", "system"):
            text = scanner.until(";") or Text("", place)
            scanner.accept(";")
            yield Section(special, text)
        elif special in _AROUND:
            yield Section("declarations", _function(scanner))
        elif special == "priority":
            scanner.take()
            scanner.take()
            text = scanner.until(";") or Text("", place)
            scanner.accept(";")
            yield Section(special, text)
        else:
            _skip_special(scanner, special)
            if special in _WITHOUT_EFFECT:
                notes.append(place.problem(_WITHOUT_EFFECT[special]))
            else:
                problems.append(place.problem(_REFUSED[special]))
    begin = scanner.position
    yield from declarations()


def _special(scanner: Scanner) -> str | None:
    """The kind of section that begins here; None for a declaration of the modelling language."""
    word, second = scanner.current, scanner.ahead()
    if word.kind != "word":
        return None
    if word.text in ("process", "system"):
        return word.text
    if word.text == "chan" and second.text == "priority":
        return "priority"
    if word.text == "const" and second.text == "string":
        return "string"
    if word.text in (*_WITHOUT_EFFECT, *_AROUND) and second.text == "{":
        return word.text
    if word.text in ("dynamic", "import") or (word.text == "IO" and second.kind == "word"):
        return word.text
    return "instance" if second.text in ("=", ":=", "(") else None


def _skip_declaration(scanner: Scanner) -> None:
    """Skip one declaration, up to its semicolon or to the end of a function's body."""
    previous: Token | None = None
    while not scanner.at_end:
        token = scanner.current
        if token.text == ";":
            scanner.take()
            return
        scanner.take()
        if token.text in tuple(OPENING):
            is_body = token.text == "{" and previous is not None and previous.text == ")"
            scanner.skip_to(CLOSING[OPENING.index(token.text)])
            token = scanner.take()
            if is_body:
                return
        previous = token


def _function(scanner: Scanner) -> Text:
    """Read `before_update { n = 0, m++ }`, as older versions write it, as a function."""
    word = scanner.take()
    scanner.accept("{")
    body = scanner.until("}")
    scanner.take()
    parts = [] if body is None else [Text(f"{part.text};", part.place) for part in split(body, ",", ";")]
    written = joined([Text(f"void {word.text}() {{", scanner.place_of(word)), *parts], " ")
    return Text(f"{written.text} }}", written.place)


def _skip_special(scanner: Scanner, word: str) -> None:
    if word in ("dynamic", "import", "string"):
        scanner.skip_to(";", "}")
    else:
        scanner.skip_to("{")
        scanner.accept("{")
        scanner.skip_to("}")
    scanner.take()
    if word == "import":
        scanner.accept(";")


def add_section(model: ModelText, section: Section, problems: list[Problem]) -> None:
    """Add a section to the model."""
    if section.kind == "declarations":
        model.declarations.append(modern_declarations(section.text))
    elif section.kind == "instance":
        model.definitions.append(modern_instance(section.text))
    elif section.kind == "priority":
        if model.channel_priorities is not None:
            problems.append(section.text.place.problem("there are two declarations of channel priorities."))
        model.channel_priorities = section.text
    elif section.kind == "IO":
        scanner = Scanner(section.text)
        scanner.take()
        process = scanner.until("{")
        scanner.accept("{")
        channels = scanner.until("}")
        if process is not None:
            model.alphabets.append((process.text, channels or Text("", section.text.place)))
    elif section.kind == "system":
        _add_system(model, section.text, problems)


def _add_system(model: ModelText, text: Text, problems: list[Problem]) -> None:
    scanner = Scanner(text)
    scanner.take()
    names = scanner.until(";")
    if model.system is not None:
        problems.append(text.place.problem("there are two 'system' lines."))
        return
    model.system = []
    if names is None:
        problems.append(text.place.problem("'system' names no process."))
        return
    levels = split(names, "<")
    if len(levels) > 1:
        model.process_priorities = names
    model.system += [InstanceText(name) for level in levels for name in split(level, ",")]


def modern_instance(text: Text) -> Text:
    """Rewrite `A = P` without brackets, and parameters in the old style."""
    scanner = Scanner(text)
    scanner.take()
    parts = [scanner.text(0, 1)]
    if scanner.accept("("):
        parameters = modern_parameters(scanner.until(")"))
        scanner.accept(")")
        parts.append(Text(f"({'' if parameters is None else parameters.text})", text.place))
    rest = scanner.text(scanner.position, len(scanner.tokens) - 1)
    bare = rest.text if rest.text.rstrip().endswith(")") else rest.text.rstrip() + "()"
    head = "".join(part.text for part in parts)
    lines_between = (rest.place.line or 0) - (text.place.line or 0) - head.count("\n")
    return Text(head + "\n" * max(lines_between, 0) + " " + bare, text.place)


def modern_parameters(text: Text | None) -> Text | None:
    """Rewrite parameters of old models, with semicolons and `const n` for an integer."""
    if text is None:
        return None
    parts = split(text, ",", ";")
    modern: list[Text] = []
    for part in parts:
        tokens = Scanner(part).tokens
        if [token.kind for token in tokens] == ["word", "word", "end"] and tokens[0].text == "const":
            part = Text(f"const int {tokens[1].text}", part.place)
        modern.append(part)
    return joined(modern, ", ") if modern else text


def own_declarations(text: Text | None, owner: str, model: ModelText, problems: list[Problem]) -> list[Text]:
    """The declarations of a template or process, which has no other sections."""
    found = []
    for section in () if text is None else sections(Scanner(text), problems, model.notes):
        if section.kind == "declarations":
            found.append(modern_declarations(section.text))
        else:
            problems.append(section.text.place.problem(f"a {owner} has no {section.kind} of its own."))
    return found


def check_system(model: ModelText, place: Place, problems: list[Problem]) -> None:
    if model.system is None:
        problems.append(place.problem("the line 'system …;' is missing: it names the processes of the model."))


def modern_declarations(text: Text) -> Text:
    """Rewrite `const N 5, M 7;` of old models as `const int N = 5, M = 7;`."""
    if "const" not in text.text:
        return text
    scanner = Scanner(text)
    result, copied = "", 0
    while not scanner.at_end:
        word, name, value = scanner.current, scanner.ahead(), scanner.ahead(2)
        old = word.text == "const" and name.kind == "word" and (value.kind == "number" or value.text == "-")
        scanner.take()
        if not old:
            continue
        result += text.text[copied : word.end] + " int"
        copied = word.end
        while scanner.current.kind == "word":
            name = scanner.take()
            result += text.text[copied : name.end] + " ="
            copied = name.end
            scanner.skip_to(",", ";")
            if not scanner.accept(","):
                break
    return Text(result + text.text[copied:], text.place)
