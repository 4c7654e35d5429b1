"""What a family offers is checked face by face, without data, and every mistake is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from neuroarena.benchmarks import FAMILIES
from neuroarena.board.importing import Imported, Importer, find_importer, sort_paths
from neuroarena.conformance import check_family
from neuroarena.errors import UnknownName

BCI = FAMILIES.get("bci")
TABLE = Importer("tables", lambda path: path.suffix == ".table", lambda paths, **_: Imported([]))


@pytest.mark.parametrize("name", FAMILIES.names())
def test_every_registered_family_keeps_its_word(name):
    failed = [f"{check.name}: {check.detail}" for check in check_family(name) if not check.passed]
    assert failed == []


class Loose(BaseModel):
    """Options that nobody described and that take anything."""

    people: int = 3


class NoTitle(type(BCI)):  # type: ignore[misc]
    title = ""


class WrongName(type(BCI)):  # type: ignore[misc]
    name = "another"


class NoSplit(type(BCI)):  # type: ignore[misc]
    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        return ()


class TwoOfOneSplit(type(BCI)):  # type: ignore[misc]
    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        return ("a", "b", "a")


class Misspelled(type(BCI)):  # type: ignore[misc]
    importer: dict[str, Any] = {}  # noqa: RUF012


class Unimportable(type(BCI)):  # type: ignore[misc]
    importers = "nothing.of.this.name:IMPORTERS"


class NoImporter(type(BCI)):  # type: ignore[misc]
    importers: dict[str, Any] = {"table": print}  # noqa: RUF012


class LostImporter(type(BCI)):  # type: ignore[misc]
    importers: dict[str, Any] = {"table": "no_such_module:READER"}  # noqa: RUF012


class ImporterByAddress(type(BCI)):  # type: ignore[misc]
    importers: dict[str, Any] = {"table": f"{__name__}:TABLE"}  # noqa: RUF012


class LooseOptions(type(BCI)):  # type: ignore[misc]
    options = Loose


class EmptyKit(type(BCI)):  # type: ignore[misc]
    start_kit = Path("no-kit-here")


class HalfContract(type(BCI)):  # type: ignore[misc]
    code_contract = object()


class WrongRules(type(BCI)):  # type: ignore[misc]
    rules = {"strict": {"rule": "best-of-all-times"}}  # noqa: RUF012


class WrongOverall(type(BCI)):  # type: ignore[misc]
    overall = {"kind": "mean"}  # noqa: RUF012


class WrongStandings(type(BCI)):  # type: ignore[misc]
    standings = {"points": 3}  # noqa: RUF012


class Raises(type(BCI)):  # type: ignore[misc]
    def manifest(self, task: str, definition: str) -> Any:
        raise ZeroDivisionError("no rules")


@pytest.mark.parametrize(
    ("family", "said"),
    [
        (NoTitle, "it has no title"),
        (WrongName, 'the rules of commands are called "bci/commands", expected "another/commands"'),
        (NoSplit, "commands of 2026 has no split"),
        (TwoOfOneSplit, "names a split twice: a, b, a"),
        (Misspelled, '"importer" is not a face; did you mean "importers"?'),
        (Unimportable, "cannot be loaded from nothing.of.this.name:IMPORTERS"),
        (NoImporter, "not an Importer"),
        (LostImporter, 'the importer "table" cannot be loaded from no_such_module:READER'),
        (LooseOptions, 'the option "people" has no description'),
        (LooseOptions, "unknown options must be refused"),
        (EmptyKit, "there is no kit.toml"),
        (HalfContract, "it has no method answer()"),
        (WrongRules, "best-of-last-5"),
        (WrongOverall, "expected an Overall, as Overall.from_toml reads it, got a dict"),
        (WrongStandings, '"points" is neither a function nor the address of one'),
        (Raises, "ZeroDivisionError: no rules"),
    ],
)
def test_a_mistake_of_a_family_is_named(family, said, monkeypatch):
    monkeypatch.setitem(FAMILIES._registered, "broken", family())
    failed = [check.detail for check in check_family("broken") if not check.passed]
    assert any(said in detail for detail in failed), failed


def test_an_importer_may_be_the_address_of_one(monkeypatch):
    monkeypatch.setitem(FAMILIES._registered, "bci", ImporterByAddress())
    assert all(check.passed for check in check_family("bci"))
    assert find_importer("table") is TABLE
    assert sort_paths([Path("a.table")]) == {"table": [Path("a.table")]}


def test_a_family_registered_under_another_name_is_told(monkeypatch):
    monkeypatch.setitem(FAMILIES._registered, "other", BCI)
    assert check_family("other")[0].detail == 'it is registered as "other" and calls itself "bci"'


def test_an_unknown_family_is_answered_with_a_close_one():
    with pytest.raises(UnknownName, match=r'No family "neuroprob". Did you mean "neuroprobe"'):
        check_family("neuroprob")
