"""How the recordings behind a benchmark that ships are cited."""

from __future__ import annotations

from neuroarena.benchmarks.faces import load_address
from neuroarena.errors import InputError

_HOME = "neuroarena.families.brainscore.definitions"
# Beginning of a benchmark's name -> its BibTeX.
_PLACES = {
    "MajajHong2015": f"{_HOME}.predictivity:MAJAJ_HONG_BIBTEX",
    "FreemanZiemba2013": f"{_HOME}.predictivity:FREEMAN_ZIEMBA_BIBTEX",
    "Kar2019": f"{_HOME}.solution_times:BIBTEX",
    "Marques2020": f"{_HOME}.gratings:BIBTEX",
    "Haxby2001": f"{_HOME}.haxby:BIBTEX",
    "Kriegeskorte2008": f"{_HOME}.kriegeskorte:BIBTEX",
}


def cite_benchmark(task: str) -> str | None:
    """Return the BibTeX of a benchmark; None for one that does not ship, or where the extra it needs is missing."""
    for beginning, address in _PLACES.items():
        if task.startswith(beginning):
            try:
                return str(load_address(address, f"The citation of {task}"))
            except InputError:
                return None
    return None
