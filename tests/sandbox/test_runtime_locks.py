"""Runtimes from a lock file: what is in them is what the hashes say, and what nobody names can be removed."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import os
import sys
import zipfile
from pathlib import Path

import pytest

from command_line import neuroarena_in
from neuroarena.errors import InputError
from neuroarena.sandbox import Limits, run_isolated, runtime
from neuroarena.sandbox.runtime import CARD, NoRuntime, find_runtime, using_runtime
from neuroarena.sandbox.runtime_lock import build_locked, read_lock
from neuroarena.sandbox.runtime_pruning import prune_runtimes

HASH = f"--hash=sha256:{'ab' * 32}"


def make_wheel(folder: Path, name: str, version: str, source: str, requires: str = "") -> Path:
    """Write a wheel of one module, as a build tool would."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    files = {
        f"{name}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(text)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    place = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(place, "w") as made:
        for path, text in files.items():
            made.writestr(path, text)
    return place


def pin(*wheels: Path) -> str:
    return "".join(
        f"{wheel.name.split('-')[0]}=={wheel.name.split('-')[1]} \\\n"
        f"    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"
        for wheel in wheels
    )


def test_a_guest_imports_what_the_lock_pins_and_nothing_else(
    tmp_path: Path, bwrap: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NEUROARENA_RUNTIMES", str(tmp_path / "home"))
    tmp_path.chmod(0o755)
    wheel = make_wheel(tmp_path / "wheels", "tinylib", "1.2", "ANSWER = 42\n")
    (tmp_path / "runtime.lock").write_text(f"# what guests may import\n{pin(wheel)}")
    built = build_locked(tmp_path / "runtime.lock", wheels=tmp_path / "wheels")
    assert built.packages == ("tinylib==1.2",)
    assert built.lock_sha256 == read_lock(tmp_path / "runtime.lock").sha256
    assert build_locked(tmp_path / "runtime.lock", wheels=tmp_path / "wheels") == built, "built once"
    look = (
        "import importlib.util as u, tinylib\n"
        "print(tinylib.ANSWER, [n for n in ('numpy', 'torch', 'pip', 'neuroarena') if u.find_spec(n)])"
    )
    with using_runtime(built.digest):
        assert find_runtime() == built
        outcome = run_isolated([sys.executable, "-I", "-c", look], limits=Limits(memory_mb=300, seconds=300))
    assert outcome.stderr_tail.strip() == "42 []"
    assert outcome.runtime == built.digest
    # Whoever has it open keeps it; nobody else's is left.
    other = tmp_path / "home" / "python-0-old"
    other.mkdir()
    (other / CARD).write_text(json.dumps({"digest": "cd" * 32}))
    assert {each.folder.name: each.kept for each in prune_runtimes()} == {
        built.folder.parent.name: "in use",
        "python-0-old": None,
    }
    assert built.folder.is_dir()
    assert not other.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"numpy>=2 {HASH}\n", r'runtime\.lock: line 1 \("numpy>=2'),
        ("# first\nnumpy==2.0\n", r'line 2 \("numpy==2\.0"\) does not pin'),
        (f"numpy==2.0 --hash=md5:{'ab' * 16}\n", "line 1"),
        (f"numpy==2.0 {HASH}\n--index-url elsewhere\n", "line 2"),
        (f"-e ./here {HASH}\n", "line 1"),
        (f"numpy @ file:///numpy.whl {HASH}\n", "line 1"),
        (f"Neuro_Arena==1 {HASH}\nneuroarena==1 {HASH}\n", "line 2 names neuroarena"),
        (f"a.b==1 {HASH}\nA-b==2 {HASH}\n", "line 2 names a-b again"),
        ("# nothing\n", "pins no library"),
    ],
)
def test_a_lock_that_leaves_anything_open_is_refused_with_its_line(tmp_path: Path, text: str, words: str):
    (tmp_path / "runtime.lock").write_text(text)
    with pytest.raises(InputError, match=words):
        build_locked(tmp_path / "runtime.lock", home=tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_another_file_than_the_hash_says_or_a_requirement_without_one_builds_nothing(tmp_path: Path):
    wheels, home = tmp_path / "wheels", tmp_path / "home"
    wheel = make_wheel(wheels, "tinylib", "1.2", "ANSWER = 42\n")
    lock = tmp_path / "runtime.lock"
    lock.write_text(pin(wheel))
    make_wheel(wheels, "tinylib", "1.2", "ANSWER = 'planted'\n")
    with pytest.raises(InputError, match=r"runtime\.lock: pip refused it: .*HASH"):
        build_locked(lock, wheels=wheels, home=home)
    needy = make_wheel(wheels, "needy", "1", "import tinylib\n", requires="tinylib")
    lock.write_text(pin(needy))
    with pytest.raises(InputError, match=r"pip refused it: .*--require-hashes"):
        build_locked(lock, wheels=wheels, home=home)
    assert [path.name for path in home.iterdir() if not path.name.endswith(".lock")] == []


def test_a_runtime_that_this_machine_does_not_have_is_not_replaced_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NEUROARENA_RUNTIMES", str(tmp_path))
    with using_runtime("ef" * 32), pytest.raises(NoRuntime, match="admin runtime build"):
        find_runtime()


def test_pruning_keeps_what_is_named_used_or_being_built(tmp_path: Path):
    for name in ("named", "used", "old", runtime.name_installed()):
        (tmp_path / name).mkdir()
        (tmp_path / name / CARD).write_text(json.dumps({"digest": name}))
    for name in ("half", "killed"):
        (tmp_path / f".building-{name}-x1").mkdir()
        (tmp_path / f".{name}.lock").touch()
    held = [os.open(tmp_path / name, os.O_RDONLY) for name in (f"used/{CARD}", ".half.lock")]
    try:
        for each in held:
            fcntl.flock(each, fcntl.LOCK_SH)
        asked = prune_runtimes({"named"}, home=tmp_path, dry_run=True)
        assert (tmp_path / "old").exists(), "a dry run removes nothing"
        assert prune_runtimes({"named"}, home=tmp_path) == asked
    finally:
        for each in held:
            os.close(each)
    left = {path.name for path in tmp_path.iterdir() if path.is_dir()}
    assert left == {"named", "used", runtime.name_installed(), ".building-half-x1"}


def test_the_command_says_what_it_would_remove_and_keeps_what_it_is_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NEUROARENA_RUNTIMES", str(tmp_path / "home"))
    for name in ("first", "second"):
        (tmp_path / "home" / name).mkdir(parents=True)
        (tmp_path / "home" / name / CARD).write_text(json.dumps({"digest": name}))
    words = ("admin", "runtime", "prune", "--keep", "second")
    ran = neuroarena_in(tmp_path, *words, "--dry-run", "--json")
    said = {row["runtime"]: row["verdict"] for row in json.loads(ran.stdout)}
    assert said == {"first": "would be removed", "second": "named"}
    ran = neuroarena_in(tmp_path, *words)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.endswith("freed.\n")
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["second"]
    ran = neuroarena_in(tmp_path, "admin", "runtime", "build", "no.lock")
    assert (ran.returncode, "no.lock" in ran.stderr) == (2, True)
