"""Which entries stand beside each other, and which one of a team counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from neuroarena.board.entries import Entry, Judge, Judged
from neuroarena.board.rules import Rules
from neuroarena.errors import InputError

NAMED = 3


@dataclass(frozen=True, eq=False)
class Field:
    """The teams of one ranking: the entry of each that counts, and why the others have none.

    Attributes
    ----------
    judged : list of Judged
        One per team, in ascending order of the names; all on the same units.
    n_entries : dict of str to int
        Team -> number of its entries, failed ones included.
    unranked : list of (team, reason)
    marks : dict of str to tuple of str
        Team -> what is shown beside its name.
    mixed : tuple of str
        What differs between the entries although it should not; empty unless that was allowed.
    combine : callable, optional
        ``{column: sums over units} -> score`` in the metric's own direction, where the score is not made by the
        manifest's combiner: the overall of a suite.
    """

    judged: list[Judged]
    n_entries: dict[str, int]
    unranked: list[tuple[str, str]]
    marks: dict[str, tuple[str, ...]]
    mixed: tuple[str, ...] = ()
    combine: Callable[[Mapping[str, np.ndarray]], np.ndarray] | None = None


def group_entries(entries: Iterable[Entry], rules: Rules) -> dict[tuple[str, str, str], list[Entry]]:
    """Group the entries as of the rules' time by (family, split, task), each group in a fixed order."""
    groups: dict[tuple[str, str, str], list[Entry]] = {}
    for entry in entries:
        if rules.as_of is None or entry.time <= rules.as_of:
            groups.setdefault((entry.family, entry.split, entry.task), []).append(entry)
    return {key: sorted(groups[key], key=_order) for key in sorted(groups)}


def select(entries: list[Entry], rules: Rules, judge: Judge, allow_mixed: bool = False) -> Field:
    """Choose the entry of each team by the rule.

    Raises
    ------
    InputError
        When entries were judged by different definitions, manifests, splits or on different units,
        and this was not allowed; both teams are named.
    """
    teams: dict[str, list[Entry]] = {}
    for entry in entries:
        teams.setdefault(entry.team, []).append(entry)
    verdicts = {id(entry): judge(entry) for entry in entries}
    valid = [verdict for verdict in verdicts.values() if isinstance(verdict, Judged)]
    mixed = _check_alike([verdict.entry for verdict in valid], allow_mixed)
    strangers = _check_units(valid, allow_mixed)
    judged, unranked, marks = [], [], {}
    for team in sorted(teams):
        able: list[Judged] = []
        reasons: dict[int, str] = {}
        for entry in teams[team]:
            verdict = strangers.get(id(entry), verdicts[id(entry)])
            if isinstance(verdict, Judged):
                able.append(verdict)
            else:
                reasons[id(entry)] = verdict
        newest = reasons.get(id(teams[team][-1]))
        if not able:
            unranked.append((team, newest or "it has no entry that can rank"))
            continue
        if newest is not None:
            unranked.append(
                (team, f"its newest entry cannot rank ({newest}); an earlier one is ranked above")
            )
        chosen = _choose(able, rules)
        judged.append(chosen)
        about = [f"definition {chosen.entry.definition}"] if "definition" in mixed else []
        marks[team] = (*chosen.entry.notes, *about)
    return Field(judged, {team: len(own) for team, own in teams.items()}, unranked, marks, mixed)


def _order(entry: Entry) -> tuple[str, ...]:
    """Order entries by team and time; entries of one moment by their keys and scores, never by chance."""
    scores = (
        ""
        if entry.unit_scores is None
        else entry.unit_scores.to_csv(index=False)
        if _lacks_key(entry)
        else ""
    )
    key = entry.provenance.get("run_key") or ""
    return (entry.team, entry.time.isoformat(timespec="microseconds"), key, entry.reason or "", scores)


def _lacks_key(entry: Entry) -> bool:
    return not entry.provenance.get("run_key")


def _choose(able: list[Judged], rules: Rules) -> Judged:
    recent = able if rules.last is None else able[-rules.last :]
    # The earliest of equals counts: submitting the same work again changes nothing.
    return max(recent, key=lambda one: (one.score, 0.0 if one.tie_break is None else one.tie_break))


CHECKS: tuple[tuple[str, str, Callable[[Entry], str | None]], ...] = (
    ("definition", "by definition", lambda entry: entry.definition),
    ("manifest", "by manifest", lambda entry: entry.manifest.hash),
    ("split hash", "on a split with hash", lambda entry: entry.split_hash),
    ("data", "on", lambda entry: "simulated data" if entry.simulated else "recorded data"),
)


REMOVE = "take some off the board with: neuroarena results remove RUN"
CURE = f"rank what can be ranked with --allow-mixed, or {REMOVE}"


def _check_alike(entries: list[Entry], allow_mixed: bool) -> tuple[str, ...]:
    """Refuse entries that are not comparable, or return what differs when mixing is allowed."""
    mixed = []
    for name, words, read in CHECKS:
        first: dict[str, Entry] = {}
        for entry in entries:
            value = read(entry)
            if value is not None:
                first.setdefault(value, entry)
        if len(first) > 1:
            if not allow_mixed:
                raise InputError(_refusal(first, words))
            mixed.append(name)
    if mixed:
        _check_metric(entries)
    return tuple(mixed)


def _check_metric(entries: list[Entry]) -> None:
    """Refuse what cannot be put into one column even when mixing is allowed."""
    first: dict[str, Entry] = {}
    for entry in entries:
        rules = entry.manifest
        first.setdefault(f"{rules.metric}, {rules.combiner}, tie-break {rules.tie_break}", entry)
    if len(first) > 1:
        raise InputError(_refusal(first, "by", REMOVE))


def _refusal(first: dict[str, Entry], words: str, cure: str = CURE) -> str:
    (value_a, a), (value_b, b) = list(first.items())[:2]
    return (
        f'{a.family}/{a.task}, {a.split}: team "{a.team}" was judged {words} {_short(value_a)}, '
        f'team "{b.team}" {words} {_short(value_b)}. Such scores are not comparable, so nothing was ranked; {cure}.'
    )


def _short(value: str) -> str:
    hexadecimal = len(value) == 64 and all(letter in "0123456789abcdef" for letter in value)
    return value[:12] if hexadecimal else value


def _check_units(valid: list[Judged], allow_mixed: bool) -> dict[int, str]:
    """Refuse different unit sets, or return why each entry on unusual units cannot rank."""
    sets: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Judged]] = {}
    for one in valid:
        sets.setdefault((one.units, one.clusters), []).append(one)
    if len(sets) <= 1:
        return {}
    common = min(sets, key=lambda units: (-len(sets[units]), units))
    reasons = {}
    for key, others in sets.items():
        if key == common:
            continue
        team = sets[common][0].entry.team
        words = _difference(key, common)
        if not allow_mixed:
            where = f"{others[0].entry.family}/{others[0].entry.task}, {others[0].entry.split}"
            raise InputError(
                f'{where}: team "{others[0].entry.team}" was not judged on the same units as team '
                f'"{team}": {words}. Teams are compared on the same units only, so nothing was ranked; {CURE}.'
            )
        for one in others:
            reasons[id(one.entry)] = f'it was not judged on the same units as team "{team}": {words}'
    return reasons


def _difference(
    own: tuple[tuple[str, ...], tuple[str, ...]], common: tuple[tuple[str, ...], tuple[str, ...]]
) -> str:
    lacks, more = sorted(set(common[0]) - set(own[0])), sorted(set(own[0]) - set(common[0]))
    parts = [f"it lacks {_list(lacks)}"] if lacks else []
    parts += [f"it also has {_list(more)}"] if more else []
    return " and ".join(parts) or "its units lie in other clusters"


def _list(units: list[str]) -> str:
    more = f" and {len(units) - NAMED} more" if len(units) > NAMED else ""
    return ", ".join(f'"{unit}"' for unit in units[:NAMED]) + more
