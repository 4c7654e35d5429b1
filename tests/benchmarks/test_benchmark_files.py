"""``benchmark.toml``: one's own recordings under every verb, and every mistake named."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from command_line import neuroarena_in
from neuroarena import Benchmark, load_benchmark
from neuroarena.errors import InputError
from own_recordings import raw_of, write_files

GOOD = """
data = "recordings"
names = "P{subject}R{run}"
window_s = [0, 1]
split = ["leave-one-subject-out", "leave-one-run-out"]
metric = "auroc"
band_hz = [8, 30]
pad_s = 0.5
[classes]
left = "left hand"
right = "right hand"
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "recordings").mkdir()
    write_files(folder / "recordings")
    (folder / "hands.toml").write_text(GOOD)
    (folder / "mine.py").write_text(
        'from neuroarena import load_benchmark\nHANDS = load_benchmark("hands.toml")\n'
        "def make():\n    return HANDS\nWRONG = 3\n"
    )
    return folder


def test_a_file_is_a_benchmark_under_every_verb(lab: Path):
    ran = neuroarena_in(lab, "run", "hands.toml", "-d", "csp-lda", "-d", "chance", "--json")
    assert ran.returncode == 0, ran.stderr
    rows = {row["decoder"]: row for row in json.loads(ran.stdout)}
    assert rows["csp-lda"]["score"] > 0.9
    assert rows["csp-lda"]["benchmark"].endswith("/hands")
    board = json.loads(neuroarena_in(lab, "board", "results", "--json").stdout)
    assert "csp-lda" in json.dumps(board)
    for words in (("check", "benchmark"), ("check", "leaks")):
        assert neuroarena_in(lab, *words, "hands.toml").returncode == 0
    decoder = neuroarena_in(lab, "check", "decoder", "csp-lda", "-b", "hands.toml")
    assert (decoder.returncode, "FAIL" in decoder.stdout) == (0, False)
    answers = Path(rows["csp-lda"]["folder"]) / "predictions.parquet"
    scored = neuroarena_in(lab, "score", "hands.toml", str(lab / answers), "--json")
    assert json.loads(scored.stdout)["score"] == rows["csp-lda"]["score"]


@pytest.mark.parametrize("attribute", ["HANDS", "make"])
def test_an_attribute_of_a_module_is_a_benchmark(lab: Path, attribute: str):
    ran = neuroarena_in(lab, "run", f"mine:{attribute}", "-d", "chance", "--out", attribute, "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)[0]["benchmark"].endswith("/hands")


def test_an_attribute_that_is_no_benchmark_is_refused(lab: Path):
    ran = neuroarena_in(lab, "run", "mine:WRONG", "-d", "chance")
    assert ran.returncode == 2
    assert (
        "mine:WRONG: expected a Benchmark, a function that returns one, or a family; got int." in ran.stderr
    )


def test_a_file_and_python_ask_the_same_question(lab: Path):
    asked = load_benchmark(str(lab / "hands.toml"))
    made = Benchmark.from_events(
        lab / "recordings",
        name="hands",
        names="P{subject}R{run}",
        classes={"left": "left hand", "right": "right hand"},
        window_s=(0, 1),
        split="leave-one-run-out",
        metric="auroc",
        band_hz=(8, 30),
        pad_s=0.5,
    )
    assert isinstance(asked, Benchmark)
    assert made.manifest.hash == asked.manifest.hash
    assert made.split("leave-one-run-out").hash == asked.split("leave-one-run-out").hash


def test_data_may_lie_elsewhere_and_events_in_a_table(lab: Path, tmp_path: Path):
    events = pd.DataFrame({"recording": ["P1R1"] * 4 + ["P1R2"] * 4, "onset_s": [1.0, 5.0, 9.0, 13.0] * 2})
    events["colour"] = ["red", "blue"] * 4
    events.to_csv(lab / "colours.tsv", sep="\t", index=False)
    file = tmp_path / "colours.toml"
    file.write_text(
        'data = ["recordings/P1R1.fif", "recordings/P1R2.fif"]\nevents = "colours.tsv"\ntarget = "colour"\n'
        'window_s = [0, 0.5]\nsplit = "leave-one-recording-out"\n'
    )
    benchmark = load_benchmark(str(file), str(lab))
    assert isinstance(benchmark, Benchmark)
    assert benchmark.manifest.classes == ("blue", "red")
    assert len(benchmark.examples) == 8


def test_files_of_epochs_and_listed_splits(lab: Path):
    import mne

    epochs = []
    for seed in (0, 1):
        raw = raw_of(seed)
        events, names = mne.events_from_annotations(raw, verbose="error")
        epochs.append(
            mne.Epochs(raw, events, names, tmin=0, tmax=0.5, baseline=None, preload=True, verbose="error")
        )
        epochs[-1].save(lab / f"run{seed}-epo.fif", overwrite=True, verbose="error")
    (lab / "epochs.toml").write_text(
        'data = ["run0-epo.fif", "run1-epo.fif"]\nepochs = true\n'
        '[split.published]\ncolumn = "recording"\ntest = ["run1-epo"]\napart = ["recording"]\n'
    )
    benchmark = load_benchmark(str(lab / "epochs.toml"))
    assert isinstance(benchmark, Benchmark)
    (fold,) = benchmark.split("published").folds
    assert (len(fold.train), len(fold.test)) == (len(epochs[0]), len(epochs[1]))
    with pytest.raises(InputError, match=r"run0-epo\.fif: holds epochs, .* write epochs = true"):
        Benchmark.from_events(lab / "run0-epo.fif", window_s=(0, 0.5), split="blocked-2-folds")
    said = neuroarena_in(lab, "data", "describe", "run*-epo.fif")
    assert f"{len(epochs[0])} epochs of 0 to 0.51 s" in said.stdout, said.stderr
    (lab / "described.toml").write_text(
        neuroarena_in(lab, "data", "describe", "run*-epo.fif", "--toml").stdout
    )
    described = load_benchmark(str(lab / "described.toml"))
    assert isinstance(described, Benchmark)
    assert described.splits == ("leave-one-run-out",)
    assert sorted(described.examples["run"].unique()) == ["0", "1"]
    (lab / "epochs.toml").write_text('data = "*-epo.fif"\nepochs = true\nstim_channel = "STI"\nsplit = "x"\n')
    with pytest.raises(InputError, match='the key "stim_channel" is for recordings; these are epochs'):
        load_benchmark(str(lab / "epochs.toml"))


REFUSALS = [
    ("nope", "hands.toml: cannot be read as TOML: Expected '=' after a key"),
    (GOOD.replace("data =", "dta ="), 'hands.toml: there is no key "dta". Did you mean "data"?'),
    (GOOD.replace('data = "recordings"', ""), 'the key "data" is missing. Expected a folder, a file, or a list'),
    (GOOD.replace('"recordings"', '"absent"'), "absent: there is no such file or folder"),
    (GOOD.replace("[0, 1]", '"soon"'), 'the key "window_s": expected two numbers, as in [0.5, 3.5], got \'soon\''),
    (GOOD.replace("[0, 1]", "[0, 1, 2]"), 'the key "window_s"'),
    (GOOD.replace("auroc", "roc"), 'hands.toml: the key "metric": No metric "roc". Did you mean'),
    (GOOD.replace("pad_s = 0.5", "pad_s = -1"), 'the key "pad_s": expected a number of seconds from 0 to 60, got -1'),
    (GOOD.replace("left =", "lft ="), 'no event has the description "lft"; there are: left (32), right (32)'),
    (GOOD.replace("P{subject}R{run}", "S{subject}"), 'P1R1.fif: is not named as "S{subject}" says'),
    (GOOD.replace("[classes]", "[klasses]"), 'there is no key "klasses". Did you mean "classes"?'),
    (GOOD.replace('metric = "auroc"', "") + 'metric = "auroc"', 'the key "metric" stands below [classes]'),
    (GOOD.replace("[8, 30]", "[8, 80]"), "the band up to 80 Hz is not below half the sampling rate"),
    (GOOD.replace('metric = "auroc"', 'metric = "auroc"\ntie_break = "rmse"'), '"rmse" judges number'),
    (GOOD.replace("leave-one-run-out", "leave-one-day-out"), 'The split "leave-one-day-out" needs a column'),
    (GOOD.replace("[classes]", "[where]\nsubject = 3\n[classes]"), 'no event is left of those that the key "where"'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSALS, ids=[message[:45] for _, message in REFUSALS])
def test_a_mistake_in_a_file_is_named_and_nothing_is_written(
    lab: Path, tmp_path: Path, text: str, message: str
):
    (tmp_path / "hands.toml").write_text(text)
    ran = neuroarena_in(tmp_path, "run", "hands.toml", "-d", "chance", "--data", str(lab))
    assert (ran.returncode, message in ran.stderr) == (2, True), ran.stderr
    assert not (tmp_path / "results").exists()


def test_a_file_that_is_not_there_says_how_to_write_one(tmp_path: Path):
    with pytest.raises(
        InputError, match=r"there is no such file\. Write one with: neuroarena new benchmark NAME"
    ):
        load_benchmark(str(tmp_path / "mine.toml"))


def test_an_object_that_has_its_data_takes_no_others(lab: Path):
    ran = neuroarena_in(lab, "run", "mine:HANDS", "-d", "chance", "--data", ".")
    assert (ran.returncode, "is bound to its data already" in ran.stderr) == (2, True)


def test_a_file_may_begin_with_a_mark_of_its_byte_order(lab: Path):
    (lab / "marked.toml").write_text(GOOD, encoding="utf-8-sig")
    assert load_benchmark(str(lab / "marked.toml")).manifest.classes == ("left hand", "right hand")
