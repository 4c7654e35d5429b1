"""Facts about the published files: names, stimuli, coordinates, hashes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Study:
    """One assembly and the stimuli that were shown.

    Attributes
    ----------
    identifier : str
        Of the assembly; its file is ``assy_<identifier, dots as underscores>.nc``.
    stimuli : str
        Identifier of the stimulus set.
    coordinates : tuple of str
        Coordinates the file must hold besides the ids of neuroids and stimuli.
    regions : tuple of str
    columns : tuple of str
        Further columns the table of stimuli must hold.
    sha1 : str, optional
        Of the published file, where it is known.
    stimuli_sha1 : tuple of str
        Of the published table and zip of stimuli, where they are known.
    """

    identifier: str
    stimuli: str
    coordinates: tuple[str, ...]
    regions: tuple[str, ...]
    columns: tuple[str, ...] = ()
    sha1: str | None = None
    stimuli_sha1: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Name of the netCDF file."""
        return f"assy_{self.identifier.replace('.', '_')}.nc"

    @property
    def table(self) -> str:
        """Name of the table of stimuli; the zip beside it has the same stem."""
        return stimulus_table(self.stimuli)

    @property
    def zip(self) -> str:
        """Name of the zip of stimuli."""
        return f"{self.table.removesuffix('.csv')}.zip"

    @property
    def of_decoders(self) -> bool:
        """Whether its columns are decoders of a population, not neuroids."""
        return "decoder" in self.coordinates

    @property
    def of_properties(self) -> bool:
        """Whether it holds properties of neurons, not responses."""
        return "neuronal_property" in self.coordinates


def stimulus_table(identifier: str) -> str:
    """Return the name of the table of a stimulus set.

    Examples
    --------
    >>> stimulus_table("FreemanZiemba2013.aperture-public")
    'stimulus_FreemanZiemba2013_aperture-public.csv'
    """
    return f"stimulus_{identifier.replace('.', '_')}.csv"


_GRATING = ("degrees", "position_y", "position_x", "radius", "spatial_frequency", "orientation", "phase")
_TIMED = ("region", "repetition", "time_bin_start", "time_bin_end")
_PROPERTY = ("region", "neuronal_property")

# Name for load_dataset -> the study.
STUDIES: dict[str, Study] = {
    "MajajHong2015.public": Study(
        "dicarlo.MajajHong2015.public",
        "hvm-public",
        _TIMED,
        ("V4", "IT"),
        ("object_name",),
        "13d28ca0ce88ee550b54db3004374ae19096e9b9",
        ("5ca7a3da00d8e9c694a9cd725df5ba0ad6d735af", "8aa44e038d7b551efa8077467622f9d48d72e473"),
    ),
    "FreemanZiemba2013.public": Study(
        "movshon.FreemanZiemba2013.public",
        "FreemanZiemba2013.aperture-public",
        _TIMED,
        ("V1", "V2"),
        ("texture_type",),
        "761c08f796db4e342555cdb60eef23a4f19ead43",
        ("194c9b301a4e3e9cff02481d4c19b39331d52660", "3a6fec1fc28c212882d6833e267ea8654d289611"),
    ),
    "Kar2019": Study("Kar2019", "Kar2019", ("decoder", "image_label", "i1_threshold"), (), ("object_name",)),
    "Cavanaugh2002a": Study("movshon.Cavanaugh2002a", "Marques2020_size", _PROPERTY, ("V1",), _GRATING),
    "Ringach2002": Study("shapley.Ringach2002", "Marques2020_orientation", _PROPERTY, ("V1",), _GRATING),
    "DeValois1982b": Study(
        "devalois.DeValois1982b", "Marques2020_spatial_frequency", _PROPERTY, ("V1",), _GRATING
    ),
}
# Stimulus sets without an assembly, shown first by every study of properties.
FIRST_SHOWN = ("Marques2020_blank", "Marques2020_receptive_field", "Marques2020_orientation")
STIMULUS_SETS = tuple(dict.fromkeys([*(study.stimuli for study in STUDIES.values()), *FIRST_SHOWN]))
