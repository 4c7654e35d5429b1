"""The bench runner: new files are found, figures have a median and a spread, and the page shows what was measured."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bench import running
from bench.__main__ import find_unmeasured
from bench.figures import growth_exponent, list_benches, stated_figures, summarise
from bench.page import PAGE, write_page
from bench.running import Repetitions, run_once, run_rounds

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {"processor": "a processor", "cores": "2"}


def test_a_bench_file_that_appears_is_found_by_itself(tmp_path):
    (tmp_path / "bench_new.py").write_text("")
    (tmp_path / "other.py").write_text("")
    assert list_benches(tmp_path) == ["bench_new"]


@pytest.mark.parametrize("name", [*list_benches(), "growth"])
def test_what_a_bench_must_meet_is_a_figure_with_an_aim(name):
    stated, must, runs = stated_figures(name)
    assert runs >= 1
    for words, relation, aim in stated.values():
        assert words
        assert relation in ("at most", "at least", "")
        assert (aim is None) == (relation == "")
    for figure in must:
        assert stated[figure][2] is not None


def test_an_aim_is_met_by_the_median_and_not_by_the_best():
    stated = {"ratio": ("A ratio", "at least", 2.0)}
    (missed,) = summarise([{"ratio": 1.0}, {"ratio": 1.5}, {"ratio": 9.0}], stated)
    assert (missed.median, missed.low, missed.high, missed.met) == (1.5, 1.0, 9.0, False)
    (met,) = summarise([{"ratio": 2.0}], stated)
    assert met.met is True


def test_the_exponent_of_a_square_is_two():
    assert growth_exponent([3, 10, 30], [9.0, 100.0, 900.0]) == pytest.approx(2.0)


def test_the_page_shows_the_newest_run_of_a_bench_with_its_spread_and_what_was_missed(tmp_path):
    def record(run: str, seconds: float) -> str:
        said = {"bench": "bench_start", "time": run, "run": run, "environment": ENVIRONMENT, "load": 0.5}
        costs = {"seconds": 3.0, "cpu_seconds": 2.0, "peak_mb": 50}
        return json.dumps({**said, **costs, "figures": {"help_s": seconds, "bare_python_s": 0.02}})

    lines = [record("2026-01-01", 0.1), record("2026-01-02", 0.6), record("2026-01-02", 0.7)]
    (tmp_path / "figures.jsonl").write_text("\n".join(lines) + "\n")
    write_page(tmp_path, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text()
    assert (
        "| `neuroarena --help`, best of seven, s | 0.65 | 0.6 to 0.7 (2) | at most 0.5, **missed** |" in page
    )
    assert "a processor" in page
    assert "not measured" not in page
    assert "| `bench_start` | 2 | 3 | 2 | 50 |" in page


def test_the_page_names_an_aim_that_was_not_measured(tmp_path):
    said = {"bench": "bench_start", "time": "t", "run": "t", "environment": ENVIRONMENT, "load": 0.5}
    costs = {"seconds": 3.0, "cpu_seconds": 2.0, "peak_mb": 50, "figures": {"bare_python_s": 0.02}}
    (tmp_path / "figures.jsonl").write_text(json.dumps({**said, **costs}) + "\n")
    write_page(tmp_path, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text()
    assert "| `neuroarena --help`, best of seven, s | not measured | | at most 0.5 |" in page


def test_the_page_in_the_docs_has_every_aim_of_the_benches_it_was_written_from():
    page = PAGE.read_text(encoding="utf-8")
    written = [name for name in [*list_benches(), "growth"] if f"| `{name}` |" in page]
    assert {"bench_cells", "bench_verdicts", "growth"} <= set(written)
    for name in written:
        for words, _, aim in stated_figures(name)[0].values():
            assert aim is None or f"| {words} |" in page, f"{name}: run make bench, which writes the page"


def test_an_unknown_bench_is_refused_with_those_there_are():
    asked = [sys.executable, "-m", "bench", "bench_nothing"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "bench_cells" in done.stderr


# A bench that starts a helper, and then does what its name says: wait for ever, fail, or end well.
STRANGE = """
import json, pathlib, subprocess, sys, time
name, written = sys.argv[2:]
helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("helper").write_text(str(helper.pid))
if name == "waits":
    time.sleep(600)
pathlib.Path(written).write_text(json.dumps({"a": 1}))
sys.exit(3 if name == "fails" else 0)
"""


@pytest.mark.parametrize(
    ("name", "most_s", "failures"),
    [
        ("waits", 3.0, ["waits was stopped after 3 s"]),
        ("fails", 300.0, ["fails left with 3"]),
        ("ends", 300.0, []),
    ],
)
def test_a_bench_that_hangs_is_stopped_and_leaves_no_process_behind(
    tmp_path, monkeypatch, name, most_s, failures
):
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "__init__.py").write_text("")
    (tmp_path / "bench" / "__main__.py").write_text(STRANGE)
    monkeypatch.setattr(running, "ROOT", tmp_path)
    each = Repetitions(name)
    run_once(each, tmp_path / "results", {"run": "now", "environment": ENVIRONMENT}, most_s)
    assert each.failures == failures
    assert [figures["a"] for figures in each.figures] == ([] if failures else [1])
    helper = tmp_path / "helper"
    # A bench on a busy machine may be stopped before it starts one.
    assert not helper.exists() or wait_until_gone(int(helper.read_text()))


def wait_until_gone(process: int, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_benches_that_the_time_does_not_reach_are_named_as_failures(tmp_path):
    found = run_rounds(["bench_start", "growth"], 0.0, tmp_path)
    assert [each.failures for each in found] == [
        ["bench_start was not run: the 0 minutes were over"],
        ["growth was not run: the 0 minutes were over"],
    ]


def test_a_figure_that_is_stated_and_not_measured_is_found():
    each = Repetitions("bench_start", figures=[{"help_s": 0.2, "bare_python_s": 0.01}])
    assert find_unmeasured(each) == ["import_neuroarena_s"]
