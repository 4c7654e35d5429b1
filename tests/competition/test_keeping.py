"""Backup, restore, export and upgrade: what comes back is what was there, and damage is named."""

from __future__ import annotations

import csv

import pytest
from test_runner import ANSWER_BY_SIGN, code_arena, hand_in

from arena_making import join, write_answers
from command_line import neuroarena_in
from neuroarena.competition import open_arena
from neuroarena.competition.arena import write_about
from neuroarena.competition.intake import submit
from neuroarena.competition.keeping import back_up, restore
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.worker import work
from neuroarena.errors import InputError

__all__ = ["code_arena"]  # a fixture of the runner's tests


@pytest.fixture
def backup(arena, token, tmp_path):
    submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet", wrong=2))
    work(arena, until_idle=True)
    submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet", wrong=1))
    return back_up(arena, tmp_path / "copy")


def test_a_restored_competition_goes_on_where_the_backup_was(arena, token, backup, tmp_path, clock):
    work(arena, until_idle=True)
    restored = restore(backup, tmp_path / "again")
    restored = open_arena(restored.folder, clock)
    assert work(restored, until_idle=True) == 1
    with restored.store.reading() as connection:
        rows = [
            read_receipt(restored, token, name)
            for (name,) in connection.exec_driver_sql("SELECT id FROM submission ORDER BY received, id")
        ]
    assert sorted(row["shown_score"] for row in rows) == pytest.approx([0.8, 0.9])
    assert (restored.vault.folder.stat().st_mode & 0o777, backup.stat().st_mode & 0o777) == (0o700, 0o700)


def test_code_that_was_queued_runs_in_the_restored_competition(code_arena, tmp_path, clock):
    token = join(code_arena, "reds")
    submission = hand_in(code_arena, token, tmp_path, ANSWER_BY_SIGN)
    replayed = code_arena.training_folder("commands", "predictions") / "0" / "training" / "examples.parquet"
    replayed.parent.mkdir(parents=True)
    replayed.write_bytes(b"public training, with labels")
    restore(back_up(code_arena, tmp_path / "copy"), tmp_path / "again").store.close()
    restored = open_arena(tmp_path / "again", clock)
    work(restored, ["cpu", "scorer"], until_idle=True)
    assert read_receipt(restored, token, submission)["state"] == "scored"
    again = restored.folder / replayed.relative_to(code_arena.folder)
    assert again.read_bytes() == replayed.read_bytes()
    # Sealed signals are nobody's but the runner's, in the copy too.
    places = [
        folder / name for folder in (tmp_path / "copy", restored.folder) for name in ("questions", "training")
    ]
    assert {place.stat().st_mode & 0o777 for place in places} == {0o700}


def test_a_backup_without_signals_says_what_to_seal_again(code_arena, tmp_path):
    words = ("admin", "backup", str(code_arena.folder), "copy", "--without-signals")
    assert neuroarena_in(tmp_path, *words).returncode == 0
    assert not (tmp_path / "copy" / "questions").exists()
    ran = neuroarena_in(tmp_path, "admin", "restore", "copy", "again")
    assert ran.returncode == 0, ran.stderr
    assert "neuroarena admin seal again commands --data DATA" in ran.stdout
    assert "neuroarena admin seal again commands --phase sealed --data DATA" in ran.stdout


def test_a_damaged_or_missing_file_of_a_backup_is_named_and_nothing_is_restored(backup, tmp_path):
    victim = next((backup / "artifacts").rglob("*.parquet"))
    content = victim.read_bytes()
    victim.chmod(0o600)
    victim.write_bytes(content[:-1] + b"x")
    with pytest.raises(InputError, match=f"{victim.name}: this file has changed"):
        restore(backup, tmp_path / "again")
    victim.unlink()
    with pytest.raises(InputError, match="of the backup is missing"):
        restore(backup, tmp_path / "again")
    assert not (tmp_path / "again").exists()
    with pytest.raises(InputError, match="this is not a backup"):
        restore(tmp_path, tmp_path / "again")


def test_an_export_has_every_table_and_no_secret(arena, token, backup, tmp_path):
    said = neuroarena_in(tmp_path, "admin", "export", str(arena.folder), "out")
    assert said.returncode == 0, said.stderr
    with (tmp_path / "out" / "submission.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 2
    with (tmp_path / "out" / "token.csv").open() as file:
        assert "secret_sha256" not in next(csv.reader(file))
    assert not list((tmp_path / "out").rglob("*secret*"))


def test_a_worker_of_another_version_than_the_store_is_refused_until_the_upgrade(arena, tmp_path):
    with arena.store.writing() as connection:
        write_about(connection, "version", "0.0.1")
    with pytest.raises(InputError, match=r"belongs to neuroarena 0\.0\.1"):
        work(arena, until_idle=True)
    said = neuroarena_in(tmp_path, "worker", "--arena", str(arena.folder), "--until-idle")
    assert said.returncode == 2
    assert neuroarena_in(tmp_path, "admin", "upgrade", str(arena.folder)).returncode == 0
    assert work(arena, until_idle=True) == 0


def test_an_older_store_is_brought_up_to_date(arena, token, tmp_path):
    """A store of the first tables, as the first release made it."""
    from alembic import command

    from neuroarena.competition.migrating import _settings
    from neuroarena.competition.store import Store, create_store, open_store

    url = f"sqlite:///{tmp_path / 'old.sqlite'}"
    settings = _settings()
    with Store(url).writing() as connection:
        settings.attributes["connection"] = connection
        command.upgrade(settings, "0001")
    with pytest.raises(InputError, match="has version 0001"):
        open_store(url)
    create_store(url)
    open_store(url).close()
