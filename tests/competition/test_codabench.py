"""Bundles for Codabench: valid by the platform's rules, scored as the platform lays out its folders."""

from __future__ import annotations

import io
import json
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml

from arena_making import ABOUT, FILE, MANIFEST, Clock, make_arena, make_truth, write_answers
from codabench_rules import complaints
from command_line import neuroarena_in
from neuroarena.competition.arena import create_arena
from neuroarena.competition.codabench.bundle import write_bundles
from neuroarena.competition.codabench.description import describe_caps
from neuroarena.competition.codabench.program.score import main as run_program
from neuroarena.competition.configuration import Competition
from neuroarena.competition.constant_answers import answer_constantly
from neuroarena.competition.sealing import keep_truth
from neuroarena.errors import InputError
from neuroarena.scoring import METRICS, Manifest, check_submission, score, write_submission
from track_twins import bound

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def open_bundle(arena, tmp_path) -> bytes:
    """The bundle of the warm-up alone, whose truth is public."""
    (bundle,) = write_bundles(arena, tmp_path / "out", phases=["warm-up"])
    return bundle.file.read_bytes()


@pytest.fixture
def sealed_bundle(arena, tmp_path) -> bytes:
    (bundle,) = write_bundles(arena, tmp_path / "sealed", phases=["sealed"])
    assert bundle.hidden
    return bundle.file.read_bytes()


def inside(bundle: bytes, *names: str) -> bytes:
    for name in names:
        with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
            bundle = archive.read(name)
    return bundle


def unzip(content: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)


def lay_out(bundle: bytes, app: Path, submission: bytes) -> None:
    """Lay the folders out as the platform does in its scoring step."""
    unzip(inside(bundle, "scoring_program.zip"), app / "program")
    unzip(inside(bundle, "reference_data.zip"), app / "input" / "ref")
    unzip(submission, app / "input" / "res")
    (app / "output").mkdir()


def run_as_the_platform(app: Path) -> subprocess.CompletedProcess[str]:
    """Run the program's own command in /app/program, where nothing of this project can be imported."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    command = yaml.safe_load((app / "program" / "metadata.yaml").read_text())["command"]
    kept = [
        word
        for folder in sorted(Path("/").iterdir())
        if folder.name not in ("proc", "dev", "app")
        for word in (
            ("--symlink", str(folder.readlink()), str(folder))
            if folder.is_symlink()
            else ("--ro-bind", str(folder), str(folder))
        )
    ]
    walls = ["bwrap", *kept, "--proc", "/proc", "--dev", "/dev", "--tmpfs", str(ROOT / "src")]
    walls += ["--bind", str(app), "/app", "--chdir", "/app/program", "--unshare-net", "--clearenv"]
    walls += ["--setenv", "PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin", "--setenv", "HOME", "/tmp"]
    ran = subprocess.run([*walls, *command.split()], capture_output=True, text=True, check=False)
    if "Operation not permitted" in ran.stderr or "No permissions" in ran.stderr:
        pytest.skip(f"bubblewrap cannot start here: {ran.stderr}")
    return ran


def as_zip(path: Path) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.write(path, "submission.parquet")
    return written.getvalue()


def test_the_platform_s_folders_give_the_score_of_the_laptop(open_bundle, tmp_path):
    answers = write_answers(tmp_path / "mine.parquet", wrong=3)
    lay_out(open_bundle, tmp_path / "app", as_zip(answers))
    ran = run_as_the_platform(tmp_path / "app")
    assert ran.returncode == 0, ran.stderr
    table = check_submission(answers, MANIFEST, make_truth()).table
    expected = score(table, make_truth(), MANIFEST).value
    assert json.loads((tmp_path / "app" / "output" / "scores.json").read_text()) == {"score": expected}
    page = (tmp_path / "app" / "output" / "detailed_results.html").read_text()
    assert f"{expected:.6f}" in page
    assert "u3" not in page


def test_the_solution_runs_and_a_bad_file_fails_with_its_reason(open_bundle, sealed_bundle, tmp_path):
    lay_out(sealed_bundle, tmp_path / "app", inside(sealed_bundle, "solution.zip"))
    assert run_as_the_platform(tmp_path / "app").returncode == 0
    output = tmp_path / "app" / "output"
    assert [path.name for path in output.iterdir()] == ["scores.json"]
    assert json.loads((output / "scores.json").read_text()) == {"score": 0.5}
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(write_answers(tmp_path / "mine.parquet").read_bytes()[:-20])
    lay_out(open_bundle, tmp_path / "second", as_zip(cut))
    ran = run_as_the_platform(tmp_path / "second")
    assert ran.returncode == 1
    assert ran.stderr.startswith("No score: submission.parquet: ")
    assert not list((tmp_path / "second" / "output").iterdir())


def test_a_bundle_is_valid_by_the_platform_s_rules(open_bundle, sealed_bundle):
    assert complaints(open_bundle) == []
    assert complaints(sealed_bundle) == []


def read(bundle: bytes) -> dict:
    return yaml.safe_load(inside(bundle, "competition.yaml"))


def test_times_are_quoted_and_converted_from_aoe(open_bundle):
    (phase,) = read(open_bundle)["phases"]
    assert (phase["start"], phase["end"]) == ("2026-03-01 00:00:00", "2026-03-09 11:59:59")
    assert (phase["max_submissions_per_day"], phase["max_submissions"]) == (5, 45)


def test_a_phase_that_follows_at_once_starts_later_than_the_one_before_ends(tmp_path):
    text = FILE.replace("2026-03-10 00:00 UTC", "2026-03-08 23:59:59 AoE")
    text = text.replace('[tracks.sheets.sealed]\nsplit = "sealed"\n', "")
    text = text.replace('sealed = true\ndisplay = "ladder"\nstep = 0.02\n', "")
    arena = make_arena(tmp_path, Clock("2026-03-02 12:00 UTC"), text)
    (bundle,) = write_bundles(arena, tmp_path / "out")
    assert complaints(bundle.file.read_bytes()) == []
    assert [phase["end"] for phase in read(bundle.file.read_bytes())["phases"]] == [
        "2026-03-09 11:59:58",
        "2026-03-20 00:00:00",
    ]


def test_what_is_sealed_is_hidden_on_the_platform_too(sealed_bundle, open_bundle):
    said = read(sealed_bundle)
    assert said["leaderboards"][0]["hidden"] is True
    assert said["enable_detailed_results"] is False
    assert said["make_input_data_available"] is said["make_programs_available"] is False
    hiding = [phase["hide_score_output"] and phase["hide_output"] for phase in said["phases"]]
    assert hiding == [True]
    assert read(open_bundle)["leaderboards"][0]["hidden"] is False


def test_no_answer_is_in_what_participants_get(sealed_bundle):
    for name in ("starting_kit.zip", "solution.zip", "scoring_program.zip"):
        with zipfile.ZipFile(io.BytesIO(inside(sealed_bundle, name))) as archive:
            assert "truth.parquet" not in archive.namelist()
    ids = pd.read_parquet(io.BytesIO(inside(sealed_bundle, "starting_kit.zip", "ids.parquet")))
    assert list(ids.columns) == ["id"]
    answers = inside(sealed_bundle, "starting_kit.zip", "sample_submission.zip", "submission.parquet")
    assert set(pd.read_parquet(io.BytesIO(answers))["label"]) == {"left"}


def test_a_bundle_is_the_same_every_time_and_only_its_owner_reads_it(arena, tmp_path):
    first, sealed = write_bundles(arena, tmp_path / "one")
    assert (first.file.name, sealed.file.name) == ("commands-warm-up.zip", "commands-sealed.zip")
    assert (first.hidden, sealed.hidden) == (False, True)
    second, _ = write_bundles(arena, tmp_path / "two")
    assert first.file.read_bytes() == second.file.read_bytes()
    assert stat.S_IMODE(first.file.stat().st_mode) == 0o600


DAMAGES = {
    'start: "2026-03-01 00:00:00"': ("start: 2026-03-01 00:00:00", "not quoted"),
    "leaderboards:": ("leaderboard:", "leaderboards is missing"),
    "precision: 6": ("precision: 2", "fewer than 6"),
    "max_submissions: 45": ("max_submissions: 0", "zero, which means no limit"),
    'end: "2026-03-09 11:59:59"': ('end: "2026-03-08T23:59:59-12:00"', "carries a zone"),
    "version: 2": ("version: 1", "version is not 2"),
}


@pytest.mark.parametrize("good", DAMAGES)
def test_the_validator_of_these_tests_sees_each_trap(open_bundle, good):
    bad, complaint = DAMAGES[good]
    with zipfile.ZipFile(io.BytesIO(open_bundle)) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    text = content["competition.yaml"].decode()
    assert good in text
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, each in content.items():
            archive.writestr(name, text.replace(good, bad) if name == "competition.yaml" else each)
    assert any(complaint in found for found in complaints(written.getvalue()))


CAPS = [
    ({}, (1_000_000, 1_000_000)),
    ({"per_day": 2}, (2, 20)),
    ({"in_total": 7}, (7, 7)),
    ({"per_day": 2, "in_total": 7}, (2, 7)),
]


@pytest.mark.parametrize(("caps", "expected"), CAPS)
def test_a_cap_is_never_zero(caps, expected):
    phase = {
        "name": "a",
        "title": "A",
        "start": "2026-03-01 00:00 UTC",
        "end": "2026-03-10 12:00 UTC",
        **caps,
    }
    track = {"name": "t", "title": "T", "benchmark": "bci/commands"}
    made = Competition.model_validate(
        {"name": "x", "title": "X", "contact": "c", "terms": "t", "tracks": [track], "phases": [phase]}
    )
    assert tuple(describe_caps(made.phases[0]).values()) == expected


KINDS = [
    {"prediction": "label", "classes": ("a", "b"), "metric": "accuracy"},
    {"prediction": "probabilities", "classes": ("a", "b"), "metric": "auroc"},
    {"prediction": "number", "metric": "nrmse", "allowed_range": (2.0, 5.0)},
    {"prediction": "text", "metric": "cer"},
    {"prediction": "vector", "metric": "top1", "caps": {"vector_length": 4}},
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind["prediction"])
def test_constant_answers_are_a_valid_submission_of_every_kind(kind, tmp_path):
    rules = MANIFEST.model_dump(exclude={"metric", "prediction", "classes", "combiner"})
    manifest = Manifest.model_validate({**rules, **kind})
    ids = pd.DataFrame({"id": ["b", "a", "c"]})
    file = tmp_path / "constant.parquet"
    write_submission(file, answer_constantly(manifest, ids), manifest, model="m", contact="c")
    assert len(check_submission(file, manifest, ids).table) == 3


def test_the_command_writes_bundles_or_nothing(arena, tmp_path):
    words = ("export", "codabench", "out", "--from", str(arena.folder))
    said = neuroarena_in(tmp_path, *words, "--phase", "warm-up")
    assert said.returncode == 0, said.stderr
    assert "out/commands.zip: holds the truth, for upload only" in said.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["Dockerfile", "commands.zip"]
    again = neuroarena_in(tmp_path, *words)
    assert again.returncode == 2
    assert "is not an empty folder" in again.stderr
    with pytest.raises(InputError, match='no phase "spring"'):
        write_bundles(arena, tmp_path / "new", phases=["spring"])
    assert not (tmp_path / "new").exists()


TASKS = ("bci/commands", "img/things-eeg2", "sleep/sleep-edf", "emg/emg2qwerty")


@pytest.fixture(scope="module")
def five_tracks(tmp_path_factory):
    """The tracks of a whole challenge on tiny twins, in one open phase; the fifth takes code only."""
    folder = tmp_path_factory.mktemp("five")
    head, phase = FILE.partition("[[tracks]]")[0], FILE.partition("[[phases]]")[2].partition("[[phases]]")[0]
    tracks = "".join(
        f'[[tracks]]\nname = "{task.partition("/")[0]}"\ntitle = "{task}"\nbenchmark = "{task}"\n'
        for task in TASKS
    )
    tracks += '[[tracks]]\nname = "transfer"\ntitle = "T"\nbenchmark = "transfer"\nkinds = ["code"]\n'
    (folder / "five.toml").write_text(f"{head}{tracks}[[phases]]{phase}")
    arena = create_arena(folder / "arena", folder / "five.toml")
    for task in TASKS:
        benchmark = bound(task)
        truth = benchmark.truth(benchmark.split(benchmark.splits[0]))
        keep_truth(arena, task.partition("/")[0], truth, benchmark.manifest, ABOUT)
    return folder, write_bundles(arena, folder / "out"), arena


def test_every_track_that_takes_predictions_has_a_valid_bundle_whose_solution_is_scored(five_tracks):
    folder, bundles, arena = five_tracks
    assert [bundle.track for bundle in bundles] == [task.partition("/")[0] for task in TASKS]
    for bundle in bundles:
        content = bundle.file.read_bytes()
        assert complaints(content) == []
        app = folder / "app" / bundle.track
        lay_out(content, app, inside(content, "solution.zip"))
        assert run_program(app / "input", app / "output") == 0
        scores = json.loads((app / "output" / "scores.json").read_text())
        keys = [column["key"] for column in read(content)["leaderboards"][0]["columns"]]
        assert sorted(scores) == sorted(keys)
        manifest = arena.manifest(bundle.track)
        constant = answer_constantly(manifest, arena.ids(bundle.track))
        expected = score(constant, arena.vault.truth(bundle.track), manifest).value
        assert scores["score"] == pytest.approx(expected, abs=1e-10)


def test_a_track_of_code_is_named_when_it_is_asked_for(five_tracks, tmp_path):
    with pytest.raises(
        InputError, match=r'"transfer" takes no files of predictions .* a bundle judges nothing else'
    ):
        write_bundles(five_tracks[2], tmp_path / "out", tracks=["transfer"])
    assert not (tmp_path / "out").exists()


def test_rules_that_need_another_package_are_refused(arena, tmp_path, monkeypatch):
    monkeypatch.setitem(METRICS._registered, "our_accuracy", METRICS.get("accuracy"))
    place = arena.folder / "public" / "commands" / "manifest.json"
    rules = json.loads(place.read_text())
    place.write_text(json.dumps({**rules, "metric": "our_accuracy"}))
    with pytest.raises(InputError, match=r'metric "our_accuracy" .* not one of the room scoring'):
        write_bundles(arena, tmp_path / "out")
    assert not (tmp_path / "out").exists()
