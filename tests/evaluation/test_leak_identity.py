"""Leaks of identity: who stands on both sides of a split, and what is said about it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from command_line import neuroarena_in
from neuroarena import Benchmark, Board, evaluate
from neuroarena.benchmarks import Fold, Split
from neuroarena.board.entries import entries_from_results
from neuroarena.board.report import render_report
from neuroarena.evaluation.leak_identity import identity_probes
from neuroarena.evaluation.leak_report import Probe, is_leak
from neuroarena.evaluation.leaks import check_leaks
from toy import toy_benchmark

N_PEOPLE, N_TRIALS, RATE = 4, 24, 100.0


def people(seed: int = 0, **changes: Any) -> Benchmark:
    """Four people in two sessions, in arrays of noise with a planted difference."""
    rng = np.random.default_rng(seed)
    n = N_PEOPLE * N_TRIALS
    table = pd.DataFrame({"subject": np.repeat([f"p{number}" for number in range(N_PEOPLE)], N_TRIALS)})
    table["session"] = np.tile(np.repeat(["1", "2"], N_TRIALS // 2), N_PEOPLE)
    table["label"] = [
        value for _ in range(2 * N_PEOPLE) for value in rng.permutation(["a", "b"] * (N_TRIALS // 4))
    ]
    windows = rng.standard_normal((n, 3, 50))
    windows[table["label"] == "a", 0] *= 1.5
    rules: dict[str, Any] = {
        "target": "label",
        "metadata": table,
        "rate_hz": RATE,
        "split": "leave-one-subject-out",
    }
    return Benchmark.from_epochs(windows, **{**rules, **changes})


def leaks(benchmark: Benchmark, split: str | None = None) -> list[str]:
    cut = benchmark.split(split or benchmark.splits[0])
    return [probe.sentence for probe in identity_probes(benchmark, cut) if is_leak(probe)]


def crossings(benchmark: Benchmark, split: str | None = None) -> list[Probe]:
    cut = benchmark.split(split or benchmark.splits[0])
    return [probe for probe in identity_probes(benchmark, cut) if probe.found and probe.declared]


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_found_in_clean_sets(seed: int):
    for split in ("leave-one-subject-out", "leave-one-session-out"):
        benchmark = people(seed, split=split)
        assert leaks(benchmark) == []
        assert check_leaks(benchmark).findings == ()


def test_who_crosses_as_the_split_says_is_a_note():
    (subject,) = crossings(people(split="leave-one-session-out"))
    assert "whose subject is also in its training part" in subject.what
    assert "scores are for subjects that were trained on" in subject.why
    assert crossings(people()) == []


def test_a_person_on_both_sides_of_a_split_that_promises_otherwise_is_found():
    lists = {"mine": {"column": "session", "test": ["2"], "apart": ["subject"]}}
    (found,) = leaks(people(split=lists))
    assert "whose subject is also in its training part (share), for example p0: 1.00" in found
    assert 'the split "mine" promises that no subject is on both sides' in found


def test_the_name_of_a_split_is_a_promise():
    benchmark = toy_benchmark()
    ids = benchmark.examples["id"].tolist()
    half = Fold("all", tuple(ids[::2]), tuple(ids[1::2]))
    for name, promised in (("cross-subject", True), ("leave-one-person-out", True), ("halves", False)):
        rules = {name: lambda examples, name=name: Split(name, (half,))}
        changed = dataclasses.replace(benchmark, split_rules=rules)
        assert any("whose subject" in sentence for sentence in leaks(changed)) is promised


def test_a_target_that_belongs_to_a_person_is_a_leak_only_where_the_person_is_on_both_sides():
    table = people().examples[["subject", "session"]].copy()
    table["label"] = table["subject"].map({"p0": "old", "p1": "young", "p2": "old", "p3": "young"})
    windows = np.random.default_rng(0).standard_normal((len(table), 3, 50))
    rules: dict[str, Any] = {"target": "label", "metadata": table, "rate_hz": RATE}
    apart = Benchmark.from_epochs(windows, split="leave-one-subject-out", **rules)
    assert leaks(apart) == []
    crossing = Benchmark.from_epochs(windows, split="leave-one-session-out", unit="session", **rules)
    (found,) = leaks(crossing)
    assert "where each person has one target (share): 1.00; who it is tells the answer" in found


def test_a_column_that_decoders_may_see_and_that_tells_the_answer_is_found():
    table = people().examples.rename(columns={"label": "shown"}).drop(columns=["target", "unit", "cluster"])
    rng = np.random.default_rng(0)
    table["age"], table["code"] = rng.integers(20, 60, len(table)), table["shown"].map({"a": 7, "b": 9})
    table["delay_s"] = rng.uniform(0.2, 0.8, len(table))
    table["delay_ms"] = 1000 * table["delay_s"] + rng.normal(0, 1, len(table))
    rules: dict[str, Any] = {"metadata": table, "rate_hz": RATE, "split": "leave-one-subject-out"}
    windows = rng.standard_normal((len(table), 3, 50))
    assert leaks(Benchmark.from_epochs(windows, target="shown", known="age", **rules)) == []
    (found,) = leaks(Benchmark.from_epochs(windows, target="shown", known=["age", "code"], **rules))
    assert 'whose answer the column "code" tells (share, mean over answers): 1.00; decoders' in found
    # A wrong entry of each answer, as tables have them, hides nothing.
    first = table.groupby("shown").head(1).index
    table.loc[first, "code"] = table.loc[first, "code"].map({7: 9, 9: 7})
    assert len(leaks(Benchmark.from_epochs(windows, target="shown", known="code", **rules))) == 1
    table["rare"] = ["b"] + ["a"] * (len(table) - 2) + ["b"]
    assert leaks(Benchmark.from_epochs(windows, target="rare", known="shown", **rules)) == []
    numbers: dict[str, Any] = {**rules, "target": "delay_s", "metric": "rmse"}
    assert leaks(Benchmark.from_epochs(windows, known="age", **numbers)) == []
    (found,) = leaks(Benchmark.from_epochs(windows, known=["delay_ms"], **numbers))
    assert 'The column "delay_ms" and the answer (rank correlation): 1.00' in found


def test_windows_that_overlap_across_a_cut_are_found():
    events = pd.DataFrame({"onset_s": np.arange(0.5, 30.5, 0.5), "value": list("ab" * 30)})
    events["half"] = np.repeat(["1", "2"], 30)
    signals = np.random.default_rng(0).standard_normal((2, 3200))
    rules: dict[str, Any] = {"events": events, "rate_hz": RATE, "unit": "half"}
    wide = Benchmark.from_events(signals, window_s=(0, 0.9), split="leave-one-half-out", **rules)
    (found,) = leaks(wide)
    assert found.startswith("Examples of a test part that overlap samples of its training part (share)")
    assert leaks(Benchmark.from_events(signals, window_s=(0, 0.5), split="leave-one-half-out", **rules)) == []
    assert leaks(Benchmark.from_events(signals, window_s=(0, 0.9), split="blocked-2-folds", **rules)) == []


def test_what_is_found_is_kept_with_the_result_and_shown_on_boards(tmp_path: Path):
    lists = {"mine": {"column": "session", "test": ["2"], "apart": ["subject"]}}
    for decoder in ("chance", "dummy"):
        result = evaluate(decoder, people(split=lists), out=tmp_path / "results", cache=tmp_path / "cache")
    (kept,) = result.record.split.leaks
    assert "promises that no subject is on both sides" in kept
    board = neuroarena_in(tmp_path, "board", "results")
    assert "LEAK in events, mine: Examples of a test part whose subject" in " ".join(board.stdout.split())
    said = json.loads(neuroarena_in(tmp_path, "board", "results", "--json").stdout)
    assert any("LEAK in events, mine" in note for note in said["notes"])
    clean = evaluate("chance", people(split="leave-one-session-out"), cache=tmp_path / "cache")
    assert clean.record.split.leaks == ()
    assert len(clean.record.split.crossings) == 1
    page = render_report(Board(entries_from_results([clean])))
    assert "scores are for subjects that were trained on" in page


def test_leaks_in_the_signals_are_kept_where_they_are_looked_for(tmp_path: Path):
    table = people().examples[["subject", "session", "target"]].rename(columns={"target": "label"})
    windows = np.random.default_rng(1).standard_normal((len(table), 3, 50))
    windows[:, 2] = (table["label"] == "a").to_numpy()[:, np.newaxis] * 5.0
    benchmark = Benchmark.from_epochs(
        windows, target="label", metadata=table, rate_hz=RATE, split="leave-one-subject-out"
    )
    plain = evaluate("chance", benchmark, cache=tmp_path)
    looked = evaluate("chance", benchmark, cache=tmp_path, leaks_too=True)
    assert plain.record.split.leaks == ()
    assert any("steps, not a signal" in sentence for sentence in looked.record.split.leaks)
