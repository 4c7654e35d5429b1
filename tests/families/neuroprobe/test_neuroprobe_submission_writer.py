"""What a submission says about itself, and the name of its folder."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.submission_rules import ATTESTATIONS
from neuroarena.families.neuroprobe.submission_writer import Header, attestation_text
from shared_data import SHARED

REAL = SHARED / "data" / "neuroprobe" / "submissions"
WHEN = datetime.datetime(2025, 9, 25, 12, tzinfo=datetime.UTC)


def header(**changes: Any) -> Header:
    values = {"model_name": "Model", "author": "Ada Example", "definition": "2025.10", "time": WHEN}
    return Header(**{**values, **changes})


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        (
            {"model_name": "Linear (Laplacian re-referencing + spectrogram)", "author": "Andrii Zahorodnii"},
            "Linear_Laplacian_rereferencing_spectrogram_Andrii_Zahorodnii_25_09_2025",
        ),
        (
            {"model_name": "PopulationTransformer (Chau et al. 2024)", "author": "Andrii Zahorodnii"},
            "PopulationTransformer_Chau_et_al_2024_Andrii_Zahorodnii_25_09_2025",
        ),
        ({"author": "Jean-Luc de la Tour"}, "Model_JeanLuc_Tour_25_09_2025"),
        ({"author": "Zoë Müller"}, "Model_Zoe_Muller_25_09_2025"),
        ({"author": "Ann O'Hara"}, "Model_Ann_OHara_25_09_2025"),
        ({"model_name": "../../etc"}, "etc_Ada_Example_25_09_2025"),
        ({"simulated": True}, "Model_simulated_Ada_Example_25_09_2025"),
        # The day is that of UTC.
        (
            {"time": datetime.datetime(2026, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=3)))},
            "Model_Ada_Example_31_12_2025",
        ),
    ],
)
def test_the_folder_is_named_as_the_leaderboard_names_folders(changes: dict[str, Any], name: str):
    assert header(**changes).folder_name == name


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"author": "Ada"}, 'The author "Ada" must be a first and a last name'),
        ({"author": ""}, "must be a first and a last name"),
        ({"author": "艾达 示例"}, "in Latin letters"),
        ({"author": "Ada Exa\x1bmple"}, "The author .* cannot be printed"),
        ({"model_name": "模型"}, 'The model name "模型" must contain an ASCII letter'),
        ({"model_name": ""}, "must contain an ASCII letter"),
        ({"definition": "strict"}, 'definition "strict" cannot be submitted'),
        ({"time": datetime.datetime(2025, 9, 25)}, "has no time zone"),
    ],
)
def test_a_header_that_cannot_be_used_is_refused_by_name(changes: dict[str, Any], words: str):
    with pytest.raises(InputError, match=words):
        header(**changes)


@pytest.mark.skipif(not REAL.is_dir(), reason="the public submissions are not beside the project")
def test_the_attestation_is_the_one_that_real_submissions_hold():
    real = next(REAL.glob("Linear_raw*")) / "ATTESTATION.txt"
    assert attestation_text("Andrii Zahorodnii").split() == real.read_text().split()
    assert len(ATTESTATIONS) == 2
