"""The command line, as a user meets it: results, refusals, exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from command_line import BARE_PYTEST, neuroarena_in
from neuroarena import load_benchmark, score
from neuroarena.evaluation import find_results
from neuroarena.scoring import read_predictions
from shared_data import SHARED
from track_twins import twin


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with a small twin and the results of two decoders on it."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "twin").symlink_to(twin("braintreebank"))
    run = ["run", "neuroprobe/onset", "--data", "twin", "--split", "cross-session", "--out", "results"]
    ran = neuroarena_in(folder, *run, "--decoder", "linear-laplacian-spectrogram", "--decoder", "chance")
    assert ran.returncode == 0, ran.stderr
    (folder / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    (folder / "slips.py").write_text("def f(:\n")
    return folder


def fine(folder: Path, *words: str) -> str:
    ran = neuroarena_in(folder, *words)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("kind", ["benchmarks", "decoders", "datasets", "metrics", "maps"])
def test_everything_can_be_listed(place, kind):
    rows = json.loads(fine(place, "list", kind, "--json"))
    text = fine(place, "list", kind)
    for row in rows:
        assert row["name"].partition("/")[2] or row["name"] in text
        # Other tests of this process may have registered something of their own.
        assert row["from"] in ("neuroarena", "this process", "braindecode")


def test_two_definitions_of_neuroprobe_are_listed_on_request(place):
    names = [row["name"] for row in json.loads(fine(place, "list", "benchmarks", "--definitions", "--json"))]
    assert "neuroprobe@2025.09/onset" in names
    assert "neuroprobe@2025.10/onset" in names


def test_a_run_says_where_it_is_and_that_it_is_simulated(place):
    run = ["run", "neuroprobe/onset", "--data", "twin", "--split", "cross-session", "--decoder", "chance"]
    said = fine(place, *run, "--out", "results")
    assert "simulated" in said
    assert "neuroarena board results" in said
    (row,) = json.loads(fine(place, *run, "--out", "results", "--json"))
    assert (row["status"], row["simulated"], row["units"]) == ("complete", True, 4)


def test_a_run_says_what_a_reader_of_its_result_must_know(place):
    run = ["run", "neuroprobe/onset", "--data", "twin", "--split", "within-session", "--decoder", "chance"]
    ran = neuroarena_in(place, *run, "--decoder", "dummy", "--out", "noted", "--json")
    first, second = json.loads(ran.stdout)
    (note,) = first["notes"]
    assert note.startswith("Of ")
    assert second["notes"] == [note]
    assert ran.stderr.count(f"note: {note}\n") == 1


def test_repeats_are_counted_and_a_decoder_without_chance_is_trained_once(place):
    run = ["run", "neuroprobe/onset", "--data", "twin", "--split", "cross-session", "--repeats", "3"]
    asked = [*run, "--decoder", "chance", "--decoder", "dummy", "--out", "repeated"]
    ran = neuroarena_in(place, *asked, "--json")
    assert [row["seeds"] for row in json.loads(ran.stdout)] == [3, 3]
    assert "dummy draws nothing at random: it was trained once" in ran.stderr
    assert "chance draws" not in ran.stderr
    assert "seeds" in fine(place, *asked)
    refused = neuroarena_in(place, *run, "--decoder", "chance", "--submission", "mine.parquet")
    assert refused.returncode == 2
    assert "--seed chooses the one to submit" in refused.stderr


def test_the_same_file_gives_byte_identical_unit_scores_by_api_and_command(place):
    (folder,) = [path for path in find_results([place / "results"]) if "laplacian" in path.name]
    words = ["--data", "twin", "--split", "cross-session", "--out", "scored", "--name", "again"]
    fine(place, "score", "neuroprobe/onset", str(folder / "predictions.parquet"), *words)
    benchmark = load_benchmark("neuroprobe/onset", data=str(place / "twin"))
    truth = benchmark.truth(benchmark.split("cross-session"))
    predictions = read_predictions(folder / "predictions.parquet", benchmark.manifest)
    score(predictions, truth, benchmark.manifest).write(place / "by-api.parquet")
    (scored,) = find_results([place / "scored"])
    written = [path.read_bytes() for path in (scored / "unit_scores.parquet", place / "by-api.parquet")]
    assert written[0] == written[1] == (folder / "unit_scores.parquet").read_bytes()


def test_a_csv_file_of_predictions_scores_the_same(place):
    (folder,) = [path for path in find_results([place / "results"]) if "laplacian" in path.name]
    pd.read_parquet(folder / "predictions.parquet").to_csv(place / "predictions.csv", index=False)
    words = [
        "score",
        "neuroprobe/onset",
        "predictions.csv",
        "--data",
        "twin",
        "--split",
        "cross-session",
        "--json",
    ]
    from_csv = json.loads(fine(place, *words))
    record = json.loads((folder / "record.json").read_text())
    assert from_csv["score"] == pytest.approx(record["score"], abs=1e-12)


def test_a_board_is_printed_exported_and_drawn(place):
    said = fine(place, "board", "results", "--draws", "200")
    assert "simulated" in said
    assert "linear-laplacian-spectrogram" in said
    for kind in ("csv", "json", "parquet", "latex", "html"):
        said = fine(place, "board", "results", "--draws", "200", "--export", kind, f"board.{kind}")
        assert said == ""
        assert (place / f"board.{kind}").stat().st_size > 200
    fine(place, "board", "results", "--draws", "200", "--plots", "plots")
    assert {path.suffix for path in (place / "plots").rglob("*.*")} == {".svg", ".png"}
    rankings = json.loads(fine(place, "board", "results", "--draws", "200", "--json"))["rankings"]
    assert [row["team"] for row in rankings[0]["table"]] == ["linear-laplacian-spectrogram", "chance"]


def test_rules_are_read_from_a_file_and_what_is_typed_wins(place):
    (place / "rules.toml").write_text('rule = "latest"\nn_draws = 150\nno_prizes = ["chance"]\n')
    made = json.loads(fine(place, "board", "results", "--rules", "rules.toml", "--draws", "200", "--json"))
    assert (made["rules"]["rule"], made["rules"]["n_draws"]) == ("latest", 200)
    prizes = {row["team"]: row["prize"] for row in made["rankings"][0]["table"]}
    assert prizes == {"linear-laplacian-spectrogram": 1, "chance": None}
    (place / "rules.toml").write_text('colour = "red"\n')
    refused = neuroarena_in(place, "board", "results", "--rules", "rules.toml")
    assert refused.returncode == 2
    assert "colour" in refused.stderr
    (place / "rules.toml").unlink()


def test_pairs_are_compared(place):
    (ranking,) = json.loads(fine(place, "compare", "results", "--draws", "200", "--json"))
    (pair,) = ranking["pairs"]
    assert pair["team_a"] == "linear-laplacian-spectrogram"
    assert pair["delta_point"] > 0
    assert pair["verdict"] == "none"
    assert pair["p"] is None
    said = " ".join(fine(place, "compare", "results", "--draws", "200").split())
    assert "95 % interval" in said
    assert "6 needed" in said
    names = [pair["team_c"], pair["team_a"]]
    alone = fine(place, "compare", "results", "--draws", "200", "--teams", *names, "--alone")
    assert "this pair alone, not corrected for other teams" in alone


def test_sizing_from_numbers_and_from_results(place):
    # (1.96 * 0.1 / 0.02)^2 = 96.04, so 97 units are needed; with 25 the half width is 1.96 * 0.1 / 5 = 0.0392.
    answer = json.loads(fine(place, "size", "--sigma", "0.1", "--nu", "0.02", "--units", "25", "--json"))
    assert answer["required_units"] == 97
    assert answer["half_width"] == pytest.approx(0.0392)
    assert answer["meets"] is False
    assert json.loads(fine(place, "size", "results", "--nu", "0.05", "--json"))[0]["n_units"] == 4
    assert "97" in fine(place, "size", "--sigma", "0.1", "--nu", "0.02")
    needs = json.loads(
        fine(place, "size", "--difference-sigma", "1", "--nu", "0.5", "--teams", "10", "--json")
    )
    assert needs["levels_for_better"] == 75


def test_a_new_decoder_works_as_written(place):
    fine(place, "new", "decoder", "nearest-mean")
    fine(place, "check", "decoder", "nearest_mean:NearestMean", "--benchmark", "neuroprobe/onset")
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_nearest_mean.py"],
        cwd=place,
        env={**os.environ, **BARE_PYTEST},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout
    run = ["run", "neuroprobe/onset", "--data", "twin", "--split", "cross-session", "--out", "own", "--json"]
    (row,) = json.loads(fine(place, *run, "--decoder", "nearest_mean:NearestMean"))
    assert row["score"] > 0.6


def test_real_boards_are_imported(place):
    submissions = SHARED / "data" / "neuroprobe" / "submissions"
    if not submissions.exists():
        pytest.skip("the shared submissions are not beside the project")
    folders = [str(folder) for folder in sorted(submissions.iterdir())]
    words = [
        "board",
        "--from",
        "neuroprobe",
        *folders,
        "--split",
        "Within-Session",
        "--draws",
        "200",
        "--json",
    ]
    rankings = json.loads(fine(place, *words))["rankings"]
    (overall,) = [ranking for ranking in rankings if ranking["kind"] == "overall"]
    assert overall["table"][0]["score"] == pytest.approx(0.660, abs=5e-4)
    final = json.loads(
        fine(place, "board", "--from", "eeg2025", str(SHARED / "data/eeg2025/final_board.csv"), "--json")
    )
    assert final["summary"]["n"] == 184


RUN = "run neuroprobe/onset --decoder linear --out x --data twin"
MODEL = "run brainscore/Kar2019-ost --decoder pixels"
REFUSALS = [
    (
        "run neuroprobe/onsett --decoder linear --out x",
        'No benchmark "neuroprobe/onsett". Did you mean "neuroprobe/onset"',
    ),
    ("run nuroprobe --decoder linear --out x", 'Did you mean "neuroprobe"'),
    ("run neuroprobe@2024/onset --decoder linear --out x", 'No definition "neuroprobe@2024"'),
    ("run a/b/c@d --decoder linear --out x", "is not a benchmark name"),
    ("run neuroprobe/onset --decoder linaer --out x --data twin", 'Did you mean "linear"'),
    (
        "run neuroprobe/onset --decoder linear --out x --data nowhere",
        "neuroarena data simulate braintreebank DIR",
    ),
    (f"{RUN} --split cross-sesion", 'Did you mean "cross-session"'),
    (f"{RUN} -O sessions=3_0", "btbank3_0"),
    (f"{RUN} -O sessions=first", "is not a session"),
    (f"{RUN} -O sesions=1_1", 'Did you mean "sessions"? See: neuroarena list options neuroprobe'),
    (f"{RUN} -O folds=one", 'the option folds is "one"; expected a whole number, 2 or more'),
    (f"{RUN} -O folds=2 --option folds=3", "The option folds was given twice"),
    (f"{RUN} -O sessions=", 'the option sessions is ""; expected names separated by commas'),
    (f"{RUN} --sessions 1_1", "--sessions is an option of the family neuroprobe: write -O sessions=VALUE"),
    (f"{RUN} --offset 0,1", "--offset is an option of the family neuroprobe: write -O offset_s=VALUE"),
    (
        f"{RUN} --max-samples=60",
        "--max-samples is an option of the family neuroprobe: write -O max_samples=60",
    ),
    (f"{RUN} -O folds", "Expected -O NAME=VALUE"),
    ("list options nuroprobe", 'No family "nuroprobe". Did you mean "neuroprobe"'),
    ("list decoders neuroprobe", "list decoders takes no name"),
    ("score neuroprobe/onset nothing.parquet", "there is no such file"),
    ("score nosuch nothing.parquet", 'No benchmark "nosuch"'),
    ("score neuroprobe twin/simulated.json --data twin", "name one"),
    ("score neuroprobe/onset twin/simulated.json --data twin", "simulated.json"),
    ("board nowhere", "there is no such folder"),
    ("board twin", "no run in this folder"),
    ("board results --rule best-of-all", "best-of-last-N"),
    ("board results --as-of yesterday", "as_of"),
    ("board results --as-of 2001-01-01T00:00:00Z", "no entry to rank"),
    ("board results --split sideways", 'No result has the split "sideways"'),
    ("board results --export docx board.docx", "docx"),
    ("board --from eeg2025 twin results", "is one CSV file"),
    ("size", "Pass --sigma"),
    ("size --sigma -1 --nu 0.1", "sigma"),
    ("data verify braintreebank nowhere", "was not found"),
    ("data simulate braintreebanc x", 'Did you mean "braintreebank"'),
    ("data simulate braintreebank x --colour red", 'no option "--colour"'),
    ("data simulate braintreebank x --seed", "needs a value"),
    ("data simulate braintreebank results", "results"),
    ("data where braintreebank", "no folder was named"),
    ("new decoder 1st", "cannot be made into a Python module name"),
    ("check decoder json:dumps --benchmark neuroprobe/onset", "cannot be made"),
    ("check decoder leaves:X --benchmark neuroprobe/onset", "cannot be loaded from leaves:X: SystemExit"),
    ("check decoder slips:X --benchmark neuroprobe/onset", "cannot be loaded from slips:X: SyntaxError"),
    (
        "board results -O level=electrode",
        "-O level is an option of an importer; name the importer with --from",
    ),
    ("board twin/simulated.json", "this is a file. Expected a folder that neuroarena run or score wrote"),
    ("new benchmark x --kind eg", 'Did you mean "eeg"? There are: eeg, brainscore.'),
    ("board results --export csv .", "Is a directory"),
    ("board results --plots twin/simulated.json", "File exists"),
    (f"{RUN.replace(' --out x', ' --out twin/simulated.json')}", "is a file. Name a folder to keep"),
    (f"{RUN} --cache twin/simulated.json", "simulated.json"),
    ("board --from eeg2025 twin --rule latest --plots p", "--rule, --plots cannot be used with"),
    (
        f"{MODEL} --grid a=1 --notch 60",
        "--grid, --notch cannot be used with brainscore/Kar2019-ost",
    ),
    (f"{MODEL} --seed 3 --cache x", "--seed, --cache cannot be used with brainscore/Kar2019-ost"),
    (f"{MODEL} --submission mine.parquet", "--submission cannot be used with brainscore/Kar2019-ost"),
    (f"{RUN} --contact me", "--contact cannot be used with a run that writes no submission"),
    (
        "score brainscore/Kar2019-ost mine.parquet",
        "judges models, not files of predictions. Use: neuroarena run",
    ),
    ("score neuroprobe/onset mine.csv --fast --seconds 3", "--fast, --seconds cannot be used with mine.csv"),
    ("score eeg2025 mine.zip -O release=5", "-O release cannot be used with code in a zip"),
    ("check leaks brainscore/Kar2019-ost", "Check a model with: neuroarena check decoder MODEL"),
    ("check benchmark bci", '"bci" is a family of 2 tasks; name one, as in bci/commands'),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSALS, ids=[words[:60] for words, _ in REFUSALS])
def test_bad_input_gets_one_sentence_and_exit_code_2(place, words, sentence):
    before = sorted(place.iterdir())
    refused = neuroarena_in(place, *words.split())
    assert refused.returncode == 2
    assert sentence in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
    assert sorted(place.iterdir()) == before


def test_a_decoder_checked_for_a_family_is_told_for_which_task(place):
    checked = neuroarena_in(place, "check", "decoder", "chance", "--benchmark", "bci")
    assert checked.returncode == 0
    assert checked.stderr == "note: checked for bci/commands, the first of 2 tasks; -b names another\n"


def test_a_refusal_of_a_real_process_shows_no_traceback(place):
    command = [sys.executable, "-m", "neuroarena", "board", "nowhere"]
    ran = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("neuroarena: nowhere: there is no such folder.")


def test_a_failing_decoder_leaves_with_exit_code_1_and_its_reason(place):
    (place / "broken.py").write_text(
        "from neuroarena.decoders import Chance\n"
        "class Broken(Chance):\n"
        "    def predict(self, test):\n"
        "        raise RuntimeError('the electrode fell off')\n"
    )
    run = ["run", "neuroprobe/onset", "--data", "twin", "--decoder", "broken:Broken", "--out", "failed"]
    ran = neuroarena_in(place, *run, "--split", "cross-session")
    assert ran.returncode == 1
    assert "4 of 4 cells failed" in ran.stderr
    assert "the electrode fell off" in ran.stderr
    board = neuroarena_in(place, "board", "failed", "results", "--draws", "100", "--json")
    below = json.loads(board.stdout)["rankings"][0]["unranked"]
    assert below[0]["team"] == "broken:Broken"
    assert "the electrode fell off" in below[0]["reason"]


DAMAGES = {
    "not JSON": lambda record: "{",
    "no decoder": lambda record: {**record, "decoder": None},
    "no time": lambda record: {key: value for key, value in record.items() if key != "finished"},
    "no such time": lambda record: {**record, "finished": "tomorrow"},
    "empty split": lambda record: {**record, "split": {}},
    "no cells": lambda record: {**record, "cells": None},
    "odd cell": lambda record: {**record, "cells": [3]},
    "odd manifest": lambda record: {**record, "manifest": {"name": "x"}},
    "other schema": lambda record: {**record, "schema_version": 99},
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record_is_refused_by_name(place, tmp_path, damage):
    folder = shutil.copytree(find_results([place / "results"])[0], tmp_path / "copy" / "run")
    damaged = DAMAGES[damage](json.loads((folder / "record.json").read_text()))
    (folder / "record.json").write_text(damaged if isinstance(damaged, str) else json.dumps(damaged))
    refused = neuroarena_in(tmp_path, "board", "copy")
    assert refused.returncode == 2
    assert "record.json" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
