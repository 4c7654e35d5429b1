"""Positions of electrodes from a template, found by the names that people write."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

import numpy as np

from neuroarena.errors import InputError, MissingDependency, UnknownName

# "EEG Fc5.-REF": what the signal is, the site filled up with dots, and what it was measured against.
_PREFIX = re.compile(r"^(?:EEG|POL)[ _]+", flags=re.IGNORECASE)
_SUFFIX = re.compile(r"[-_ ](?:REF|LE|AVG?|AVERAGE|A1|A2|A1A2|M1|M2)\d*$", flags=re.IGNORECASE)

_RENAMED = ("standard_", "colin27_")


def site_names(names: Iterable[str], sites: Iterable[str]) -> dict[str, str]:
    """Match channel names to the sites of a template.

    Case, the dots that PhysioNet fills names with, the prefix ``EEG`` of EDF+ and a reference behind a hyphen do
    not matter. A pair of sites (``Fpz-Cz``) is not at a site, and matches none.

    Parameters
    ----------
    names : iterable of str
        Channel names as a file has them.
    sites : iterable of str
        Names of the template's sites.

    Returns
    -------
    dict of str to str
        Channel name -> site, for the channels that have one.

    Examples
    --------
    >>> site_names(["Fc5.", "C3..", "EEG FP1-REF", "T7", "EEG Fpz-Cz", "EMG"], ["FC5", "C3", "Fp1", "T7", "Fpz", "Cz"])
    {'Fc5.': 'FC5', 'C3..': 'C3', 'EEG FP1-REF': 'Fp1', 'T7': 'T7'}
    """
    known = {site.lower(): site for site in sites}
    found = {}
    for name in names:
        plain = name.strip().rstrip(".")
        shorter = _SUFFIX.sub("", _PREFIX.sub("", plain)).rstrip(". ")
        site = known.get(plain.lower()) or known.get(shorter.lower())
        if site is not None:
            found[name] = site
    return found


def template_positions(names: Sequence[str], montage: str, recording: str) -> np.ndarray:
    """Return the positions of channels on a template of MNE-Python.

    Parameters
    ----------
    names : sequence of str
        Channel names, matched as :func:`site_names` does.
    montage : str
        The template, such as "standard_1005".
    recording : str
        What errors call the recording.

    Returns
    -------
    float64 array (channels, 3)
        Metres, in MNE's head frame; NaN where a channel is at no site of the template.

    Raises
    ------
    UnknownName
        When MNE-Python has no such template.
    InputError
        When no channel is at a site of it.
    """
    try:
        import mne
    except ImportError as error:
        raise MissingDependency("MNE-Python", "eeg", f"Placing the channels of {recording}") from error
    template = mne.channels.make_standard_montage(
        _template_name(montage, mne.channels.get_builtin_montages(), recording)
    )
    matched = site_names(names, template.ch_names)
    if not matched:
        raise InputError(
            f"{recording}: none of its {len(names)} channels without a position is a site of {montage}; "
            f"the first is {names[0]}. Choose another montage, or leave it out."
        )
    info = mne.create_info(template.ch_names, 1.0, "eeg", verbose="error")
    info.set_montage(template, verbose="error")
    place = dict(zip(info["ch_names"], (channel["loc"][:3] for channel in info["chs"]), strict=True))
    unknown = np.full(3, np.nan)
    return np.array([place[matched[name]] if name in matched else unknown for name in names])


def _template_name(montage: str, templates: Sequence[str], recording: str) -> str:
    """Find a template under its name in the installed MNE-Python, which renamed some in its version 1.13."""
    for old, new in (_RENAMED, _RENAMED[::-1]):
        other = montage.replace(old, new, 1) if montage.startswith(old) else montage
        for name in (montage, other):
            if name in templates:
                return name
    close = difflib.get_close_matches(montage, templates, n=1, cutoff=0.4)
    hint = f'Did you mean "{close[0]}"?' if close else f"There are {', '.join(templates)}."
    raise UnknownName(f'{recording}: MNE-Python has no montage "{montage}". {hint}')
