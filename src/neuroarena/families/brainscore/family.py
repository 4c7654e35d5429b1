"""Brain-Score as a benchmark family: every comparison of a model of vision with recordings is a task."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from neuroarena.benchmarks.benchmark import WindowShape
from neuroarena.benchmarks.options import FamilyOptions
from neuroarena.errors import InputError
from neuroarena.families.brainscore.definitions import QUESTIONS
from neuroarena.families.brainscore.registries import benchmark_registry, model_registry
from neuroarena.families.brainscore.rules import rules_of
from neuroarena.lazily import name_extra
from neuroarena.scoring import Manifest, Overall

if TYPE_CHECKING:
    from neuroarena.families.brainscore.comparison import NeuralComparison

LATEST = "latest"
EXTRA, LIBRARIES = "vision", ("xarray", "h5netcdf")
# Versions of a benchmark that ships, newest first; other benchmarks have the one they say.
_PREDICTIVITY = (
    "MajajHong2015.V4-pls",
    "MajajHong2015.IT-pls",
    "FreemanZiemba2013.V1-pls",
    "FreemanZiemba2013.V2-pls",
)
VERSIONS = {**dict.fromkeys(_PREDICTIVITY, ("4", "3")), "Kar2019-ost": ("2",)}


class BrainScoreOptions(FamilyOptions):
    """What can be chosen of a comparison."""

    version: int | None = Field(
        default=None,
        ge=1,
        description="Another version of the benchmark than the definition's: 3 scores by (r / c)^2, 4 by r^2 / c.",
    )


_DEFAULTS = BrainScoreOptions()


class BrainScore:
    """How like a brain is a model of vision?"""

    name = "brainscore"
    title = "Brain-Score: models of vision against recordings"
    definitions = (LATEST, "4", "3", "2", "1")
    overall = Overall.from_toml(Path(__file__).with_name("overall.toml"))
    judges = "models"
    inference = "neuroarena.families.brainscore.model_verdicts:infer_models"
    columns = "neuroarena.families.brainscore.ceiling_columns:COLUMNS"
    model_check = "neuroarena.families.brainscore.model_check:check_model_named"
    citation = "neuroarena.families.brainscore.citations:cite_benchmark"
    scaffold = "neuroarena.families.brainscore.scaffold:SCAFFOLD"
    options = BrainScoreOptions
    modality = "vision"

    @property
    def models(self) -> dict[str, str]:
        """The models of vision that can be named, each with the first line of its documentation."""
        found = {}
        for name in model_registry.names():
            try:
                found[name] = (inspect.getdoc(model_registry.get(name)) or "").partition("\n")[0]
            except InputError:
                found[name] = f"Cannot be loaded here; models of vision need the extra {EXTRA}."
        return found

    def tasks(self, definition: str) -> tuple[str, ...]:
        """List the benchmarks that have a version; all of them for the latest."""
        if definition == LATEST:
            return tuple(benchmark_registry.names())
        shipped = [name for name in benchmark_registry.names() if name in QUESTIONS]
        return tuple(name for name in shipped if definition in VERSIONS.get(name, ("1",)))

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """List the one way the recordings are used; a benchmark's metric makes its own folds of it."""
        return ("neuroids",)

    def manifest(self, task: str, definition: str) -> Manifest:
        """Return the rules of a benchmark as they can be told without data."""
        version = VERSIONS.get(task, ("1",))[0] if definition == LATEST else definition
        question = QUESTIONS.get(task, "How like a brain is a model of vision?")
        return rules_of(task, version, question)

    def window(self, task: str, definition: str) -> WindowShape:
        """Refuse: models of vision see stimuli, not windows of recordings."""
        raise InputError(
            f"{self.name}/{task} shows images to a model of vision; it has no windows of signals."
        )

    def load(
        self, task: str, definition: str, data: str | None = None, options: BrainScoreOptions = _DEFAULTS
    ) -> NeuralComparison:
        """Load a benchmark as a comparison, which judges a model.

        Parameters
        ----------
        task : str
            Its name, such as MajajHong2015.IT-pls.
        definition : str
            "latest", or a version.
        data : str, optional
            Folder of the recordings; without it, where ``NEUROARENA_BRAINSCORE`` points.
        options : BrainScoreOptions

        Raises
        ------
        InputError
            For an option that the benchmark does not take.
        """
        with name_extra(EXTRA, LIBRARIES, "Comparing models with recordings"):
            from neuroarena.families.brainscore.comparison import NeuralComparison
            from neuroarena.families.brainscore.loading import load_benchmark

        version = options.version
        shipped = VERSIONS.get(task, ("1",)) if task in QUESTIONS else ()
        if version is not None and shipped and str(version) not in shipped:
            raise InputError(f"{self.name}/{task} has no version {version}; it has {', '.join(shipped)}.")
        chosen = version if version is not None or definition == LATEST else int(definition)
        given = {name: value for name, value in (("data", data), ("version", chosen)) if value is not None}
        takes = inspect.signature(benchmark_registry.get(task)).parameters
        for option in given:
            if option not in takes:
                raise InputError(f'The benchmark "{task}" has no option "{option}"; it brings its own.')
        return NeuralComparison(load_benchmark(task, **given))


FAMILY = BrainScore()
