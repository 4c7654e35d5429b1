"""Published checkpoints: converted, checked, and never run."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import pickle
import shutil
import struct
import sys
import types
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.decoders.pretrained import find_model, load_module
from neuroarena.decoders.pretrained.torch_archive import TorchArchive
from neuroarena.errors import InputError
from neuroarena.evaluation.identity import identify
from neuroarena.families.neuroprobe.encoders import (
    brainbert_linear,
    convert_brainbert,
    convert_checkpoint,
    convert_popt,
    find_weights,
    popt_frozen,
)
from neuroarena.families.neuroprobe.encoders.shapes import BRAINBERT

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from neuroarena.families.neuroprobe.encoders.networks import BrainBert, PopulationTransformer  # noqa: E402

RAN: list[str] = []


def tiny_state(model: str = "brainbert", seed: int = 1) -> dict:
    kind = {"brainbert": BrainBert, "popt": PopulationTransformer}[model]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return dict(kind(find_model(model).shape("tiny")).state_dict())


@pytest.fixture
def omegaconf(monkeypatch):
    """Stand in for the library that published files were written with: same names, same pickled form."""
    made = {}
    for module, names in {
        "omegaconf": (),
        "omegaconf.dictconfig": ("DictConfig",),
        "omegaconf.base": ("ContainerMetadata", "Metadata"),
        "omegaconf.nodes": ("AnyNode",),
    }.items():
        fake = types.ModuleType(module)
        for name in names:
            kind = type(name, (), {"__module__": module})
            setattr(fake, name, kind)
            made[name] = kind
        monkeypatch.setitem(sys.modules, module, fake)

    def config(**values):
        import typing
        from collections import defaultdict

        content = {}
        for name, value in values.items():
            node = made["AnyNode"]()
            node.__dict__.update({"_metadata": made["Metadata"](), "_val": value, "_parent": None})
            content[name] = node
        whole, metadata = made["DictConfig"](), made["ContainerMetadata"]()
        metadata.__dict__.update(
            {
                "ref_type": typing.Any,
                "key_type": str,
                "object_type": dict,
                "resolver_cache": defaultdict(dict),
            }
        )
        whole.__dict__.update({"_metadata": metadata, "_content": content})
        return whole

    return config


def saved(path, content, **options):
    torch.save(content, path, **options)
    return path


@pytest.mark.parametrize("model", ["brainbert", "popt"])
def test_a_published_checkpoint_becomes_safetensors_with_the_same_numbers(tmp_path, omegaconf, model):
    state = tiny_state(model)
    optimiser = {
        "state": {0: {"step": 3, "exp_avg": torch.ones(4)}},
        "param_groups": [{"lr": 1e-4, "params": [0]}],
    }
    source = saved(
        tmp_path / "published.pth",
        {
            "model": state,
            "optim": optimiser,
            "scheduler": None,
            "model_cfg": omegaconf(hidden_dim=48, nhead=4),
        },
    )
    with pytest.raises(pickle.UnpicklingError):
        torch.load(source, weights_only=True)
    said = convert_checkpoint(model, source)
    assert said["size"] == "tiny"
    assert said["tensors"] == len(state)
    assert said["target"] == str(tmp_path / "published.safetensors")
    loaded = load_module(find_weights(model, said["target"])).state_dict()
    assert list(loaded) == list(state)
    assert all(torch.equal(loaded[name], state[name]) for name in state)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda state: state,
        lambda state: {"model": state},
        lambda state: {"model": {name: tensor.double() for name, tensor in state.items()}},
        lambda state: {"model": {name: torch.nn.Parameter(tensor) for name, tensor in state.items()}},
        lambda state: {
            "model": {f"upstream.{name}": tensor for name, tensor in state.items()}
            | {"linear_out.weight": torch.ones(1, 48), "linear_out.bias": torch.ones(1)}
        },
    ],
    ids=["bare", "model", "double", "parameters", "fine-tuned"],
)
def test_every_form_a_state_dict_is_kept_in_is_read(tmp_path, wrap):
    state = tiny_state()
    said = convert_brainbert(saved(tmp_path / "file.pth", wrap(state)), tmp_path / "out.safetensors")
    loaded = load_module(find_weights("brainbert", said["target"])).state_dict()
    assert all(torch.equal(loaded[name], state[name]) for name in state)


def test_views_and_transposed_tensors_are_read_as_torch_sees_them(tmp_path):
    state = tiny_state()
    name = "transformer.layers.0.linear1.weight"
    state[name] = torch.randn(48, 96).t()
    state["input_encoding.in_proj.bias"] = torch.randn(100)[10:58]
    archive = TorchArchive(saved(tmp_path / "file.pth", state))
    np.testing.assert_array_equal(archive.read(archive.content[name], name), state[name].numpy())
    bias = "input_encoding.in_proj.bias"
    np.testing.assert_array_equal(archive.read(archive.content[bias], bias), state[bias].numpy())


def test_an_old_file_is_read_by_torchs_loader_of_weights_only(tmp_path):
    source = saved(tmp_path / "old.pth", tiny_state(), _use_new_zipfile_serialization=False)
    assert convert_brainbert(source)["size"] == "tiny"


def test_equal_weights_are_equal_files_and_equal_decoders_wherever_they_lie(tmp_path):
    source = saved(tmp_path / "file.pth", tiny_state())
    first = convert_brainbert(source, tmp_path / "a.safetensors")
    second = convert_brainbert(source, tmp_path / "deep" / "b.safetensors")
    assert first["sha256"] == second["sha256"]
    one, two = (
        brainbert_linear(first["target"]),
        dataclasses.replace(brainbert_linear(), weights=second["target"]),
    )
    assert not one.untrained
    assert one.weights.sha256 == first["sha256"]
    assert identify(one).key == identify(two).key
    assert one.features.fingerprint() == two.features.fingerprint()
    assert str(tmp_path) not in str(identify(one).parameters)
    other = convert_brainbert(saved(tmp_path / "other.pth", tiny_state(seed=2)))
    assert identify(brainbert_linear(other["target"])).key != identify(one).key


def test_popt_is_trained_only_when_both_its_encoders_are(tmp_path):
    population = convert_popt(saved(tmp_path / "popt.pth", tiny_state("popt")))["target"]
    single = convert_brainbert(saved(tmp_path / "bert.pth", tiny_state()))["target"]
    assert not popt_frozen(population, brainbert=single).untrained
    assert popt_frozen(population, size="tiny").untrained
    assert popt_frozen(brainbert=single, size="tiny").untrained


def test_weights_that_change_or_vanish_after_they_were_found_are_refused(tmp_path):
    target = convert_brainbert(saved(tmp_path / "file.pth", tiny_state()))["target"]
    weights = find_weights("brainbert", target)
    other = convert_brainbert(saved(tmp_path / "other.pth", tiny_state(seed=2)))["target"]
    shutil.copy(other, target)
    with pytest.raises(InputError, match="have changed since"):
        load_module(weights)
    (tmp_path / "file.safetensors").unlink()
    with pytest.raises(InputError, match="no longer there"):
        load_module(weights)


# --- programs in disguise --------------------------------------------------------------------------


class Call:
    """Pickles as a call of a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


class Unknown:
    """A class nobody named."""

    def __setstate__(self, state):
        RAN.append("state")


def evil(tmp_path):
    import os

    mark = tmp_path / "ran"
    return {
        "posix.system": Call(os.system, f"touch {mark}"),
        "__builtin__.eval": Call(eval, f"open({str(mark)!r}, 'w')"),
        "__builtin__.exec": Call(exec, f"open({str(mark)!r}, 'w')"),
        "__builtin__.getattr": Call(getattr, "", "upper"),
        "test_checkpoints.Unknown": Unknown(),
        "omegaconf.omegaconf.OmegaConf": None,
        "torch.nn.modules.linear.Linear": torch.nn.Linear(2, 2),
    }


def program(name: str, thing: object) -> bytes:
    if thing is None:
        module, _, attribute = name.rpartition(".")
        return b"\x80\x02c" + module.encode() + b"\n" + attribute.encode() + b"\n."
    return pickle.dumps({"model": thing}, protocol=2)


def archive_of(path, content: bytes, compression: int = zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as file:
        file.writestr("archive/data.pkl", content)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "posix.system",
        "__builtin__.eval",
        "__builtin__.exec",
        "__builtin__.getattr",
        "test_checkpoints.Unknown",
        "omegaconf.omegaconf.OmegaConf",
        "torch.nn.modules.linear.Linear",
    ],
)
def test_a_pickle_that_names_anything_else_is_refused_and_nothing_runs(tmp_path, name):
    thing = evil(tmp_path)[name]
    if name.startswith("torch"):
        source = saved(tmp_path / "evil.pth", {"model": thing})
    else:
        source = archive_of(tmp_path / "evil.pth", program(name, thing))
    RAN.clear()
    with pytest.raises(InputError, match=name.replace(".", r"\.")) as refusal:
        convert_brainbert(source)
    assert "names" in str(refusal.value)
    assert not RAN
    assert [path.name for path in tmp_path.iterdir()] == ["evil.pth"]


@pytest.mark.parametrize("name", ["posix.system", "__builtin__.eval", "test_checkpoints.Unknown"])
def test_an_old_file_with_a_program_is_refused_too(tmp_path, name):
    source = saved(
        tmp_path / "evil.pth", {"model": evil(tmp_path)[name]}, _use_new_zipfile_serialization=False
    )
    RAN.clear()
    with pytest.raises(InputError, match="not a complete torch checkpoint"):
        convert_brainbert(source)
    assert not RAN
    assert [path.name for path in tmp_path.iterdir()] == ["evil.pth"]


def test_a_stand_in_keeps_no_trace_for_the_next_file(tmp_path):
    spoiled = b"\x80\x02comegaconf.nodes\nAnyNode\n}U\x05shownU\x03yess\x86b."
    plain = b"\x80\x02comegaconf.nodes\nAnyNode\n)\x81."
    with contextlib.suppress(InputError):
        TorchArchive(archive_of(tmp_path / "first.pth", spoiled))
    made = TorchArchive(archive_of(tmp_path / "second.pth", plain)).content
    assert not hasattr(type(made), "shown")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x80\x02}r\xff\xff\xff\x7f.", "counts to 2147483647"),
        (b"", "cannot be read"),
        (b"\x80\x02", "cannot be read"),
        (b"garbage", "cannot be read"),
        (b"\x80\x02U\x03abcQ.", "refers to data in an unknown way"),
        (b"\x80\x02K\x05.", "expected a table of tensors"),
    ],
)
def test_a_broken_table_of_contents_is_refused(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        convert_brainbert(archive_of(tmp_path / "broken.pth", content))


def test_compressed_entries_are_refused(tmp_path):
    source = archive_of(
        tmp_path / "bomb.pth", pickle.dumps({}, protocol=2) + bytes(10**6), zipfile.ZIP_DEFLATED
    )
    with pytest.raises(InputError, match="is compressed"):
        convert_brainbert(source)


def tensor_program(n_stored: int, offset: int, shape: tuple, strides: tuple) -> bytes:
    """A checkpoint's pickle with one tensor of a made-up layout."""
    out = io.BytesIO()
    out.write(b"\x80\x02}X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storage")
    out.write(b"ctorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu")
    out.write(pickle_int(n_stored) + b"tQ" + pickle_int(offset))
    for numbers in (shape, strides):
        out.write(b"(" + b"".join(map(pickle_int, numbers)) + b"t")
    out.write(b"\x89}tRs.")
    return out.getvalue()


def pickle_int(value: int) -> bytes:
    return b"\x8a\x08" + struct.pack("<q", value)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ((4, 0, (100, 100), (0, 0)), "reaches beyond its 4 stored numbers"),
        ((4, 2, (4,), (1,)), "reaches beyond"),
        ((4, 0, (2, 2), (9, 1)), "reaches beyond"),
        ((4, -1, (2,), (1,)), "negative size"),
        ((9, 0, (9,), (1,)), "16 bytes are stored, expected 36"),
        ((4, 0, (2,), (1, 1)), "as many strides"),
    ],
)
def test_a_tensor_that_reaches_beyond_its_data_is_refused(tmp_path, layout, message):
    path = tmp_path / "file.pth"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", tensor_program(*layout))
        file.writestr("archive/data/0", bytes(16))

    def read():
        archive = TorchArchive(path)
        return archive.read(archive.content["w"], "w")

    with pytest.raises(InputError, match=message):
        read()


# --- wrong and damaged files -----------------------------------------------------------------------


def without(state, name):
    del state[name]
    return state


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda state: without(state, "transformer.layers.1.norm2.bias"),
            r"missing: transformer\.layers\.1\.norm2\.bias",
        ),
        (
            lambda state: {**state, "input_encoding.in_proj.weight": torch.ones(48, 41)},
            r"misshapen: input_encoding\.in_proj\.weight \(expected \(48, 40\), got \(48, 41\)\)",
        ),
        (lambda state: {**state, "extra.weight": torch.ones(3)}, r"unexpected: extra\.weight"),
        (lambda state: {}, r"large, 83 tensors\)\. missing: input_encoding\.in_proj\.weight.*and 78 more"),
        (
            lambda state: {**state, "spec_prediction_head.output.bias": torch.full((40,), torch.nan)},
            "spec_prediction_head.output.bias holds NaN",
        ),
        (
            lambda state: {**state, "spec_prediction_head.output.bias": torch.ones(40, dtype=torch.int64)},
            "output.bias holds int64",
        ),
        (lambda state: tiny_state("popt"), r"missing: transformer\.layers\.0"),
        (lambda state: {"model_cfg": {"name": "x"}, "optim": {}}, "keys model_cfg, optim"),
    ],
)
@pytest.mark.parametrize("old", [False, True])
def test_wrong_tensors_are_named_and_nothing_is_written(tmp_path, change, message, old):
    source = saved(tmp_path / "wrong.pth", change(tiny_state()), _use_new_zipfile_serialization=not old)
    with pytest.raises(InputError, match=message) as refusal:
        convert_brainbert(source)
    assert "wrong.pth" in str(refusal.value)
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.pth"]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 0.999])
def test_a_truncated_checkpoint_is_refused(tmp_path, share):
    whole = saved(tmp_path / "whole.pth", tiny_state()).read_bytes()
    cut = tmp_path / "cut.pth"
    cut.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match=r"cut\.pth: not a complete torch checkpoint"):
        convert_brainbert(cut)
    assert not (tmp_path / "cut.safetensors").exists()


def test_a_damaged_tensor_is_refused(tmp_path):
    source = saved(tmp_path / "file.pth", tiny_state())
    content = bytearray(source.read_bytes())
    content[len(content) // 2] ^= 0xFF
    source.write_bytes(content)
    with pytest.raises(InputError, match="Bad CRC-32"):
        convert_brainbert(source)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_bytes(b"not tensors"), "not a complete safetensors file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), "not a complete safetensors file"),
        (lambda path: torch.save({}, path), "neuroarena data convert brainbert FILE"),
        (lambda path: _plain_safetensors(path), "header does not say that it holds brainbert"),
    ],
    ids=["text", "truncated", "torch", "unlabelled"],
)
def test_weights_that_are_no_converted_checkpoint_are_refused(tmp_path, make, message):
    path = tmp_path / "file.safetensors"
    convert_brainbert(saved(tmp_path / "file.pth", tiny_state()))
    make(path)
    with pytest.raises(InputError, match=message):
        find_weights("brainbert", path)


def _plain_safetensors(path):
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(3, dtype=np.float32)}, path)


def test_missing_files_other_models_and_overwriting_are_refused(tmp_path):
    source = saved(tmp_path / "file.safetensors", tiny_state())
    with pytest.raises(InputError, match="overwrite the checkpoint"):
        convert_brainbert(source)
    with pytest.raises(InputError, match="no such file"):
        convert_popt(tmp_path / "none.pth")
    with pytest.raises(InputError, match='no encoder "labram"'):
        convert_checkpoint("labram", source)


@given(
    program=st.binary(max_size=60)
    | st.binary(max_size=40).map(lambda rest: b"\x80\x02(cposix\nsystem\n" + rest)
)
def test_no_bytes_make_the_reader_do_anything_but_refuse(tmp_path_factory, program):
    path = archive_of(tmp_path_factory.mktemp("any") / "any.pth", program)
    with pytest.raises(InputError):
        convert_brainbert(path)


@pytest.mark.drill
def test_a_file_of_the_published_size_is_converted_and_loaded(tmp_path):
    state = dict(BrainBert(BRAINBERT.shape("large")).state_dict())
    said = convert_brainbert(saved(tmp_path / "stft_large_pretrained.pth", {"model": state}))
    assert said["parameters"] == 43_183_144
    assert brainbert_linear(said["target"]).weights.size == "large"
