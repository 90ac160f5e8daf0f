"""Directories of campaigns: one run has a run directory of its own, several have one of the campaign.

    runs/heater-2026-11-16-1/
        campaign.json           versions, platform, hashes of the inputs, which runs there are
        runs/0001/              run directories (records/run_directory.py), in the order of the campaign
        summary.json            the outcome of every run, when all are done

A campaign that was interrupted is continued in its directory: runs that are finished are not run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bbfalsify.campaigns.execute import origin_of
from bbfalsify.campaigns.plan import Campaign, RunPlan
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.modelling.formats.model_files import model_hash
from bbfalsify.records.json_files import read_json, write_json
from bbfalsify.records.locks import LockedFile
from bbfalsify.records.manifest import FORMAT_VERSION, versions
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.records.run_files import CAMPAIGN, EVENTS, MANIFEST
from bbfalsify.systems.references import resolve_reference

_NOT_DECISIVE = ("jobs", "executor", "executor_lost", "campaign")
"""Keys of a configuration that do not change results."""


class CampaignDirectory:
    """The directory of a campaign of several runs."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @staticmethod
    def create(out: Path, campaign: Campaign, runs: Sequence[Mapping[str, Any]]) -> CampaignDirectory:
        directory = CampaignDirectory(RunDirectory.new_folder(out, campaign.name))
        write_json(
            directory.path / CAMPAIGN,
            {
                "format_version": FORMAT_VERSION,
                "name": campaign.name,
                "campaign": origin_of(campaign),
                "versions": versions(),
                "platform": platform.platform(),
                "inputs": _input_hashes(campaign.runs),
                "runs": [
                    {
                        "name": plan.name,
                        "directory": str(directory.run(number).relative_to(directory.path)),
                        "varies": dict(plan.varies),
                        "sha256": _digest(configuration),
                    }
                    for number, (plan, configuration) in enumerate(zip(campaign.runs, runs, strict=True), start=1)
                ],
            },
        )
        return directory

    def run(self, number: int) -> Path:
        return self.path / "runs" / f"{number:04d}"

    def locked(self) -> LockedFile:
        """Keep other processes from running the same campaign here, as long as the lock is held."""
        return LockedFile(self.path / CAMPAIGN, os.O_RDONLY, "is running this campaign")

    def check_same(self, campaign: Campaign, runs: Sequence[Mapping[str, Any]]) -> None:
        """Refuse to continue a campaign that has changed since it was begun; all reasons at once."""
        file = str(self.path / CAMPAIGN)
        manifest = read_manifest(self.path)
        if manifest.get("format_version") != FORMAT_VERSION or "runs" not in manifest:
            what = f"a campaign of format {manifest.get('format_version')}; this version continues {FORMAT_VERSION}."
            raise UserError(Problem(what, file=file))
        reasons = []
        for name, before in manifest["versions"].items():
            if versions().get(name) != before:
                reasons.append(f"{name} was {before}, and is {versions().get(name, 'missing')} now")
        now = _input_hashes(campaign.runs)
        reasons += [f"{name} has changed" for name, sha in manifest["inputs"].items() if now.get(name) != sha]
        if [run["sha256"] for run in manifest["runs"]] != [_digest(configuration) for configuration in runs]:
            reasons.append(
                f"the campaign describes other runs than the {len(manifest['runs'])} that were begun "
                f"({len(campaign.runs)} now)"
            )
        if reasons:
            problems = [Problem(f"this campaign cannot be continued: {reason}.", file=file) for reason in reasons]
            raise UserError([*problems, Problem("Nothing was changed. Undo that to continue, or start a new one.")])


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a campaign or of a single run."""
    for name in (CAMPAIGN, MANIFEST):
        if (path / name).is_file():
            manifest = read_json(path / name)
            if isinstance(manifest, dict):
                return manifest
            raise UserError(Problem("not a manifest of bbfalsify.", file=str(path / name)))
    raise UserError(Problem(f"not a run directory (it has neither {CAMPAIGN} nor manifest.json).", file=str(path)))


def origin_in(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a manifest says about the campaign file; a single run has it in its configuration."""
    return manifest.get("campaign") or manifest.get("configuration", {}).get("campaign") or {}


def find_begun(out: Path, file: Path) -> Path | None:
    """Return the newest directory under `out` that was made from this campaign file, finished or not.

    Refuse to choose where a newer one has recorded something and its manifest is damaged: it may be the one meant.
    """
    wanted, found = str(file.resolve()), []
    damage: list[tuple[int, UserError]] = []
    for path in out.glob("*/"):
        try:
            manifest = read_manifest(path)
        except UserError as error:  # something else, or a run that was killed before it had begun
            damage += [(manifest.stat().st_mtime_ns, error) for manifest in _damaged_manifests(path, wanted)]
            continue
        if origin_in(manifest).get("file") == wanted:
            name = CAMPAIGN if (path / CAMPAIGN).is_file() else MANIFEST
            found.append(((path / name).stat().st_mtime_ns, path))
    newest = max(found) if found else None
    damage = [(when, refused) for when, refused in damage if newest is None or when > newest[0]]
    if damage:
        advice = "What it recorded can be read, but the run cannot be continued: start a new one, without --resume."
        raise UserError([*(problem for _, refused in damage for problem in refused.problems), Problem(advice)])
    return newest[1] if newest is not None else None


def _damaged_manifests(path: Path, wanted: str) -> list[Path]:
    """Return the manifests there that may be of this campaign file; none where nothing was recorded."""
    if not any(file.stat().st_size for file in path.rglob(EVENTS)):
        return []
    files = [file for name in (CAMPAIGN, MANIFEST) if (file := path / name).is_file()]
    contents = {file: file.read_bytes() for file in files}
    return [f for f, text in contents.items() if wanted.encode() in text or b'"campaign"' not in text]


def _digest(configuration: Mapping[str, Any]) -> str:
    """Return the hash of all that decides a run; the number and the place of its workers do not."""
    decides = {key: value for key, value in configuration.items() if key not in _NOT_DECISIVE}
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()


def _input_hashes(plans: Sequence[RunPlan]) -> dict[str, str | None]:
    """Return the hashes of the files that a campaign's runs are made of, by name."""
    hashes: dict[str, str | None] = {}
    for plan in plans:
        if plan.model is not None:
            hashes[plan.model.reference] = plan.model.about.get("model_sha256")
            continue
        reference = str(plan.system_reference)
        if reference not in hashes:
            hashes[reference] = resolve_reference(reference, plan.base.resolve()).file_hash()
        profile = None if plan.profile is None else plan.profile.file
        if profile is not None and profile not in hashes:
            hashes[profile] = model_hash(profile)
    return hashes
