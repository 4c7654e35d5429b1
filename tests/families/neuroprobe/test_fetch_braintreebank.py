"""Fetching BrainTreebank: from a server to a folder that is good."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from file_server import (
    BIG,
    HASTE,
    PLAIN,
    everything_below,
    plan_of,
    sha256,
    zipped,
)
from neuroarena.cli import main
from neuroarena.datasets import load_dataset
from neuroarena.datasets.download import ResumingDownloader
from neuroarena.datasets.fetch import fetch
from neuroarena.families.neuroprobe.braintreebank.facts import MOVIES
from neuroarena.families.neuroprobe.braintreebank.files import fetch_plan, tables_plan
from neuroarena.families.neuroprobe.braintreebank.published import published_paths
from neuroarena.families.neuroprobe.sessions import LITE
from neuroarena.progress import DownloadProgress

# BrainTreebank

EACH_SESSION = ("subject_metadata", "subject_timings")


@pytest.fixture(scope="module")
def served_twin(twin_root: Path) -> dict[str, bytes]:
    """The small twin as the site of the real data would serve it."""
    files = {"corrupted_elec.json": (twin_root / "corrupted_elec.json").read_bytes()}
    for folder in ("electrode_labels", "localization", "transcripts", *EACH_SESSION):
        content = everything_below(twin_root / folder)
        files[f"{folder}.zip"] = zipped({f"{folder}/{name}": data for name, data in content.items()})
    for path in twin_root.glob("*.h5"):
        subject, trial = path.stem.split("_trial")
        files[f"subject_data/{subject}/trial{trial}/{path.name}.zip"] = zipped({path.name: path.read_bytes()})
    return files


def neuroarena(capsys: Any, monkeypatch: Any, *words: Any) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["neuroarena", *map(str, words)])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr()
    return int(left.value.code or 0), said.out, said.err


def test_a_session_is_fetched_and_is_good(site, served_twin, twin, twin_root, tmp_path, capsys, monkeypatch):
    site.files = served_twin
    subject, trial = twin.sessions[0]
    words = (
        "data",
        "fetch",
        "braintreebank",
        tmp_path,
        "--sessions",
        f"{subject}_{trial}",
        "--url",
        site.url,
    )
    code, out, err = neuroarena(capsys, monkeypatch, *words, "--json")
    assert code == 0, err
    result = json.loads(out)
    assert (result["missing"], result["problems"], result["sizes_unknown"]) == ([], [], 0)
    assert result["bytes_to_fetch"] == sum(len(served_twin[file["path"]]) for file in result["files"])
    signals = f"sub_{subject}_trial{trial:03d}.h5"
    assert (tmp_path / signals).read_bytes() == (twin_root / signals).read_bytes()
    assert [path.name for path in tmp_path.glob("*.h5")] == [signals]
    assert load_dataset("braintreebank").open(tmp_path).sessions == [(subject, trial)]
    code, out, err = neuroarena(capsys, monkeypatch, *words)
    assert code == 0
    assert "to fetch" not in out.replace("0 B to fetch", "")
    assert f"{tmp_path}: fetched and good" in out


def test_a_dry_run_lists_sizes_and_writes_nothing(site, served_twin, twin, tmp_path, capsys, monkeypatch):
    site.files = served_twin
    subject, _ = twin.sessions[0]
    only = [f"{s}_{t}" for s, t in twin.sessions]
    words = [
        "data",
        "fetch",
        "braintreebank",
        tmp_path / "new",
        "--subjects",
        subject,
        "--sessions",
        ",".join(only),
    ]
    code, out, _ = neuroarena(capsys, monkeypatch, *words, "--url", site.url, "--dry-run")
    assert code == 0
    assert "corrupted_elec.json" in out
    assert "to fetch into" in out
    assert "we have never tried them" in out
    code, out, _ = neuroarena(capsys, monkeypatch, *words, "--url", site.url, "--dry-run", "--json")
    listing = json.loads(out)
    assert listing["dry_run"] is True
    assert {file["path"]: file["size"] for file in listing["files"]} == {
        name: len(content) for name, content in served_twin.items()
    }
    assert list(tmp_path.iterdir()) == []
    assert site.gets() == []


def served_tables(sessions: list[str]) -> dict[str, bytes]:
    """The published tables as the package's address would serve them."""
    return {file.path: file.path.encode() for file in tables_plan(sessions=sessions).files}


def test_the_published_tables_are_fetched_to_where_they_are_read(site, tmp_path, capsys, monkeypatch):
    site.files = served_tables(["4_1", "7_1"])  # the same film
    words = (
        "data",
        "fetch",
        "braintreebank",
        tmp_path,
        "--tables",
        "--sessions",
        "4_1,7_1",
        "--url",
        site.url,
    )
    code, out, err = neuroarena(capsys, monkeypatch, *words, "--json")
    assert code == 0, err
    result = json.loads(out)
    assert (result["missing"], result["problems"]) == ([], [])
    alignment, pitch = tmp_path / "braintreebank_features_time_alignment", tmp_path / "pitch_volume_features"
    assert sorted(path.name for path in alignment.iterdir()) == sorted(
        f"subject{subject}_trial1_{kind}_df.csv" for subject in (4, 7) for kind in ("words", "nonverbal")
    )
    assert [path.name for path in pitch.iterdir()] == ["megamind_pitch_volume_features.json"]
    assert (
        published_paths(tmp_path, 4, 1)[0].read_bytes()
        == site.files[f"{alignment.name}/subject4_trial1_words_df.csv"]
    )


def test_without_a_choice_the_tables_of_the_leaderboard_are_meant():
    plan = tables_plan()
    assert {file.path for file in plan.files if "words" in file.path} == {
        f"braintreebank_features_time_alignment/subject{subject}_trial{trial}_words_df.csv"
        for subject, trial in LITE
    }
    assert {file.path for file in plan.files if "pitch" in file.path} == {
        f"pitch_volume_features/{MOVIES[session]}_pitch_volume_features.json" for session in LITE
    }
    assert len(tables_plan(["all"]).files) == 2 * 26 + len(set(MOVIES.values()))
    assert not any(file.checked for file in plan.files)
    # Each is its own product, where the reader looks for it.
    assert all(file.products == (file.path,) for file in plan.files)


def test_a_dataset_without_tables_of_its_own_says_so(tmp_path, capsys, monkeypatch):
    code, out, err = neuroarena(
        capsys, monkeypatch, "data", "fetch", "emg2qwerty", tmp_path / "new", "--tables"
    )
    assert (code, out) == (2, "")
    assert "has no tables to fetch apart from the data; leave out --tables." in err


def test_no_network_leaves_with_1_and_says_how_to_go_on(site, tmp_path, capsys, monkeypatch):
    words = ("data", "fetch", "braintreebank", tmp_path, "--subjects", "1", "--url", "http://127.0.0.1:9/")
    code, out, err = neuroarena(capsys, monkeypatch, *words, "--attempts", "1")
    assert (code, out) == (1, "")
    assert "the connection failed (Connection refused)" in err
    assert "0 of 9 files are kept" in err
    assert "Run the same command again to go on." in err
    assert list(tmp_path.iterdir()) == []


WRONG = [
    ("", "Choose what to fetch"),
    ("--subjects 11", 'no subject "11"'),
    ("--subjects one", 'no subject "one"'),
    ("--sessions 6_2", 'no session "6_2". It has 6_0, 6_1, 6_4.'),
    ("--sessions 1", 'no session "1"'),
    ("--subjects 1 --sessions 2_0", "The session 2_0 belongs to none of the given subjects"),
    ("--subjects 1 --url somewhere", "is not an address to fetch from"),
]


@pytest.mark.parametrize(("options", "sentence"), WRONG, ids=[options for options, _ in WRONG])
def test_wrong_input_leaves_with_2(options, sentence, tmp_path, capsys, monkeypatch):
    words = ("data", "fetch", "braintreebank", tmp_path / "new", *options.split())
    code, out, err = neuroarena(capsys, monkeypatch, *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_real_data_are_not_mixed_into_a_twin(twin_root, capsys, monkeypatch):
    words = ("data", "fetch", "braintreebank", twin_root, "--subjects", "1")
    code, _, err = neuroarena(capsys, monkeypatch, *words)
    assert code == 2
    assert "holds a simulated twin" in err


def test_the_plan_of_all_subjects_covers_every_session_and_every_file_that_is_read():
    plan = fetch_plan(["all"])
    signals = [file for file in plan.files if file.path.startswith("subject_data/")]
    products = {name for file in plan.files for name in file.products}
    assert len(signals) == len(MOVIES) == 26
    assert plan.base_url == "https://braintreebank.dev/data/"
    for (subject, trial), movie in MOVIES.items():
        stem = f"sub_{subject}_trial{trial:03d}"
        assert {
            f"{stem}.h5",
            f"subject_timings/{stem}_timings.csv",
            f"transcripts/{movie}/features.csv",
        } <= products
        assert f"localization/sub_{subject}/depth-wm.csv" in products
    assert not any(file.checked for file in plan.files)


@pytest.mark.drill
def test_a_fetch_killed_with_9_goes_on_where_it_was(site, served_twin, twin, twin_root, tmp_path):
    subject, trial = twin.sessions[0]
    name = f"subject_data/sub_{subject}/trial{trial:03d}/sub_{subject}_trial{trial:03d}.h5.zip"
    site.files, site.chunk_s = served_twin, 0.01
    words = ["data", "fetch", "braintreebank", "data", "--sessions", f"{subject}_{trial}", "--url", site.url]
    command = [sys.executable, "-m", "neuroarena", *words]
    part = tmp_path / "data" / ".fetch" / f"{name}.part"
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as killed:
        until = time.monotonic() + 300
        while not (part.exists() and part.stat().st_size > 2**20) and time.monotonic() < until:
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
    kept = part.stat().st_size
    assert 2**20 < kept < len(served_twin[name])
    site.chunk_s = 0
    before = len(site.log)
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert [entry for entry in site.log[before:] if entry[0] == "GET"] == [("GET", name, f"bytes={kept}-")]
    signals = f"sub_{subject}_trial{trial:03d}.h5"
    assert (tmp_path / "data" / signals).read_bytes() == (twin_root / signals).read_bytes()
    assert "here already" in ran.stderr
    assert not (tmp_path / "data" / ".fetch").exists()


def test_away_from_a_terminal_progress_is_lines_with_the_time_to_go(site, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(DownloadProgress, "_LINE_EVERY_S", 0.0)
    site.files["big.bin"] = BIG
    with DownloadProgress(len(BIG)) as progress:
        fetch(plan_of(site, PLAIN), tmp_path, patience=HASTE, progress=progress)
    said = capsys.readouterr()
    assert said.out == ""
    assert "big.bin: 300.0 kB\n" in said.err
    assert "300.0 kB of 300.0 kB" in said.err
    assert "about 0 s to go for all files" in said.err


def test_a_downloader_can_be_handed_to_pooch_by_itself(site, tmp_path):
    import pooch

    site.files["big.bin"] = BIG
    from neuroarena.progress import Silence

    downloader = ResumingDownloader(tmp_path / "x.part", None, HASTE, Silence())
    came = pooch.retrieve(f"{site.url}big.bin", sha256(BIG), "big.bin", tmp_path, downloader=downloader)
    assert Path(came).read_bytes() == BIG
