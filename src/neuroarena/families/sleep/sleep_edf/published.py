"""Where the published nights of Sleep-EDF are, with the hashes that a public list states."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from neuroarena.datasets.fetch_plan import FetchPlan, RemoteFile
from neuroarena.errors import InputError

# The layout that PhysioNet states for every project; it was not tried from here.
BASE_URL = "https://physionet.org/files/sleep-edfx/1.0.0/"
FOLDER = "sleep-cassette"


def fetch_plan(
    subjects: Sequence[str] | None = None, sessions: Sequence[str] | None = None, url: str | None = None
) -> FetchPlan:
    """Plan what to fetch: signals and hypnogram of nights of the cassette study.

    Parameters
    ----------
    subjects : sequence of str, optional
        People, as "SC400", or "all".
    sessions : sequence of str, optional
        Nights, as "SC4001"; with `subjects`, only these of their nights.
    url : str, optional
        Address of a mirror with the same layout.

    Raises
    ------
    InputError
        When nothing is chosen, or there is no such person or night.

    Examples
    --------
    >>> [file.path for file in fetch_plan(sessions=["SC4001"]).files]
    ['sleep-cassette/SC4001E0-PSG.edf', 'sleep-cassette/SC4001EC-Hypnogram.edf']
    """
    if not subjects and not sessions:
        raise InputError(
            "Choose what to fetch: --subjects SC400,SC401 or --sessions SC4001,SC4002; --subjects all is 153 nights."
        )
    nights = read_nights()
    people = sorted({night[:5] for night in nights})
    wanted = people if not subjects or list(subjects) == ["all"] else list(subjects)
    for kind, asked, known in (("person", wanted, people), ("night", sessions or (), list(nights))):
        unknown = [name for name in asked if name not in known]
        if unknown:
            raise InputError(
                f'The cassette study has no {kind} "{unknown[0]}". It has {known[0]} to {known[-1]}.'
            )
    chosen = [night for night in nights if night[:5] in wanted and (not sessions or night in sessions)]
    if not chosen:
        raise InputError(f"The night {(sessions or ['?'])[0]} belongs to none of the given people.")
    files = [file for night in chosen for file in nights[night]]
    return FetchPlan("Sleep-EDF Expanded", BASE_URL if url is None else url, tuple(files))


def read_nights() -> dict[str, tuple[RemoteFile, RemoteFile]]:
    """Read the list of nights: the key of each -> signals and hypnogram."""
    nights = {}
    for line in Path(__file__).with_name("published.txt").read_text(encoding="ascii").splitlines():
        if line.startswith("#"):
            continue
        name, signals, hypnogram = line.split()
        places = (f"{FOLDER}/{name[:-1]}0-PSG.edf", signals), (f"{FOLDER}/{name}-Hypnogram.edf", hypnogram)
        first, second = (RemoteFile(path, (path,), sha1=sha1, checked=False) for path, sha1 in places)
        nights[name[:6]] = first, second
    return nights
