"""The house: rooms import only rooms above them, files stay small, the package stays light."""

from __future__ import annotations

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "neuroarena"
ROOMS = (
    "scoring",
    "statistics",
    "recordings",
    "features",
    "datasets",
    "benchmarks",
    "decoders",
    "sandbox",
    "evaluation",
    "maps",
    "board",
    "competition",
    "server",
    "demo",
    "conformance",
    "cli",
    "families",
)
FOUNDATIONS = (
    "errors",
    "atomic",
    "checklist",
    "drawing",
    "fingerprint",
    "lazily",
    "pickles",
    "progress",
    "registry",
    "sealed",
    "skeletons",
    "__init__",
    "__main__",
)
ALONE = ("scoring", "statistics")
# pydantic reads manifests at the edge; everything else of these rooms is arithmetic.
ALONE_LIBRARIES = {"numpy", "scipy", "pandas", "pyarrow", "sklearn", "pydantic", "rapidfuzz"}


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide which room is meant"
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def rooms_imported(path: Path) -> set[str]:
    parts = [name.split(".") for name in imported(path) if name.startswith("neuroarena.")]
    return {part[1] for part in parts if part[1] in ROOMS}


def test_every_file_is_in_a_room_or_is_a_foundation():
    assert {room_of(path) for path in sources()} <= {*ROOMS, *FOUNDATIONS}


def rooms_allowed(room: str) -> set[str]:
    if room in ("__init__", "__main__"):
        return set(ROOMS)
    if room in FOUNDATIONS:
        return set()
    return {room} if room in ALONE else set(ROOMS[: ROOMS.index(room) + 1])


def test_a_room_imports_only_rooms_above_it():
    wrong = {str(path): rooms_imported(path) - rooms_allowed(room_of(path)) for path in sources()}
    assert {path: rooms for path, rooms in wrong.items() if rooms} == {}


# What spans several tracks reaches them through the registry, except for the challenge they make up.
SPANNING = ("challenge2026",)


@pytest.mark.parametrize("family", sorted(path.name for path in (PACKAGE / "families").glob("*/")))
def test_no_family_imports_another(family: str):
    for path in (PACKAGE / "families" / family).rglob("*.py"):
        others = {
            name.split(".")[2]
            for name in imported(path)
            if name.startswith("neuroarena.families.") and name.split(".")[2] != family
        }
        assert not others or family in SPANNING, path


@pytest.mark.parametrize("room", ALONE)
def test_scoring_and_statistics_need_only_arithmetic(room: str):
    for path in (PACKAGE / room).rglob("*.py"):
        outside = {name.partition(".")[0] for name in imported(path)} - {"neuroarena", ""}
        assert outside - set(sys.stdlib_module_names) <= ALONE_LIBRARIES, path


def too_long(path: Path) -> Iterator[str]:
    """Name a file of more than 500 lines, and its functions of more than 60 besides their docstrings."""
    text = path.read_text(encoding="utf-8")
    if text.count("\n") > 500:
        yield f"{path}: {text.count(chr(10))} lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno - (ast.get_docstring(node) or "").count("\n")
            if length > 60:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines"


def test_files_and_functions_stay_small():
    assert [found for path in sources() for found in too_long(path)] == []


def test_no_room_without_a_name():
    assert not [
        path for path in sources() if path.stem in {"utils", "util", "common", "helpers", "helper", "misc"}
    ]


def test_importing_neuroarena_loads_nothing_heavy():
    heavy = ["torch", "mne", "sklearn", "fastapi", "matplotlib", "nilearn", "pandas", "scipy", "h5py"]
    code = f"import neuroarena, sys, json; print(json.dumps([m for m in {heavy!r} if m in sys.modules]))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert loaded == []


def test_the_help_text_loads_nothing_heavy():
    heavy = {
        "torch",
        "mne",
        "sklearn",
        "fastapi",
        "matplotlib",
        "nilearn",
        "pandas",
        "numpy",
        "scipy",
        "h5py",
    }
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "neuroarena", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in ran.stderr.splitlines()}
    assert not loaded & heavy
    assert "demo" in ran.stdout


def test_every_public_name_can_be_had_from_the_top():
    import neuroarena

    for name in neuroarena.__all__:
        assert getattr(neuroarena, name) is not None
    with pytest.raises(AttributeError):
        neuroarena.nothing_of_this_name  # noqa: B018


def test_no_machine_path_and_no_registry_host_in_any_file():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    forbidden = re.compile(
        r"pypi\.(org|io)|files\.pythonhosted|registry\.npmjs|deb\.debian\.org|/work/(main|shared)|/root/"
    )
    for name in listed.stdout.split():
        path = ROOT / name
        if path.is_file() and path != Path(__file__) and path.stat().st_size < 2**20:
            found = forbidden.search(path.read_text(encoding="utf-8", errors="ignore"))
            assert found is None, f"{name}: {found and found.group()}"


FAMILY_WORDS = [
    "neuroprobe",
    "braintreebank",
    "eeg2025",
    "hbn",
    "brainscore",
    "things_eeg2",
    "emg2qwerty",
    "sleep_edf",
    "muse_sleep",
    "bci_commands",
    "ssvep_exo",
]
FAMILY_WORD = re.compile(rf"(?<![a-z0-9])({'|'.join(FAMILY_WORDS)})(?![a-z0-9])", re.IGNORECASE)
TEXTS = (".py", ".txt", ".toml", ".j2", ".html", ".css", ".js")
GENERAL = [
    path
    for path in sorted(PACKAGE.rglob("*"))
    if path.suffix in TEXTS and path.relative_to(PACKAGE).parts[0] != "families"
]


def docstring_lines(tree: ast.AST) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def test_no_general_room_names_a_family_or_holds_its_address():
    named = []
    for path in GENERAL:
        text = path.read_text(encoding="utf-8")
        documented = docstring_lines(ast.parse(text)) if path.suffix == ".py" else set()
        for number, line in enumerate(text.splitlines(), 1):
            address = "neuroarena.families." in line
            if number not in documented and (address or FAMILY_WORD.search(line)):
                named.append(f"{path.relative_to(PACKAGE)}:{number}: {line.strip()[:80]}")
    assert named == []


def test_no_two_test_files_have_one_name():
    """Hold names apart: pytest imports test files by their names alone, and a whole run would stop at the second."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py") if "plugin" not in path.parts]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []
