"""Where the published files of Brain-Score are, with the hashes that its public package states."""

from __future__ import annotations

from collections.abc import Sequence

from neuroarena.datasets.fetch_plan import FetchPlan, RemoteFile
from neuroarena.errors import InputError
from neuroarena.families.brainscore.vision.facts import STUDIES, Study

# The bucket and folder that the package reads. It states a SHA-1 of every file and no size; none was tried from here.
BASE_URL = "https://brainscore-storage.s3.amazonaws.com/brainio-brainscore/"
PUBLIC = tuple(name for name, study in STUDIES.items() if study.stimuli_sha1)


def fetch_plan(
    subjects: Sequence[str] | None = None, sessions: Sequence[str] | None = None, url: str | None = None
) -> FetchPlan:
    """Plan what to fetch: assembly, table and pictures of each public study.

    Parameters
    ----------
    subjects : sequence of str, optional
        Refused: a study is fetched as a whole.
    sessions : sequence of str, optional
        Names of studies; by default all that are public.
    url : str, optional
        Address of a mirror with the same file names.

    Raises
    ------
    InputError
        For a study that is unknown or not public.

    Examples
    --------
    >>> [file.path for file in fetch_plan(sessions=["MajajHong2015.public"]).files]
    ['assy_dicarlo_MajajHong2015_public.nc', 'stimulus_hvm-public.csv', 'stimulus_hvm-public.zip']
    """
    public = ", ".join(PUBLIC)
    if subjects:
        raise InputError(
            f"Brain-Score is fetched by study, not by subject: --sessions with some of {public}."
        )
    for name in sessions or ():
        if name not in PUBLIC:
            why = "is not public; its owners must be asked for it" if name in STUDIES else "is unknown"
            raise InputError(f'The study "{name}" {why}. Public are: {public}.')
    files = [file for name in sessions or PUBLIC for file in _files_of(STUDIES[name])]
    return FetchPlan("Brain-Score vision", BASE_URL if url is None else url, tuple(files))


def _files_of(study: Study) -> list[RemoteFile]:
    hashes = zip((study.file, study.table, study.zip), (study.sha1, *study.stimuli_sha1), strict=True)
    # The zip is kept as it is: benchmarks read it beside its table.
    return [RemoteFile(name, (name,), sha1=sha1, checked=False) for name, sha1 in hashes]
