"""A thousand faults in `make drills`, a handful here: no wrong score, nothing lost, every message names the file."""

from __future__ import annotations

import os
import random
import shutil
import signal

import pytest

import faults
from faults import Bench, damage_and_repair
from neuroarena.errors import DiskFull
from neuroarena.evaluation import find_results


def chunks(few: int, chunk: int, drills: int) -> list[object]:
    """Return (first seed, number): a few faults for `make test`, then chunks for the drills."""
    many = [pytest.param(few + number * chunk, chunk, marks=pytest.mark.drill) for number in range(drills)]
    return [pytest.param(0, few), *many]


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Bench:
    return Bench.make(tmp_path_factory.mktemp("faults") / "pristine")


@pytest.mark.parametrize(("first", "n"), chunks(6, 60, 8))
def test_flipped_bits_are_seen_named_and_repaired(bench, tmp_path, first, n):
    for seed in range(first, first + n):
        damage_and_repair(bench, tmp_path / "place", faults.flip, random.Random(f"flip {seed}"))


@pytest.mark.parametrize(("first", "n"), chunks(5, 60, 4))
def test_cut_files_are_seen_named_and_repaired(bench, tmp_path, first, n):
    for seed in range(first, first + n):
        damage_and_repair(bench, tmp_path / "place", faults.cut, random.Random(f"cut {seed}"))


@pytest.fixture(scope="module")
def acts(bench, tmp_path_factory) -> int:
    place = tmp_path_factory.mktemp("acts")
    return faults.count_acts(lambda: bench.run(place / "run"), place / "run", place / "count")


@pytest.mark.parametrize(("first", "n"), chunks(4, 40, 4))
def test_a_kill_before_any_act_on_a_file_loses_nothing(bench, acts, tmp_path, first, n):
    place = tmp_path / "place"
    assert acts > 40
    for number in range(first, first + n):
        shutil.rmtree(place, ignore_errors=True)
        # Spread over the run: consecutive seeds are far apart, and all together meet every act.
        at = 1 + number * 37 % acts
        assert faults.kill_at(lambda: bench.run(place), place, at) == -signal.SIGKILL
        bench.check_result(bench.run(place))
        bench.check_all(place)


@pytest.mark.parametrize(("first", "n"), chunks(2, 25, 2))
def test_a_death_in_the_middle_of_a_write_loses_nothing(bench, tmp_path, first, n):
    place = tmp_path / "place"
    largest = max(map(len, bench.files.values()))
    for seed in range(first, first + n):
        shutil.rmtree(place, ignore_errors=True)
        size = random.Random(f"write {seed}").randrange(1, largest)
        assert faults.kill_in_a_write(lambda: bench.run(place), size) == -signal.SIGXFSZ
        bench.check_result(bench.run(place))
        bench.check_all(place)


@pytest.mark.parametrize(("first", "n"), chunks(3, 25, 3))
def test_a_full_disk_is_called_one_and_nothing_half_written_stays(bench, disk, tmp_path, first, n):
    place, resize = disk
    needed = 4 + sum(1 + len(data) // 4096 for data in bench.files.values())
    for seed in range(first, first + n):
        resize(1024)
        for path in place.iterdir():
            shutil.rmtree(path)
        resize(1 + random.Random(f"full {seed}").randrange(needed - 6))
        with pytest.raises((DiskFull, OSError)) as caught:
            bench.run(place)
        assert isinstance(caught.value, DiskFull), caught.value
        assert str(caught.value).startswith(f"{place}/")
        assert "the disk is full" in str(caught.value)
        assert caught.value.exit_code == 2
        assert [path.name for path in place.rglob("*.part")] == []
        resize(1024)
        bench.check_result(bench.run(place))
        bench.check_all(place)


@pytest.mark.parametrize("rounds", [1, pytest.param(12, marks=pytest.mark.drill)])
def test_two_processes_on_one_cache_and_one_results_folder_disturb_nobody(bench, tmp_path, rounds):
    place = tmp_path / "place"
    for _ in range(rounds):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        children = []
        for _ in range(3):
            child = os.fork()
            if child == 0:
                code = 70
                try:
                    bench.check_result(bench.run(place))
                    code = 0
                finally:
                    os._exit(code)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
        assert len(find_results([place / "out"])) == 1
        bench.check_all(place)
