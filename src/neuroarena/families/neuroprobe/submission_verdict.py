"""The verdict on a submission folder: the leaderboard's own eight rules, and our stricter ones."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import submission_checks as checks
from neuroarena.families.neuroprobe.submission_checks import (
    DEFAULT_TIME_BIN,
    EXPECTED_FOLDS,
    EXPECTED_SESSIONS,
    SCORE_COLUMNS,
    SPLIT_FOLDERS,
    SubmissionError,
)
from neuroarena.families.neuroprobe.submission_folder import require_readable
from neuroarena.families.neuroprobe.submission_rules import (
    RULES,
    Finding,
    official_findings,
    population_files,
)
from neuroarena.families.neuroprobe.submissions import (
    HEADER_TEXTS,
    known_definition,
    read_definition,
    read_simulated,
)

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Verdict:
    """The outcome of both sets of rules for a folder.

    Attributes
    ----------
    name : str
        Of the folder.
    findings : tuple of Finding
        The official rules first.
    definition, evidence : str
        The definition it was judged by, and how that is known; "" where its files cannot be read.
    simulated : bool
        Whether it states that its recordings were generated.
    """

    name: str
    findings: tuple[Finding, ...]
    definition: str = ""
    evidence: str = ""
    simulated: bool = False

    @property
    def official(self) -> bool:
        """Whether the leaderboard's own validator would accept it."""
        return all(finding.kind != "official" for finding in self.findings)

    @property
    def accepted(self) -> bool:
        """Whether no rule is broken, official or ours."""
        return not self.findings

    @property
    def official_only(self) -> bool:
        """Whether the official validator would accept what ours refuses."""
        return self.official and not self.accepted

    @property
    def sentence(self) -> str:
        """Both verdicts in one sentence."""
        if self.accepted:
            return "Accepted by the official rules and by ours."
        broken = list(dict.fromkeys(finding.rule for finding in self.findings))
        if self.official_only:
            first = self.findings[0]
            words = f"{first.file}: {first.words}"
            return (
                "The official validator would accept this; ours refuses because of "
                f"{', '.join(broken)}: {words}."
            )
        return f"Refused; the official validator would refuse it too ({', '.join(broken)})."

    def lines(self) -> list[str]:
        """Return every rule with what breaks it; the same words about several files appear once."""
        from neuroarena.board.wording import clean_name

        told = [f"{clean_name(self.name)}{' (simulated)' if self.simulated else ''}"]
        for rule, (kind, words) in RULES.items():
            own = [finding for finding in self.findings if finding.rule == rule]
            told.append(f"{'FAIL' if own else 'ok  '}  {kind:8}  {rule:12}  {words}")
            said: dict[tuple[str, str], list[str]] = {}
            for finding in own:
                said.setdefault((finding.field, finding.words), []).append(finding.file)
            for (field, problem), files in said.items():
                where = files[0] + (f" and {len(files) - 1} more files" if len(files) > 1 else "")
                where += f": {field}" if field and field not in problem else ""
                told.append(f"      {clean_name(where)}: {clean_name(problem)}")
        if self.definition:
            told.append(f"definition {self.definition} ({clean_name(self.evidence)})")
        return [*told, clean_name(self.sentence)]

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        broken = {finding.rule for finding in self.findings}
        return {
            "schema_version": SCHEMA_VERSION,
            "folder": self.name,
            "accepted": self.accepted,
            "official_accepts": self.official,
            "official_only": self.official_only,
            "verdict": self.sentence,
            "definition": self.definition or None,
            "definition_evidence": self.evidence or None,
            "simulated": self.simulated,
            "rules": [
                {"rule": rule, "kind": kind, "passed": rule not in broken, "words": words}
                for rule, (kind, words) in RULES.items()
            ],
            "findings": [finding.to_dict() for finding in self.findings],
        }


def check_submission(folder: str | Path, name: str | None = None) -> Verdict:
    """Judge a submission folder by the eight official rules and by ours.

    Parameters
    ----------
    folder : str or Path
    name : str, optional
        Future name of the folder; by default its current name.

    Returns
    -------
    Verdict
        Every broken rule with its file and field.

    Raises
    ------
    InputError
        When there is no such folder, or it must not be read: it holds a link, a folder in place of a file, or too much.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            f"{folder}: this folder does not exist. Expected a submission to the Neuroprobe leaderboard."
        )
    require_readable(folder)
    name = name or folder.resolve().name
    official = list(official_findings(folder, name))
    # What the official rules refuse in a file is reported once.
    refused = {finding.file for finding in official}
    strict = _Strict(folder)
    ours = [finding for finding in strict.findings() if finding.file not in refused]
    order = {rule: at for at, rule in enumerate(RULES)}
    return Verdict(
        name,
        tuple(sorted([*official, *ours], key=lambda finding: order[finding.rule])),
        strict.definition,
        strict.evidence,
        strict.simulated,
    )


class _Strict:
    """Our rules; `definition`, `evidence` and `simulated` are known after :meth:`findings`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.definition, self.evidence, self.simulated = "", "", False

    def findings(self) -> list[Finding]:
        """Judge the folder."""
        found: list[Finding] = []
        metadata: dict[str, Any] = {}
        header: tuple[str | None, datetime.datetime] | None = None
        try:
            metadata = checks.read_object(self.folder / "metadata.json", "metadata.json")
            header = self._header(metadata)
        except SubmissionError as error:
            found.append(_as_finding(error))
        rows: list[tuple[Any, ...]] = []
        for split, task, path in population_files(self.folder):
            where = f"{path.parent.name}/{path.name}"
            try:
                data = checks.read_object(path, where)
                found += _header_findings(data, metadata, where)
                rows += checks.score_rows(data, split, task, where)
                found += _repeated_folds(data, where)
            except SubmissionError as error:
                found.append(_as_finding(error))
        scores = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
        found += [*_session_findings(scores), *_fold_findings(scores), *_copied_tasks(scores)]
        if header is not None and len(scores):
            found += self._definition(scores, *header)
        return found

    def _header(self, metadata: Mapping[str, Any]) -> tuple[str | None, datetime.datetime]:
        where = "metadata.json"
        for key in HEADER_TEXTS:
            checks.text(metadata, key, where)
        if not metadata["model_name"].strip():
            raise SubmissionError("names", where, "model_name", 'field "model_name" is empty')
        self.simulated = read_simulated(metadata, where)
        return read_definition(metadata, where), checks.moment(metadata, where)

    def _definition(
        self, scores: pd.DataFrame, said: str | None, time: datetime.datetime
    ) -> Iterator[Finding]:
        counted = (None, "simulated") if self.simulated else checks.definition_by_accuracy(scores)
        self.definition, self.evidence, doubts = known_definition(said, counted, time)
        for doubt in doubts:
            yield Finding("definition", "metadata.json", "definition", doubt)


def _as_finding(error: SubmissionError) -> Finding:
    return Finding(error.rule, error.where, error.field, error.words)


def _header_findings(data: Mapping[str, Any], metadata: Mapping[str, Any], where: str) -> Iterator[Finding]:
    name, own = metadata.get("model_name"), data.get("model_name")
    if name and own is not None and own != name:
        words = f"it names the model {checks.format_json(own)}, but metadata.json names {checks.format_json(name)}"
        yield Finding("names", where, "model_name", words)
    time = data.get("timestamp")
    if isinstance(time, bool) or (isinstance(time, int | float) and not abs(time) < 2**53):
        words = f'field "timestamp" must be a finite number, got {checks.format_json(time)}'
        yield Finding("numbers", where, "timestamp", words)


def _repeated_folds(data: Mapping[str, Any], where: str) -> Iterator[Finding]:
    for session, levels in data["evaluation_results"].items():
        for name, block in levels["population"].items():
            numbers = [fold["fold_idx"] for fold in block["folds"] if "fold_idx" in fold]
            twice = [number for at, number in enumerate(numbers) if number in numbers[:at]]
            if twice:
                field = f"evaluation_results.{session}.population.{name}.folds"
                yield Finding("duplicates", where, field, f"fold {checks.format_json(twice[0])} occurs twice")


def _walk_rows(scores: pd.DataFrame) -> Iterable[tuple[str, str, str, pd.DataFrame]]:
    """Walk through the files' rows: split, task, file, rows."""
    for (split, task), own in scores.groupby(["split", "task"], sort=False):
        yield str(split), str(task), f"{SPLIT_FOLDERS[str(split)]}/population_{task}.json", own


def _session_findings(scores: pd.DataFrame) -> Iterator[Finding]:
    for split, _, file, rows in _walk_rows(scores):
        population = rows[rows["level"] == "population"]
        there, judged = (
            set(own["session"])
            for own in (population, population[population["time_bin"] == DEFAULT_TIME_BIN])
        )
        absent = [session for session in EXPECTED_SESSIONS[split] if session not in there]
        if absent:
            words = f"{len(absent)} of {len(EXPECTED_SESSIONS[split])} sessions missing: {', '.join(absent)}"
            yield Finding("sessions", file, "evaluation_results", words)
        for session in [key for key in EXPECTED_SESSIONS[split] if key in there - judged]:
            field = f"evaluation_results.{session}.population"
            yield Finding("window", file, field, f"{session} lacks the block {DEFAULT_TIME_BIN}")


def _fold_findings(scores: pd.DataFrame) -> Iterator[Finding]:
    for split, _, file, rows in _walk_rows(scores):
        expected = EXPECTED_FOLDS[split]
        keys = ["level", "electrode", "session", "time_bin"]
        counts = rows.groupby(keys, sort=False).size()
        odd = counts[counts != expected]
        for (level, number), own in odd.groupby([odd.index.get_level_values("level"), odd.to_numpy()]):
            _, label, session, block = own.index[0]
            at = f"{level}.{label}" if label else level
            sessions = list(dict.fromkeys(own.index.get_level_values("session")))
            words = f"{number} fold{'' if number == 1 else 's'} where {expected} "
            words += f"{'is' if expected == 1 else 'are'} expected, in {len(sessions)} of "
            words += f"{rows['session'].nunique()} sessions: {', '.join(sessions)}"
            yield Finding("folds", file, f"evaluation_results.{session}.{at}.{block}.folds", words)


def _copied_tasks(scores: pd.DataFrame) -> Iterator[Finding]:
    """Find identical scores under two tasks, ignoring those that are all equal, as from a constant answer."""
    seen: dict[tuple[Any, ...], str] = {}
    for split, task, file, rows in _walk_rows(scores):
        own = rows[rows["level"] == "population"]
        if own["auroc"].nunique() < 3:
            continue
        key = (split, *zip(own["session"], own["time_bin"], own["fold"], own["auroc"], strict=True))
        if key in seen:
            words = f"its scores equal those of population_{seen[key]}.json to the last digit"
            yield Finding("duplicates", file, "evaluation_results", words)
        seen.setdefault(key, task)
