"""Load the system that a reference (`references.py`) in a campaign file or on the command line names.

Errors inside an adapter are reported with the adapter's file and line.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from bbfalsify.automata.mealy import read_dot
from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.systems.interface import Capabilities, System
from bbfalsify.systems.parameters import Preset
from bbfalsify.systems.programs.persistent import program_system
from bbfalsify.systems.references import ENTRY_POINTS, FORMS, MODELS, Reference, resolve_reference
from bbfalsify.systems.symbols import AnySystem, MachineSystem, SymbolSystem, check_alphabet


@dataclass(frozen=True)
class Origin:
    """How to load a system again in a process that does not inherit it."""

    reference: str
    base: str

    def load(self) -> AnySystem:
        return load_system(self.reference, self.base)


_origins: dict[int, tuple[AnySystem, Origin]] = {}


def origin_of(system: object) -> Origin | None:
    """The origin of a system that `load_system` has loaded."""
    return _origins[id(system)][1] if id(system) in _origins else None


def load_system(reference: str, base: str | Path = ".") -> AnySystem:
    """Load the system a reference names; every mistake is a UserError that says what is available."""
    system = _load(reference, base)
    _origins[id(system)] = (system, Origin(reference, str(Path(base).resolve())))
    return system


def _load(reference: str, base: str | Path) -> AnySystem:
    found = resolve_reference(reference, base)
    if found.file is not None and found.file.suffix.lower() == ".fmu":
        from bbfalsify.systems.fmu import FmuSystem

        given = found.settings
        return FmuSystem(
            found.file, start_values=given.values, inputs=given.inputs, outputs=given.outputs, step=given.step
        )
    if found.environment is not None:
        from bbfalsify.systems.gym import GymSystem

        return GymSystem(found.environment, settings=found.settings.values)
    system, values = _without_settings(found), found.settings.numbers()
    return cast(AnySystem, Preset(system, values)) if values else system


def _without_settings(found: Reference) -> AnySystem:
    reference = found.text
    if found.command is not None:
        return _as_system(program_system(found.command, folder=found.folder), reference, None)
    if found.entry_point is not None:
        return _as_system(_load_entry_point(found.entry_point), reference, None)
    if found.file is not None:
        suffix = found.file.suffix.lower()
        if suffix == ".dot":
            return MachineSystem(read_dot(found.file))
        if found.is_service:
            from bbfalsify.systems.servers.http import load_http

            return _as_system(load_http(found.file), reference, None)
        if suffix in MODELS:
            from bbfalsify.modelling.profiles.black_box import load_black_box
            from bbfalsify.systems.simulated import model_system

            return model_system(load_black_box(found.file))
        module, shown = _import_file(found.file), str(found.file)
    else:
        assert found.module is not None
        module, shown = _import_module(found.module, reference), found.module
    target = _pick(module, shown) if found.attribute is None else _attribute(module, found.attribute, shown)
    return _as_system(target, reference, shown)


def _import_file(file: Path) -> ModuleType:
    """Import a file under a name of its own; its folder counts as a package, so it may import its neighbours."""
    name = f"bbfalsify_adapter_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=[str(file.parent)])
    assert spec is not None and spec.loader is not None  # it is a file of Python
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except (KeyboardInterrupt, UserError):  # UserError: an adapter that says itself what the user has to do
        del sys.modules[name]
        raise
    except BaseException as error:  # an adapter may raise anything, SystemExit included
        del sys.modules[name]
        raise UserError(_import_problem(error, str(file), "the adapter")) from None
    finally:
        sys.path.remove(str(file.parent))
    return module


def _import_module(name: str, reference: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            problem = Problem(f"no module '{error.name}' for the system '{reference}'.", allowed=FORMS)
            raise UserError(problem) from None
        raise UserError(_import_problem(error, None, f"the module '{name}'")) from None
    except BaseException as error:
        raise UserError(_import_problem(error, None, f"the module '{name}'")) from None


def _import_problem(error: BaseException, file: str | None, what: str) -> Problem:
    """Describe an exception by the last line of its traceback that belongs to the adapter."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return Problem(f"{what} is not valid Python: {error.msg}.", file=error.filename, line=error.lineno)
    ours = str(Path(__file__))
    frames = traceback.extract_tb(error.__traceback__)
    foreign = [f for f in frames if f.filename != ours and "importlib" not in f.filename]
    inside = [f for f in foreign if f.filename == file] or foreign
    place = inside[-1] if inside else None
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Problem(
        f"{what} failed while it was imported: {text}.",
        file=place.filename if place else file,
        line=place.lineno if place else None,
    )


def _load_entry_point(name: str) -> Any:
    [point, *_] = importlib.metadata.entry_points(group=ENTRY_POINTS, name=name)
    try:
        return point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        owner = point.dist.name if point.dist is not None else "an unknown package"
        raise UserError(_import_problem(error, None, f"the system '{name}' of the package '{owner}'")) from None


def _attribute(module: ModuleType, path: str, shown: str) -> Any:
    target: Any = module
    for part in path.split("."):
        if not hasattr(target, part):
            known = [name for name in vars(target) if not name.startswith("_")] if hasattr(target, "__dict__") else []
            raise UserError(unknown_name("name", part, known, file=shown))
        target = getattr(target, part)
    return target


def _pick(module: ModuleType, shown: str) -> Any:
    """Return `Adapter`, `system`, or the only system in the module."""
    if hasattr(module, "Adapter"):
        return module.Adapter
    if _looks_like_system(getattr(module, "system", None)):
        return module.system
    systems = {name: value for name, value in vars(module).items() if _looks_like_system(value)}
    if len(set(map(id, systems.values()))) == 1:
        return next(iter(systems.values()))
    if systems:
        raise UserError(Problem("several systems; name one of them after a colon.", file=shown, allowed=tuple(systems)))
    text = "no system in this file: define a class 'Adapter', or decorate a function with @system."
    raise UserError(Problem(text, file=shown))


def _looks_like_system(value: Any) -> bool:
    return not inspect.isclass(value) and isinstance(value, System | SymbolSystem)


def _as_system(target: Any, reference: str, file: str | None) -> AnySystem:
    """Return an instance that has all attributes of a system, or raise UserError with all that is missing."""
    if inspect.isclass(target):
        try:
            target = target()
        except Exception as error:
            raise UserError(
                Problem(f"the class '{target.__name__}' cannot be made without arguments: {error}.", file=file)
            ) from None
    speaks_symbols = hasattr(target, "alphabet")
    wanted = ("name", "alphabet") if speaks_symbols else ("name", "inputs", "outputs")
    missing = [name for name in (*wanted, "capabilities", "open") if not hasattr(target, name)]
    if missing and callable(target) and not hasattr(target, "open"):
        name = getattr(target, "__name__", "it")
        raise UserError(
            Problem(
                f"'{name}' is a plain function; say what its inputs and outputs are: "
                f"@system(inputs={{...}}, outputs={{...}}) from bbfalsify.systems.",
                file=file,
            )
        )
    problems = [Problem(f"the system '{reference}' has no '{name}'.", file=file) for name in missing]
    if not missing and not isinstance(target.capabilities, Capabilities):
        problems.append(Problem(f"the capabilities of '{reference}' are not a Capabilities(…).", file=file))
    if speaks_symbols and not missing:
        check_alphabet(target)
    for side in () if speaks_symbols else ("inputs", "outputs"):
        ports = getattr(target, side, ())
        if not isinstance(ports, tuple) or not all(hasattr(port, "name") and hasattr(port, "unit") for port in ports):
            hint = " A tuple of one needs a comma: (Port(…),)." if hasattr(ports, "name") else ""
            says = f"the {side} of '{reference}' are not a tuple of Port(name, unit).{hint}"
            problems.append(Problem(says, file=file))
    if problems:
        raise UserError(problems)
    return target
