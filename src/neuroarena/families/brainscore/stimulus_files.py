"""Stimulus sets on disk: a CSV table beside a flat zip of image files."""

from __future__ import annotations

import stat
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

import pandas as pd

from neuroarena.atomic import replacing, write_bytes
from neuroarena.families.brainscore.assembly_files import check_sha1, file_identifier
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError, named
from neuroarena.families.brainscore.stimuli import StimulusSet, file_stem

# Images are already compressed; a zip that grows more than this is not a stimulus set.
MOST_GROWTH = 200
ALWAYS_FINE_BYTES = 100 * 2**20
# A fixed date yields the same bytes, and so the same SHA-1, for the same images.
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def read_stimulus_set(
    csv: str | Path,
    images: str | Path | None = None,
    identifier: str | None = None,
    csv_sha1: str | None = None,
    zip_sha1: str | None = None,
) -> StimulusSet:
    """Read a stimulus set from its table and its images.

    Parameters
    ----------
    csv : str or Path
        One row per stimulus: ``stimulus_id`` (or the old ``image_id``), ``filename`` and metadata.
    images : str or Path, optional
        The flat zip, or a folder of the files; without it, the zip of the same name next to the table. A zip is
        unpacked next to itself, into a folder of its name; files that already exist are checked, not replaced.
    identifier : str, optional
        Without it, the name of the table: ``stimulus_<identifier>.csv``.
    csv_sha1, zip_sha1 : str, optional
        Checked before a file is opened.

    Raises
    ------
    ConfigError, DataQualityError
        Naming the file: when it is missing, has another hash, reaches outside its folder, is not flat, or when its
        files are not exactly those of the table.
    """
    csv = check_sha1(csv, csv_sha1)
    table = _read_table(csv)
    place = Path(images) if images is not None else csv.with_suffix(".zip")
    names = [str(name) for name in table["filename"]]
    for row, name in enumerate(names):
        if PurePosixPath(name).name != name or "\\" in name or name in ("", ".", ".."):
            raise ConfigError(f'{csv}: row {row}: the filename "{name}" is not a plain file name.')
    folder = place if place.is_dir() else _unpack(check_sha1(place, zip_sha1), set(names), csv)
    paths = {key: folder / name for key, name in zip(table["stimulus_id"], names, strict=True)}
    lost = [path.name for path in paths.values() if not path.is_file()]
    if lost:
        raise ConfigError(f"{folder}: the files {named(lost)} of {csv.name} are missing.")
    return StimulusSet(table, paths, identifier or csv.stem.removeprefix("stimulus_"))


def write_stimulus_set(
    stimulus_set: StimulusSet, folder: str | Path, identifier: str | None = None
) -> tuple[Path, Path]:
    """Write a stimulus set as ``stimulus_<identifier>.csv`` and ``.zip``; the same set yields the same bytes.

    Files are stored as they are, under the stimulus id and their own extension; images in memory, and images
    placed on a screen, as PNG. The table gains the column ``filename``.
    """
    name = identifier or stimulus_set.identifier
    if name is None:
        raise ConfigError("A stimulus set needs an identifier to be written under: pass one.")
    base = Path(folder) / f"stimulus_{file_identifier(name)}"
    filenames = {key: f"{file_stem(key)}{_extension(stimulus_set, key)}" for key in stimulus_set.ids}
    twice = pd.Series(list(filenames.values()))
    if twice.duplicated().any():
        raise ConfigError(
            f"{stimulus_set.name}: the file name {named(twice[twice.duplicated()])} would occur twice."
        )
    zipped, csv = base.with_suffix(".zip"), base.with_suffix(".csv")
    with replacing(zipped) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        for key in sorted(stimulus_set.ids, key=lambda each: filenames[each]):
            archive.writestr(zipfile.ZipInfo(filenames[key], _ZIP_DATE), _content(stimulus_set, key))
    table = stimulus_set.table.assign(filename=[filenames[key] for key in stimulus_set.ids])
    write_bytes(csv, table.to_csv(index=False, lineterminator="\n").encode("utf-8"))
    return csv, zipped


def _read_table(csv: Path) -> pd.DataFrame:
    try:
        # Ids are texts: "0012" must not become 12.
        table = pd.read_csv(csv, dtype={"stimulus_id": str, "image_id": str, "filename": str})
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ConfigError(f"{csv}: cannot be read as CSV: {error}.") from error
    if "stimulus_id" not in table.columns and "image_id" in table.columns:
        table["stimulus_id"] = table["image_id"]
    for column in ("stimulus_id", "filename"):
        if column not in table.columns:
            raise ConfigError(
                f'{csv}: the column "{column}" is missing; there are {named(table.columns, 8)}.'
            )
        if table[column].isna().any():
            raise ConfigError(f'{csv}: row {int(table[column].isna().argmax())} has no "{column}".')
    return table


def _unpack(path: Path, wanted: set[str], csv: Path) -> Path:
    """Unpack a flat zip into a folder of its name, after checking every member."""
    folder = path.with_suffix("")
    try:
        with zipfile.ZipFile(path) as archive:
            members = _checked_members(archive, path, wanted, csv)
            there = folder.is_dir() and all(_is_there(folder / name, info) for name, info in members.items())
            if not there:
                if folder.exists():
                    raise ConfigError(
                        f"{folder}: already exists and does not hold the files of {path.name}. Move it away."
                    )
                with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=path.parent) as waiting:
                    target = Path(waiting) / "images"
                    target.mkdir()
                    for name, info in members.items():
                        (target / name).write_bytes(archive.read(info))
                    target.rename(folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ConfigError(f"{path}: cannot be read as a zip archive: {error}.") from error
    return folder


def _checked_members(
    archive: zipfile.ZipFile, path: Path, wanted: set[str], csv: Path
) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename
        if PurePosixPath(name).name != name or "\\" in name or name in (".", "..") or _is_special(info):
            raise ConfigError(
                f'{path}: the member "{name}" is not a plain file at the top level; the zip must be flat.'
            )
        if name in members:
            raise ConfigError(f'{path}: the member "{name}" occurs twice.')
        members[name] = info
    if set(members) != wanted:
        missing, surplus = sorted(wanted - set(members)), sorted(set(members) - wanted)
        said = f"lacks {named(missing)}" if missing else f"also holds {named(surplus)}"
        raise DataQualityError(f"{path}: {said}; its files must be exactly those of {csv.name}.")
    total = sum(info.file_size for info in members.values())
    if total > max(ALWAYS_FINE_BYTES, MOST_GROWTH * path.stat().st_size):
        raise ConfigError(
            f"{path}: would grow to {total} bytes, far more than images would. "
            "Nothing was unpacked; check the archive."
        )
    return members


def _is_special(info: zipfile.ZipInfo) -> bool:
    mode = info.external_attr >> 16
    return info.is_dir() or (stat.S_IFMT(mode) not in (0, stat.S_IFREG))


def _is_there(path: Path, info: zipfile.ZipInfo) -> bool:
    return (
        path.is_file() and path.stat().st_size == info.file_size and zlib.crc32(path.read_bytes()) == info.CRC
    )


def _extension(stimulus_set: StimulusSet, key: object) -> str:
    placed = stimulus_set.placement is not None or key in stimulus_set.images
    return ".png" if placed else stimulus_set.get_stimulus(key).suffix


def _content(stimulus_set: StimulusSet, key: object) -> bytes:
    if stimulus_set.placement is None and key not in stimulus_set.images:
        return stimulus_set.get_stimulus(key).read_bytes()
    import io

    written = io.BytesIO()
    stimulus_set.image(key).save(written, format="PNG")
    return written.getvalue()
