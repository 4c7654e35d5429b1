"""Every engine runs the same cells: the same cache and the same results, whatever happens to its workers."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest

from command_line import neuroarena_in
from neuroarena.errors import DiskFull, InputError
from neuroarena.evaluation import Result, evaluate, evaluate_all
from neuroarena.evaluation.engines import Engine, make_engine
from neuroarena.evaluation.engines.packs import Pack, choose_pack_size, cut_packs, run_packs
from neuroarena.evaluation.evaluate import Interrupted, compute_shard
from neuroarena.evaluation.plan import plan_runs
from neuroarena.evaluation.shards import Shard
from slurm import Cluster, running_slurm
from toy import GATE, Fragile, Mean, Slow, describe_gate, open_gate, toy_benchmark, wait_for_cells
from track_twins import twin


def content(cache: Path) -> dict[str, str]:
    """Return the digest of every cell and feature of a cache."""
    return {
        str(path.relative_to(cache)): hashlib.sha256(path.read_bytes()).hexdigest()
        for kind in ("cells", "features")
        for path in sorted((cache / kind).rglob("*"))
        if path.is_file()
    }


def planned(decoder: Mean | None = None, split: str = "within") -> list:
    return list(plan_runs([("mean", decoder or Mean())], [toy_benchmark()], [split])[0].cells)


def test_a_pack_computes_only_what_the_cache_lacks(tmp_path):
    log = tmp_path / "log"
    cells = planned(Mean(log=str(log)))
    first, whole = Pack(tuple(cells[:3]), tmp_path / "cache"), Pack(tuple(cells), tmp_path / "cache")
    assert [each["error"] for each in first()] == [None] * 3
    assert [outcome.error for outcome in whole.open(whole())] == [None] * 8
    assert log.read_text().count("fit") == 8


def test_a_lost_pack_is_divided_into_what_is_there_and_packs_of_one(tmp_path):
    cells = planned()
    pack = Pack(tuple(cells[:4]), tmp_path / "cache")
    Pack(tuple(cells[:1]), tmp_path / "cache")()
    kept, rest = pack.settle()
    assert [outcome.job for outcome in kept] == cells[:1]
    assert [each.jobs for each in rest] == [(cell,) for cell in cells[1:4]]
    assert [outcome.error for outcome in pack.give_up("it was lost")] == [None, *["it was lost"] * 3]


def test_a_pack_is_not_computed_with_other_versions_than_it_was_planned_with(tmp_path):
    cells = planned()
    pack = Pack(tuple(cells), tmp_path / "cache", versions={"neuroarena": "0.0.1"})
    told = {each["error"] for each in pickle.loads(pickle.dumps(pack))()}
    assert len(told) == 1
    assert "neuroarena 0.0.1" in told.pop()
    assert not (tmp_path / "cache").exists()


def test_a_pack_that_nobody_waits_for_begins_no_further_cell(tmp_path):
    cells, flag = planned(), tmp_path / "wanted"
    flag.touch()
    first, whole = (Pack(tuple(some), tmp_path / "cache", wanted=flag) for some in (cells[:1], cells))
    assert first()[0]["error"] is None
    flag.unlink()
    errors = [each["error"] for each in pickle.loads(pickle.dumps(whole))()]
    assert errors[0] is None
    assert set(errors[1:]) == {"the run that asked for it was stopped"}


class AskThreads:
    """A job that writes down how many threads a matrix product may use."""

    label, key = "threads", "0" * 64

    def is_done(self, cache: Path) -> bool:
        return False

    def run(self, cache: Path) -> None:
        import numpy  # noqa: F401 - its library is the one that is asked
        from threadpoolctl import threadpool_info

        (cache / "threads").write_text(str(max(each["num_threads"] for each in threadpool_info())))


def test_a_pack_computes_on_one_thread(tmp_path):
    assert Pack((AskThreads(),), tmp_path)()[0]["error"] is None
    assert (tmp_path / "threads").read_text() == "1"


# What a worker of a cluster is: a process of its own, which knows none of the caller's folders.
WORKER = """
import pickle, sys
import neuroarena.evaluation.engines
assert not {"submitit", "dask", "distributed"} & set(sys.modules)
told = pickle.load(open(sys.argv[1], "rb"))()
print([each["error"] for each in told])
"""


def test_a_worker_finds_the_decoder_of_the_callers_folder_and_imports_no_engine(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("from toy import Mean\n\n\nclass Mine(Mean):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    from mine import Mine

    pack = tmp_path / "pack"
    pack.write_bytes(pickle.dumps(Pack(tuple(planned(Mine())[:1]), tmp_path / "cache")))
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    asked = [sys.executable, "-c", WORKER, str(pack)]
    done = subprocess.run(asked, capture_output=True, text=True, cwd="/", env=clean, check=False)
    assert done.stdout == "[None]\n", done.stderr


def test_packs_hold_every_job_once():
    assert [len(pack.jobs) for pack in cut_packs(planned(), Path("/cache"), 3)] == [3, 3, 2]
    assert [choose_pack_size(n, 4) for n in (1, 100, 10**6)] == [1, 6, 200]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"name": "slrm"}, 'No engine "slrm". Did you mean "slurm"?'),
        ({"name": "slurm", "options": {"partitoin": "gpu"}}, '"partition"'),
        ({"name": "slurm", "options": {"timeout_min": "2"}}, "5 or more"),
        ({"name": "slurm", "scheduler": "tcp://head:8786"}, "--scheduler is the address of a Dask scheduler"),
        ({"name": "local", "pack": 5}, "--pack says how many cells travel together"),
        ({"name": "local", "options": {"gpu": "1"}}, "no option"),
        ({"name": "dask", "options": {"memory_limit": "4 elephants"}}, "such as 4GiB or 500MB"),
        (
            {"name": "dask", "scheduler": "tcp://head:8786", "options": {"memory_limit": "4GiB"}},
            "dask worker tcp://head:8786 --memory-limit 4GiB",
        ),
    ],
)
def test_a_wrong_engine_is_refused_by_name(words: dict, sentence: str):
    with pytest.raises(InputError, match=re.escape(sentence)):
        make_engine(**words)


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "1/0", "-1/3", "1/2/3"])
def test_a_wrong_shard_is_refused(text: str):
    with pytest.raises(InputError, match="expected i/n"):
        Shard.parse(text)


def test_shards_divide_the_cells_and_the_run_afterwards_computes_none(tmp_path):
    log, cache = tmp_path / "log", tmp_path / "cache"
    decoder, benchmark = Mean(log=str(log)), toy_benchmark()
    ended = [
        compute_shard([("mean", decoder)], [benchmark], ["within"], Shard(number, 3), cache=cache)
        for number in (1, 2, 3)
    ]
    assert sum(each.cells for each in ended) == ended[0].planned == 8
    assert log.read_text().count("fit") == 8
    result = evaluate_all([("mean", decoder)], [benchmark], ["within"], cache=cache)[0]
    assert log.read_text().count("fit") == 8
    assert result.score == evaluate(Mean(), benchmark, "within", cache=tmp_path / "other").score


def test_a_decoder_without_identity_is_not_computed_in_shards(tmp_path):
    decoder = Mean()
    decoder.choose = lambda: 1
    with pytest.raises(InputError, match="without --shard"):
        compute_shard([("mean", decoder)], [toy_benchmark()], ["within"], Shard(1, 2), cache=tmp_path)


def test_a_decoder_without_identity_has_other_keys_in_every_plan():
    """By its address in memory two processes could have read each other's predictions from one cache."""
    decoder = Mean()
    decoder.choose = lambda: 1
    keys = [cell.key for _ in range(2) for cell in planned(decoder)]
    assert len(set(keys)) == len(keys)
    assert planned()[0].key == planned()[0].key


def test_a_shard_on_the_command_line_writes_no_results(tmp_path):
    words = ("run", "bci/commands", "--data", str(twin("bci_commands")), "-d", "chance", "--shard", "1/1")
    done = neuroarena_in(tmp_path, *words)
    assert "assembles the results" in done.stdout, done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--shard", "1/2", "--submission", "mine.parquet"), "--submission cannot be used with --shard"),
        (
            ("--shard", "1/2", "--check-leaks", "--profile"),
            "--check-leaks, --profile cannot be used with --shard",
        ),
        (("--shard", "3/2"), "expected i/n"),
        (
            ("--engine", "dask", "--engine-option", "gpu"),
            '"gpu" is not an option. Expected --engine-option NAME=VALUE',
        ),
        (("--engine", "slurm", "--workers", "2"), "--workers cannot be used with --engine slurm"),
        (
            ("--engine", "dask", "--scheduler", "tcp://x:1", "--workers", "2"),
            "--workers cannot be used with --scheduler",
        ),
    ],
)
def test_what_a_run_would_ignore_is_refused_before_the_data_are_looked_for(tmp_path, words, sentence):
    done = neuroarena_in(tmp_path, "run", "bci/commands", "--data", "nowhere", "-d", "chance", *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert list(tmp_path.iterdir()) == []


def test_a_share_of_training_is_refused_where_nothing_is_trained(tmp_path):
    words = (
        "run",
        "brainscore/FreemanZiemba2013.V1-pls",
        "-d",
        "pixels",
        "--train-fraction",
        "0.5",
        "--shard",
        "1/2",
    )
    done = neuroarena_in(tmp_path, *words)
    assert (done.returncode, "--shard, --train-fraction cannot be used with" in done.stderr) == (2, True)


def test_the_options_of_an_engine_are_listed(tmp_path):
    assert "timeout_min" in neuroarena_in(tmp_path, "list", "options", "slurm").stdout


def test_packs_of_submitit_leave_the_same_cache_as_local_and_a_cell_that_raises_fails_alone(tmp_path):
    local = evaluate(Fragile(), toy_benchmark(), "within", cache=tmp_path / "local")
    engine = make_engine("slurm", pack=4, options={"cluster": "local"})
    there = evaluate(Fragile(), toy_benchmark(), "within", cache=tmp_path / "packs", engine=engine)
    assert {cell.fold for cell in there.record.failed_cells} == {"2_0/0", "2_0/1"}
    assert "the electrode fell off" in there.record.failed_cells[0].error
    pd.testing.assert_frame_equal(there.predictions, local.predictions, check_exact=True)
    kept = content(tmp_path / "packs")
    assert sum(name.endswith(".cell") for name in kept) == 6
    assert kept == content(tmp_path / "local")


@pytest.mark.drill
def test_dask_leaves_the_same_cache_although_a_worker_is_killed(tmp_path, monkeypatch):
    local = evaluate(Slow(), toy_benchmark(), "within", cache=tmp_path / "local")
    engine = make_engine("dask", workers=2, pack=1)
    monkeypatch.setenv(GATE, gate := describe_gate(tmp_path, 3))
    threading.Thread(target=kill_a_child_after_cells, args=(tmp_path / "dask", 2, gate)).start()
    there = evaluate(Slow(), toy_benchmark(), "within", cache=tmp_path / "dask", engine=engine)
    assert there.score == local.score
    assert content(tmp_path / "dask") == content(tmp_path / "local")


@pytest.mark.drill
@pytest.mark.parametrize(("how", "options"), [("die", {}), ("eat", {"memory_limit": "900MiB"})])
def test_a_cell_that_kills_its_dask_worker_is_named_and_the_others_are_there(tmp_path, how, options):
    engine, log = make_engine("dask", workers=2, pack=4, options=options), tmp_path / "log"
    decoder = Fragile(how=how, log=str(log))
    result = evaluate(decoder, toy_benchmark(), "within", cache=tmp_path / "cache", engine=engine)
    assert {cell.fold for cell in result.record.failed_cells} == {"2_0/0", "2_0/1"}
    assert "killed" in result.record.failed_cells[0].error
    # Two workers for the pack and two for each of the cells alone; by Dask's own rule it would be four each.
    assert log.read_text().count("fit") < 6 + 3 * 4


@pytest.mark.drill
def test_dask_gives_packs_to_workers_with_the_resource_and_refuses_what_nobody_has(tmp_path):
    from distributed import LocalCluster

    asked = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "resources": {"gpu": 1}}
    with LocalCluster(**asked) as cluster:

        def run(gpu: int) -> Result:
            told = {"gpu": gpu, "wait_s": 60}
            engine = make_engine("dask", scheduler=cluster.scheduler_address, options=told)
            return evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path, engine=engine)

        with pytest.raises(InputError, match="has 2 of the resource gpu"):
            run(2)
        assert run(1).complete


@pytest.mark.drill
def test_ctrl_c_ends_what_a_dask_scheduler_has_of_the_run(tmp_path):
    from distributed import LocalCluster

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    log, cache = tmp_path / "log", tmp_path / "cache"
    try:
        with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
            engine = make_engine("dask", scheduler=cluster.scheduler_address, pack=8)
            threading.Thread(target=press_ctrl_c_after_cells, args=(cache, 1)).start()
            with pytest.raises(Interrupted, match="run the same command again"):
                evaluate(Slow(log=str(log)), toy_benchmark(), "within", cache=cache, engine=engine)
            assert not list((cache / "leases").iterdir())
            # The pack goes on to the end of the cell that it was at; what comes next waits for its thread.
            with cluster.get_client() as client:
                assert client.submit(int, 1, pure=False).result(timeout=120) == 1
    finally:
        signal.signal(signal.SIGINT, before)
    assert 1 <= log.read_text().count("fit") < 8


@pytest.mark.drill
def test_a_scheduler_that_does_not_answer_is_named(tmp_path):
    engine = make_engine("dask", scheduler="tcp://127.0.0.1:9", options={"wait_s": 2})
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path, engine=engine)


def test_slurm_runs_a_pack(tmp_path):
    with running_slurm():
        engine = make_engine("slurm", pack=8, options={"mem_gb": "1"})
        there = evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path / "slurm", engine=engine)
    assert there.score == evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path / "local").score
    assert content(tmp_path / "slurm") == content(tmp_path / "local")


@pytest.mark.drill
def test_slurm_leaves_the_same_cache_although_a_node_is_lost(tmp_path, monkeypatch):
    local = evaluate(Slow(), toy_benchmark(), "within", cache=tmp_path / "local")
    monkeypatch.setenv(GATE, gate := describe_gate(tmp_path, 2))
    with running_slurm(lifetime_s=15) as cluster:
        engine = make_engine("slurm", pack=2, options={"mem_gb": "1"})
        lose = threading.Thread(target=lose_a_node_after_cells, args=(cluster, tmp_path / "slurm", 1, gate))
        lose.start()
        there = evaluate(Slow(), toy_benchmark(), "within", cache=tmp_path / "slurm", engine=engine)
        lose.join()
    assert there.score == local.score
    assert content(tmp_path / "slurm") == content(tmp_path / "local")


@pytest.mark.drill
@pytest.mark.parametrize("accounts", [True, False])
def test_a_cell_that_kills_its_slurm_job_is_named_and_the_others_are_there(tmp_path, monkeypatch, accounts):
    monkeypatch.setattr("neuroarena.evaluation.engines.slurm._LOOK_S", 60.0 if accounts else 2.0)
    with running_slurm(accounts=accounts):
        engine, log = make_engine("slurm", pack=4, options={"mem_gb": "1"}), tmp_path / "log"
        decoder = Fragile(how="die", log=str(log))
        result = evaluate(decoder, toy_benchmark(), "within", cache=tmp_path / "cache", engine=engine)
    assert {cell.fold for cell in result.record.failed_cells} == {"2_0/0", "2_0/1"}
    assert "ended without a result" in result.record.failed_cells[0].error
    # Once with the pack, and each of the two once alone: nothing was handed in a third time.
    assert log.read_text().count("fit") == 6 + 3


@pytest.mark.drill
def test_slurm_may_call_a_finished_job_pending_and_take_small_arrays_alone(tmp_path):
    """Its accounts lag behind: what a job left in the cache counts. Four packs are two arrays of two."""
    with running_slurm(array=2) as cluster:
        shim = cluster.folder / "bin" / "sacct"
        shim.write_text(re.sub(r'value\["JobState"\]', '"PENDING"', shim.read_text()))
        engine = make_engine("slurm", pack=2, options={"mem_gb": "1"})
        result = evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path, engine=engine)
    assert result.complete
    # Two packs of features are one array, four packs of cells are two.
    assert len(list((tmp_path / "slurm").glob("*/*_submission.sh"))) == 3


@pytest.mark.drill
def test_ctrl_c_cancels_what_slurm_has_of_the_run(tmp_path, monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setenv(GATE, describe_gate(tmp_path, 2))
    try:
        with running_slurm() as cluster:
            engine = make_engine("slurm", pack=1, options={"mem_gb": "1", "most_jobs": 2})
            threading.Thread(target=press_ctrl_c_after_cells, args=(tmp_path, 1)).start()
            with pytest.raises(Interrupted, match="run the same command again"):
                evaluate(Slow(), toy_benchmark(), "within", cache=tmp_path, engine=engine)
            assert cluster.wait_until_empty(), cluster.list_jobs()
    finally:
        signal.signal(signal.SIGINT, before)
    monkeypatch.delenv(GATE)
    done = len(list((tmp_path / "cells").rglob("*.cell")))
    assert 1 <= done < 8
    result = evaluate(Slow(), toy_benchmark(), "within", cache=tmp_path)
    assert result.score == evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path / "other").score


def test_what_was_sent_is_cancelled_at_once_when_the_run_cannot_go_on(tmp_path):
    ended = []

    def send(packs, careful):
        try:
            yield from ((pack, pack()) for pack in packs)
        finally:
            ended.append("cancelled")

    def take(outcome):
        raise DiskFull("no room")

    with pytest.raises(DiskFull) as raised:
        run_packs(cut_packs(planned(), tmp_path, 1), send, take)
    assert raised.traceback
    assert ended == ["cancelled"]


@pytest.mark.drill
def test_a_pack_whose_time_is_up_is_handed_in_again_and_computes_only_the_rest(tmp_path):
    log, cache = tmp_path / "log", tmp_path / "cache"
    decoder = Slow(log=str(log))
    with running_slurm(lifetime_s=15) as cluster:
        engine = make_engine("slurm", pack=8, options={"mem_gb": "1"})
        # The signal that Slurm sends before the limit; submitit then asks the pack what to hand in again.
        signalling = threading.Thread(target=lambda: (wait_for_cells(cache, 2), cluster.signal_jobs("USR2")))
        signalling.start()
        result = evaluate(decoder, toy_benchmark(), "within", cache=cache, engine=engine)
        signalling.join()
    assert result.score == evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path / "other").score
    # The cell that the signal met was begun twice, and no other.
    assert log.read_text().count("fit") in (8, 9)


@pytest.mark.drill
def test_a_gpu_of_slurm_is_used_and_one_more_than_there_is_refused_in_one_sentence(tmp_path):
    def engine(gpus: int) -> Engine:
        return make_engine("slurm", pack=8, options={"gres": f"gpu:{gpus}", "mem_gb": "1"})

    with running_slurm():
        with pytest.raises(
            InputError, match=r"Slurm refused the jobs: sbatch: .*node configuration is not avail"
        ):
            evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path, engine=engine(2))
        assert evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path, engine=engine(1)).complete


def press_ctrl_c_after_cells(cache: Path, n: int) -> None:
    wait_for_cells(cache, n)
    os.kill(os.getpid(), signal.SIGINT)


def kill_a_child_after_cells(cache: Path, n: int, gate: str) -> None:
    wait_for_cells(cache, n)
    victim = next(child for child in multiprocessing.active_children() if child.is_alive())
    os.kill(victim.pid, signal.SIGKILL)
    open_gate(gate)


def lose_a_node_after_cells(cluster: Cluster, cache: Path, n: int, gate: str) -> None:
    wait_for_cells(cache, n)
    cluster.lose_node("n1")
    open_gate(gate)
