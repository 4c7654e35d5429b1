"""Pretrained encoders: frozen and fine-tuned forms, bounded memory, honest labels."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from neuroarena import load_benchmark, load_dataset
from neuroarena.decoders import Context, Group, check_decoder, load_decoder
from neuroarena.errors import InputError
from neuroarena.evaluation import Result, evaluate
from neuroarena.evaluation.identity import identify
from neuroarena.families.neuroprobe.encoders import (
    BrainBertLinear,
    brainbert_finetuned,
    brainbert_linear,
    find_places,
    find_weights,
    popt_finetuned,
    popt_frozen,
)
from neuroarena.families.neuroprobe.encoders import brainbert as brainbert_module
from neuroarena.families.neuroprobe.encoders.session_scale import SessionScale
from neuroarena.families.neuroprobe.encoders.streamed_linear import StreamedLogistic
from neuroarena.recordings import channel_table

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")


RATE_HZ = 2048.0
CLASSES = ("0", "1")
CHANNELS = channel_table(
    ["A1", "A2", "A3", "A4"],
    xyz=[[-30, 5, 10], [-27, 5, 11], [-24, 6, 12], [-21, 6, 13]],
    region=["r", "s", "t", "t"],
)


# --- decoders --------------------------------------------------------------------------------------


def group(
    decoder, seed: int, n: int = 24, session: str = "1_0", with_targets: bool = True, channels=CHANNELS
):
    """Windows with a burst in the middle (class 1) or at the ends (class 0) of the second electrode."""
    rng = np.random.default_rng(seed)
    targets = np.arange(n) % 2
    windows = 0.5 * rng.standard_normal((n, len(channels), 2048)).astype(np.float32)
    wave = 6 * np.sin(2 * np.pi * 40 * np.arange(2048) / RATE_HZ)
    middle = np.abs(np.arange(2048) - 1024) < 300
    windows[targets == 1, 1] += wave * middle
    windows[targets == 0, 1] += wave * ~middle
    signals, table = decoder.features(windows, channels, RATE_HZ)
    known = pd.DataFrame(
        {"id": [f"{seed}-{row}" for row in range(n)], "subject": session[0], "session": session}
    )
    return Group(signals, table, RATE_HZ, known, targets.astype(str) if with_targets else None)


def predictions(decoder, channels=CHANNELS, test_channels=None, validation: bool = False) -> np.ndarray:
    other = test_channels if test_channels is not None else channels
    session = "1_0" if test_channels is None else "2_0"
    train, test = [group(decoder, 1, channels=channels)], [group(decoder, 2, 16, session, False, other)]
    held_out = [group(decoder, 3, 8, channels=channels)] if validation else None
    context = Context(CLASSES, tuple(each.channels for each in test), np.random.default_rng(5))
    return np.asarray(decoder.fit(train, held_out, context).predict(test))


def accuracy(predicted: np.ndarray) -> float:
    return float((predicted.argmax(axis=1) == np.arange(len(predicted)) % 2).mean())


QUICK = {"steps": 25, "batch_size": 12, "head_rate": 5e-3, "body_rate": 1e-3}
FORMS = {
    "frozen": lambda **more: brainbert_linear(size="tiny", **more),
    "frozen, all frames": lambda **more: brainbert_linear(size="tiny", frames="all", **more),
    "fine-tuned": lambda **more: brainbert_finetuned(size="tiny", **QUICK, **more),
    "fine-tuned, all frames": lambda **more: brainbert_finetuned(size="tiny", frames="all", **QUICK, **more),
    "popt frozen": lambda **more: popt_frozen(
        size="tiny", **{**QUICK, "steps": 250, "head_rate": 5e-2}, **more
    ),
    "popt fine-tuned": lambda **more: popt_finetuned(size="tiny", **{**QUICK, "steps": 50}, **more),
}


# One of each kind at once; the others share its lines and are drills.
QUICK_FORMS = ("frozen", "frozen, all frames", "fine-tuned", "popt fine-tuned")
FORMS_WITH_DRILLS = [
    form if form in QUICK_FORMS else pytest.param(form, marks=pytest.mark.drill) for form in FORMS
]


@pytest.mark.parametrize("zscore", ["window", "global"])
@pytest.mark.parametrize("form", FORMS_WITH_DRILLS)
def test_every_form_learns_a_planted_task_and_repeats_itself(form, zscore):
    first = predictions(FORMS[form](zscore=zscore))
    assert accuracy(first) > 0.85
    if zscore == "global":
        np.testing.assert_array_equal(first, predictions(FORMS[form](zscore=zscore)))


@pytest.mark.parametrize("form", FORMS_WITH_DRILLS)
def test_every_form_judges_people_with_other_electrodes(form):
    other = channel_table(
        ["B1", "B2", "B3", "B4", "B5"],
        xyz=[[-30, 5, 10], [-27, 5, 11], [-24, 6, 12], [-21, 6, 13], [-18, 6, 13]],
        region=["r", "s", "t", "t", "u"],
    )
    assert accuracy(predictions(FORMS[form](), test_channels=other)) > 0.8
    if form == "frozen":
        assert accuracy(predictions(FORMS[form](zscore="global"), test_channels=other)) > 0.6


@pytest.mark.parametrize("form", [form for form in FORMS if not form.startswith("popt")])
def test_a_region_is_the_mean_of_its_electrodes_however_many_a_person_has(form):
    decoder = FORMS[form](reference="none")
    places = [[-30, 5, 10], [-27, 5, 11], [-24, 6, 12], [-21, 6, 13], [-18, 6, 13]]
    many = channel_table([f"C{at}" for at in range(5)], xyz=places, region=["r", "s", "t", "t", "t"])
    one = many.iloc[:3]
    windows = np.random.default_rng(9).standard_normal((4, 3, 2048)).astype(np.float32)
    known = pd.DataFrame({"id": list("abcd"), "subject": "2", "session": "2_0"})
    people = []
    for channels in (one, many):
        # Every electrode of the third region hears the same.
        heard = windows[:, np.minimum(np.arange(len(channels)), 2)]
        signals, table = decoder.features(heard, channels, RATE_HZ)
        people.append(Group(signals, table, RATE_HZ, known, None))
    context = Context(CLASSES, tuple(each.channels for each in people), np.random.default_rng(5))
    decoder.fit([group(decoder, 1)], None, context)
    alone, together = (decoder.predict([person]) for person in people)
    np.testing.assert_allclose(together, alone, atol=1e-4)


@pytest.mark.parametrize(
    "form",
    [
        "popt fine-tuned",
        *(pytest.param(form, marks=pytest.mark.drill) for form in ("fine-tuned", "popt frozen")),
    ],
)
def test_the_validation_part_chooses_the_step_that_is_kept(form):
    best = predictions(FORMS[form](validate_every=10), validation=True)
    last = predictions(FORMS[form](validate_every=10, keep="last"), validation=True)
    without = predictions(FORMS[form](validate_every=10))
    np.testing.assert_array_equal(last, without)
    assert roc_auc_score(np.arange(len(best)) % 2, best[:, 1]) > 0.85


# The registered encoders keep it with two classes in tests/decoders.
@pytest.mark.drill
@pytest.mark.parametrize("form", ["frozen, all frames", "fine-tuned, all frames", "popt fine-tuned"])
def test_every_form_keeps_the_contract_with_three_classes(form):
    decoder = FORMS[form]()
    if hasattr(decoder, "schedule"):
        object.__setattr__(decoder.schedule, "steps", 3)
    checks = check_decoder(decoder, CHANNELS, RATE_HZ, 2048, ("a", "b", "c"))
    assert [check for check in checks if not check.passed] == []


def test_names_make_the_four_decoders_and_take_parameters():
    assert load_decoder("brainbert-linear", size="tiny", frames="all").frames == "all"
    assert load_decoder("brainbert-finetuned", size="tiny", steps=7).schedule.steps == 7
    assert load_decoder("popt-frozen", size="tiny").frozen
    assert not load_decoder("popt-finetuned", size="tiny").frozen
    with pytest.raises(InputError, match="cannot be made"):
        load_decoder("brainbert-finetuned", size="tiny", stpes=7)


def test_frozen_forms_share_their_cached_features():
    assert brainbert_linear(size="tiny").features == popt_frozen(size="tiny").features
    assert brainbert_linear(size="tiny", seed=1).features != popt_frozen(size="tiny").features


def test_popt_refuses_electrodes_without_a_place_and_far_away():
    decoder = popt_frozen(size="tiny", steps=1)
    nowhere = channel_table(["A1", "A2", "A3"])
    with pytest.raises(InputError, match=r"1 of 1 electrodes have no position \(A2\)"):
        decoder.fit([group(decoder, 1, 4, channels=nowhere)], None, Context(CLASSES))
    far = channel_table(["A1", "A2", "A3"], xyz=[[900, 0, 0]] * 3)
    with pytest.raises(InputError, match="A2 lies outside 0 to 4999"):
        decoder.fit([group(decoder, 1, 4, channels=far)], None, Context(CLASSES))


def test_published_places_are_read_from_the_localization_folder(tmp_path):
    (tmp_path / "sub_1").mkdir()
    table = pd.DataFrame({"Electrode": ["*A2", "A3#"], "L": [57.9, 60], "I": [52, 61], "P": [62, 63.5]})
    table.to_csv(tmp_path / "sub_1" / "depth-wm.csv", index=False)
    places = find_places(tmp_path)
    made = group(brainbert_linear(size="tiny"), 1, 2)
    np.testing.assert_array_equal(places.of(made), [[57, 52, 62], [60, 61, 63]])
    again = tmp_path / "elsewhere"
    shutil.copytree(tmp_path / "sub_1", again / "sub_1")
    assert find_places(again) == places
    pd.DataFrame({"Electrode": ["A2"]}).to_csv(again / "sub_1" / "depth-wm.csv")
    with pytest.raises(InputError, match="columns Electrode, L, I and P"):
        find_places(again)


def test_encoders_of_sizes_that_do_not_fit_are_refused():
    from neuroarena.families.neuroprobe.encoders import PopT

    with pytest.raises(InputError, match="width 768, and BrainBERT \\(tiny\\) returns 48"):
        PopT(find_weights("popt"), find_weights("brainbert", size="tiny"))
    with pytest.raises(InputError, match="weights of popt, and those of brainbert are needed"):
        BrainBertLinear(find_weights("popt"))


# --- statistics of a session -----------------------------------------------------------------------


def test_global_statistics_are_those_of_the_session_then_the_subject_then_everyone():
    rng = np.random.default_rng(0)

    def part(session: str, level: float, names=("A1", "A2")) -> Group:
        signals = (level + rng.standard_normal((6, 2, 5, 40))).astype(np.float32)
        table = pd.DataFrame({"id": range(6), "subject": session[0], "session": session})
        return Group(signals, channel_table(names), 40.0, table)

    first, second = part("1_0", 10), part("1_1", 30)
    scale = SessionScale().fit([first, second])
    own = scale.apply(first)
    expected = first.signals - first.signals.mean(axis=(0, 2), keepdims=True)
    np.testing.assert_allclose(own, expected / first.signals.std(axis=(0, 2), keepdims=True), atol=1e-3)
    both = np.concatenate([first.signals, second.signals])
    third = part("1_2", 20)
    np.testing.assert_allclose(
        scale.apply(third)[:, 1],
        (third.signals[:, 1] - both[:, 1].mean(axis=(0, 1))) / both[:, 1].std(axis=(0, 1)),
        atol=1e-3,
    )
    stranger = part("2_0", 20, ("B1", "B2"))
    everyone = both.reshape(-1, 40)
    np.testing.assert_allclose(
        scale.apply(stranger), (stranger.signals - everyone.mean(axis=0)) / everyone.std(axis=0), atol=1e-3
    )


# --- all frames in bounded memory ------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_streamed_regression_is_scikit_learns(n_classes):
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((50, 300)).astype(np.float32) + 3
    matrix[:, 7] = 1.0
    targets = np.arange(50) % n_classes
    matrix[:, :5] += targets[:, None]
    train, test = matrix[:40], matrix[40:]
    scaler = StandardScaler().fit(train.astype(float))
    whole = LogisticRegression(tol=1e-8, max_iter=10000).fit(
        scaler.transform(train.astype(float)), targets[:40]
    )
    streamed = StreamedLogistic(tol=1e-8)
    streamed.fit(lambda: iter(np.array_split(train, 7, axis=1)), targets[:40])
    found = streamed.predict_proba(np.array_split(test, 7, axis=1))
    np.testing.assert_allclose(found, whole.predict_proba(scaler.transform(test)), atol=1e-4)


def test_all_frames_never_stand_in_memory_together(monkeypatch):
    names = [f"A{number}" for number in range(1, 27)]
    table = channel_table(names)
    decoder = brainbert_linear(size="tiny", frames="all", reference="none")
    train = [group(decoder, 1, 40, channels=table)]
    sizes: list[int] = []
    encode = brainbert_module.encode

    def counted(module, spectra):
        encoded = encode(module, spectra)
        sizes.append(encoded.numel())
        return encoded

    monkeypatch.setattr(brainbert_module, "encode", counted)
    whole = 40 * len(names) * 34 * 48
    tracemalloc.start()
    decoder.fit(train, None, Context(CLASSES, (table,)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Every electrode was encoded, twice (products, then weights), one at a time.
    assert sum(sizes) == 2 * whole
    assert max(sizes) == whole // len(names)
    assert peak < 4 * whole / 2


def test_all_frames_see_what_the_whole_matrix_would_show():
    from neuroarena.decoders import Linear
    from neuroarena.decoders.pretrained import load_module
    from neuroarena.families.neuroprobe.encoders.embedding import encode

    decoder = brainbert_linear(size="tiny", frames="all", tol=1e-8)
    found = predictions(decoder)
    module = load_module(decoder.weights)

    def whole(part: Group) -> Group:
        flat = encode(module, part.signals.reshape(-1, *part.signals.shape[2:])).numpy()
        return Group(
            flat.reshape(*part.signals.shape[:2], -1), part.channels, RATE_HZ, part.table, part.targets
        )

    plain = Linear(tol=1e-8).fit([whole(group(decoder, 1))], None, Context(CLASSES))
    np.testing.assert_allclose(found, plain.predict([whole(group(decoder, 2, 16))]), atol=1e-3)


# --- on a twin of Neuroprobe ------------------------------------------------------------------------

# Tiny random encoders: a planted difference of power is seen by the statistics of the session.
ON_A_TWIN = {
    "brainbert-linear": {},
    "brainbert-finetuned": {**QUICK, "steps": 15},
    "popt-frozen": {**QUICK, "steps": 250, "head_rate": 5e-2},
    "popt-finetuned": {**QUICK, "steps": 50},
}


@pytest.fixture(scope="module")
def speech(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoders") / "twin"
    load_dataset("braintreebank").simulate(
        folder, electrodes=16, minutes=2, subjects=1, sessions=2, ideal=0.98, strength=2.0
    )
    return load_benchmark("neuroprobe/speech", data=str(folder), judged=["1_2"], max_samples=100)


@pytest.mark.drill
@pytest.mark.parametrize("name", ON_A_TWIN)
def test_an_encoder_finds_what_is_planted_in_a_small_twin_and_repeats_itself(name, speech, tmp_path):
    def ran() -> Result:
        decoder = load_decoder(name, size="tiny", zscore="global", **ON_A_TWIN[name])
        return evaluate(decoder, speech, "cross-session", cache=tmp_path)

    first = ran()
    assert first.complete
    assert first.score > 0.65
    assert first.record.decoder.untrained
    if name.endswith("finetuned"):
        shutil.rmtree(tmp_path / "cells")  # the features stay, the predictions are made again
        pd.testing.assert_frame_equal(ran().predictions, first.predictions)


# --- lists of electrodes ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["popt frozen", "popt fine-tuned"])
def test_popt_looks_only_at_the_electrodes_of_a_list(form, tmp_path):
    # A3 has no place: it is refused, unless the list leaves it out.
    channels = CHANNELS.copy()
    channels.loc[2, ["x", "y", "z"]] = np.nan
    with pytest.raises(InputError, match=r"1 of 2 electrodes have no position \(A3\)"):
        predictions(FORMS[form](), channels)
    path = tmp_path / "clean.json"
    path.write_text(json.dumps({"sub_1": ["A1", "*A2"], "sub_2": ["B1"]}))
    listed = predictions(FORMS[form](electrodes=path), channels)
    assert accuracy(listed) > 0.85
    np.testing.assert_array_equal(listed, predictions(FORMS[form](electrodes=["A2"]), channels))


def test_a_list_of_electrodes_is_part_of_the_decoder_by_its_content(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps(["A2"]))
    plain, one, two, other = (
        identify(popt_frozen(size="tiny", electrodes=given)).key
        for given in (None, tmp_path / "one.json", str(tmp_path / "two.json"), ["A3"])
    )
    assert one == two
    assert len({plain, one, other}) == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["Z9"], 'keeps none of the 2 electrodes of subject "1", such as A2'),
        ({"sub_2": ["A2"]}, 'has no entry for subject "1"; it has 2'),
        ({}, "list of electrodes is empty"),
        ({"sub_1": "A2"}, "expected a list of electrode labels"),
        ({"sub_1": [2]}, "expected a list of electrode labels"),
        ([], "expected a list of electrode labels"),
        ("nowhere.json", "nowhere.json: cannot be read as a JSON file of electrode labels"),
    ],
)
def test_a_list_that_does_not_fit_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        predictions(popt_frozen(size="tiny", steps=1, electrodes=given))


# --- what a result says of its weights -------------------------------------------------------------


def toy_at_2048_hz():
    from neuroarena.recordings import from_array
    from toy import SESSIONS, toy_benchmark

    benchmark = toy_benchmark()
    rows = benchmark.examples[benchmark.examples["session"] == SESSIONS[0]].iloc[:12].copy()
    rows["start"] = 2048 * np.arange(12)
    rows["stop"] = rows["start"] + 2048
    signal = np.random.default_rng(0).standard_normal((4, 2048 * 12)).astype(np.float32)

    def split(examples):
        from neuroarena.benchmarks import Fold, Split

        ids = sorted(examples["id"])
        return Split("halves", (Fold("0", tuple(ids[6:]), tuple(ids[:6])),))

    return toy_benchmark(
        make_examples=lambda: rows,
        split_rules={"halves": split},
        open_recording=lambda key: from_array(signal, RATE_HZ, ["A1", "A2", "A3", "B1"], name=f"toy {key}"),
    )


def test_a_result_of_random_weights_says_untrained(tmp_path):
    result = evaluate(brainbert_linear(size="tiny"), toy_at_2048_hz(), name="BrainBERT", out=tmp_path)
    assert result.complete
    shown = result.record.decoder
    assert shown.name == "BrainBERT (untrained)"
    assert shown.untrained is True
    assert shown.parameters["weights"]["values"]["sha256"] == "untrained"
    assert shown.not_cached_because is None
    again = evaluate(
        brainbert_linear(size="tiny"), toy_at_2048_hz(), name="BrainBERT", workers=2, cache=tmp_path / "c"
    )
    pd.testing.assert_frame_equal(result.predictions, again.predictions)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_an_identity_that_changes_with_its_parameters(form):
    keys = {
        identify(FORMS[form](seed=seed, zscore=zscore)).key
        for seed in (0, 1)
        for zscore in ("window", "global")
    }
    assert None not in keys
    assert len(keys) == 4


def test_an_encoder_says_what_is_missing_when_torch_is():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from neuroarena.decoders import load_decoder, Context\n"
        "for name in ('brainbert-linear', 'brainbert-finetuned', 'popt-frozen', 'popt-finetuned'):\n"
        "    try:\n        load_decoder(name).fit([], None, Context(('0', '1')))\n"
        "    except Exception as error:\n        print(type(error).__name__, error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.count("MissingDependency A pretrained encoder needs PyTorch, which is not installed.") == 4
    assert said.count('pip install "neuroarena[torch]"') == 4


@pytest.mark.drill
def test_the_large_encoder_runs_from_windows_to_predictions():
    decoder = brainbert_linear()
    assert predictions(decoder).shape == (16, 2)
    assert decoder.untrained
