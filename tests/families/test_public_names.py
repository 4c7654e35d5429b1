"""Every public name of a family can be had from the family's package, wherever it lives inside."""

from __future__ import annotations

import importlib

import pytest

from neuroarena.benchmarks import FAMILIES

OLD_NAMES = {
    "neuroprobe": "examples leakage read_submission BrainTreebank word_table PopT entries_from_neuroprobe",
    "img": "things_examples ThingsEEG2 read_pickled shipped_img",
    "bci": "CspLda RiemannLr cca BciCommands SsvepExo leave_one_subject_out",
    "sleep": "SleepEDF MuseSleep first_stable_n2 ConvStager bandpower_stager",
    "emg": "Emg2Qwerty TdsCtc greedy_text CtcLinear",
    "transfer": "EncoderProbe Encoder find_encoder pretrain",
    "eeg2025": "read_final_board score_windows HBN BandPowerRidge entries_from_eeg2025",
    "brainscore": "load_metric load_ceiling load_model score Score NeuralBenchmark VisionFolder",
}


@pytest.mark.parametrize("family", FAMILIES.names())
def test_every_name_that_a_family_lists_is_there(family):
    package = importlib.import_module(f"neuroarena.families.{family}")
    missing = [name for name in package.__all__ if getattr(package, name, None) is None]
    assert missing == []
    assert set(OLD_NAMES.get(family, "").split()) <= set(package.__all__)


def test_a_function_is_not_hidden_by_the_module_it_lives_in():
    from neuroarena.families.brainscore import score
    from neuroarena.families.neuroprobe import leakage

    assert callable(score)
    assert callable(leakage)
