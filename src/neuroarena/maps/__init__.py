"""Maps: when and where in the brain a feature can be decoded.

A :class:`MapGrid` holds the AUROC of every electrode, time bin, task and session with its null; everything that is
drawn or concluded is a function of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuroarena.lazily import lazy_names

if TYPE_CHECKING:
    from neuroarena.maps.compute import compute_map as compute_map
    from neuroarena.maps.grid import MapGrid as MapGrid
    from neuroarena.maps.grid import read_grid as read_grid
    from neuroarena.maps.grid import write_grid as write_grid
    from neuroarena.maps.settings import FamilyMaps as FamilyMaps
    from neuroarena.maps.settings import MapSettings as MapSettings
    from neuroarena.maps.simulation import simulate_grid as simulate_grid

_MODULES: dict[str, tuple[str, ...]] = {
    ".compute": ("compute_map",),
    ".grid": ("MapGrid", "read_grid", "write_grid"),
    ".settings": ("FamilyMaps", "MapSettings"),
    ".simulation": ("simulate_grid",),
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _MODULES, "brain", ("xarray", "h5netcdf"))
