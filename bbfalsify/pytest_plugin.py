"""The pytest plugin: campaign files are tests, and fixtures assert requirements.

Files named `*.campaign.yaml` (or as the ini option `bbfalsify_campaigns` says) are collected: each requirement of each
run is a test, which fails where the outcome is not the expected one.  In tests written in Python:

    def test_heater(assert_not_falsified):
        assert_not_falsified("adapters/heater", "profiles/heater_user.yaml", "always[0:20](T <= 80)", horizon=20)

    def test_server(assert_satisfied):
        assert_satisfied("adapters/smtp", "G(in == quit -> out =~ '221.*')", max_states=6)

This is loaded by every pytest where bbfalsify is installed, so nothing heavy is imported before it is needed.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from bbfalsify.campaigns import Campaign
    from bbfalsify.core.errors import UserError
    from bbfalsify.reporting.exports.cases import Case


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "bbfalsify_campaigns", "names of campaign files that are tests", type="args", default=["*.campaign.yaml"]
    )
    parser.addini("bbfalsify_runs", "folder for the run directories of campaign tests", default="runs")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    patterns = parent.config.getini("bbfalsify_campaigns")
    inside = file_path.relative_to(parent.config.rootpath) if parent.config.rootpath in file_path.parents else file_path
    if any(fnmatch.fnmatch(file_path.name, p) or fnmatch.fnmatch(inside.as_posix(), p) for p in patterns):
        return CampaignFile.from_parent(parent, path=file_path)
    return None


class CampaignFile(pytest.File):
    """A campaign; its runs are executed when the first of their requirements is tested.

    Collecting runs no code of the system: it is loaded with the first test.
    """

    _loaded: Campaign | UserError | None = None

    def collect(self) -> Iterator[pytest.Item]:
        from bbfalsify import load_campaign
        from bbfalsify.core.errors import UserError
        from bbfalsify.core.visible_text import visible

        try:
            campaign = load_campaign(self.path, declared_only=True)
        except UserError as error:
            raise self.CollectError("\n".join(visible(str(p)) for p in error.problems)) from None
        for place, plan in enumerate(campaign.runs):
            run = CampaignRun(self, place, self.config.rootpath / self.config.getini("bbfalsify_runs"))
            for number, planned in enumerate(plan.requirements):
                name = planned.requirement.id if len(campaign.runs) == 1 else f"{plan.name}: {planned.requirement.id}"
                yield RequirementItem.from_parent(self, name=name, run=run, number=number)

    def loaded(self) -> Campaign:
        """Return the campaign with its systems, which are loaded once."""
        from bbfalsify import load_campaign
        from bbfalsify.core.errors import UserError

        if self._loaded is None:
            try:
                self._loaded = load_campaign(self.path)
            except UserError as error:
                self._loaded = error
        if isinstance(self._loaded, UserError):
            raise self._loaded
        return self._loaded


class CampaignRun:
    """One run, executed once however many requirements it has."""

    def __init__(self, file: CampaignFile, place: int, out: Path) -> None:
        """`place`: the number of the run among those of the campaign."""
        self._file, self._place, self._out = file, place, out
        self._ended: Sequence[Case] | Exception | None = None
        self.report: Path | None = None

    def case(self, number: int) -> Case:
        if self._ended is None:
            try:
                self._ended = self._execute()
            except Exception as error:  # a run that cannot be made is not made again for its other requirements
                self._ended = error
        if isinstance(self._ended, Exception):
            raise self._ended
        return self._ended[number]

    def _execute(self) -> Sequence[Case]:
        from bbfalsify.campaigns.execute import run_one
        from bbfalsify.records.recording import Recording
        from bbfalsify.registry import ENGINES
        from bbfalsify.reporting.exports.cases import suite_of
        from bbfalsify.reporting.html import write_report

        campaign = self._file.loaded()
        results = run_one(campaign.runs[self._place], campaign, Recording(self._out)).results
        self.report = write_report(results["run_directory"], ENGINES)
        return suite_of(results, campaign=campaign.file).cases


class NotAsExpected(Exception):
    """The outcome of a requirement is news."""

    def __init__(self, case: Case, report: Path | None) -> None:
        super().__init__(case.summary)
        self.text = "\n".join([*case.lines, *([f"report: {report}"] if report is not None else [])])


class RequirementItem(pytest.Item):
    def __init__(self, *, run: CampaignRun, number: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._run, self._number = run, number

    def runtest(self) -> None:
        case = self._run.case(self._number)
        if case.status != "passed":
            raise NotAsExpected(case, self._run.report)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Text for a user of a campaign: no traceback of ours."""
        from bbfalsify.core.errors import SystemFailure, UserError
        from bbfalsify.core.visible_text import visible

        error = excinfo.value
        if isinstance(error, NotAsExpected):
            return error.text
        if isinstance(error, UserError):
            return "\n".join(visible(str(problem)) for problem in error.problems)
        if isinstance(error, SystemFailure):
            return visible(str(error))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


@pytest.fixture
def assert_not_falsified(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function that fails the test where a use violates a requirement; what `falsify` takes, it takes, too.

    System and profile are objects, or the names of files, relative to where pytest was started.
    """

    def look(system: Any, profile: Any, require: Any, *, horizon: float, seed: int = 0, **options: Any) -> Any:
        from bbfalsify import Options, Requirement, falsify, load_profile, parse_stl
        from bbfalsify.reporting.exports.cases import suite_of

        base = request.config.invocation_params.dir
        formulas = [require] if isinstance(require, str | Requirement) else list(require)
        requirements = [
            Requirement(f"R{number}", "", parse_stl(formula)) if isinstance(formula, str) else formula
            for number, formula in enumerate(formulas, start=1)
        ]
        settings = {key: options.pop(key) for key in list(options) if key in Options.__dataclass_fields__}
        if settings:
            options["options"] = Options(**settings)
        options.setdefault("out", tmp_path)
        result = falsify(
            _loaded(system, base),
            load_profile(base / profile) if isinstance(profile, str | Path) else profile,
            requirements,
            horizon=horizon,
            seed=seed,
            **options,
        )
        _assert_passed(suite_of(result.as_json()).cases)
        return result

    return look


@pytest.fixture
def assert_satisfied(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function that fails the test unless a system that answers symbols satisfies requirements up to a bound."""

    def look(system: Any, require: Any, *, seed: int = 0, **options: Any) -> Any:
        from bbfalsify import check
        from bbfalsify.reporting.exports.cases import suite_of

        options.setdefault("out", tmp_path)
        result = check(_loaded(system, request.config.invocation_params.dir), require, seed=seed, **options)
        _assert_passed(suite_of(result.as_json()).cases)
        return result

    return look


def _loaded(system: Any, base: Path) -> Any:
    """The system itself, or the one that a name refers to."""
    from bbfalsify import load_system

    return load_system(str(system), base=base) if isinstance(system, str | Path) else system


def _assert_passed(cases: Sequence[Case]) -> None:
    __tracebackhide__ = True
    bad = [case for case in cases if case.status != "passed"]
    if bad:
        pytest.fail("\n".join(line for case in bad for line in case.lines), pytrace=False)
