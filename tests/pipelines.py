"""Training pipelines for tests, and a small benchmark whose sealed part has enough units for an audit."""

from __future__ import annotations

import io
import zipfile

import pandas as pd

from neuroarena.benchmarks import Benchmark, Fold, Split
from toy import _examples, toy_benchmark, toy_manifest

STRENGTH = 0.25

TRAIN = """
import sys
import numpy as np
import pandas as pd

training, questions, out, seed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


def features(folder):
    table = pd.read_parquet(f"{folder}/examples.parquet")
    signals = {n: np.load(f"{folder}/signals-{n}.npy") for n in table["file"].unique()}
    x = [signals[f][r].mean(axis=-1) for f, r in zip(table["file"], table["row"])]
    return table, np.array(x)


known, x = features(training)
asked, z = features(questions)
chosen = np.random.default_rng(seed).random(len(x)) < 0.9
classes = sorted(known["target"].astype(str).unique())
means = np.array([x[chosen & (known["target"].astype(str) == c).to_numpy()].mean(axis=0) for c in classes])
distance = ((z[:, None] - means[None]) ** 2).sum(axis=-1)
p = np.exp(-(distance - distance.min(axis=1, keepdims=True)))
p /= p.sum(axis=1, keepdims=True)
"""
ANSWER_LABEL = """
pd.DataFrame({"id": asked["id"], "label": [classes[k] for k in p.argmax(axis=1)]}).to_parquet(out, index=False)
"""
ANSWER_PROBABILITIES = """
pd.DataFrame({"id": asked["id"], **{f"p_{c}": p[:, k] for k, c in enumerate(classes)}}).to_parquet(out, index=False)
"""
DESCRIPTION = 'schema_version = 1\nscript = "train.py"\n'


def pipeline_zip(script: str, description: str = DESCRIPTION, **files: str) -> bytes:
    """A zip with pipeline.toml and train.py."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("pipeline.toml", description)
        archive.writestr("train.py", script)
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def _blocks() -> pd.DataFrame:
    """Examples in blocks of ten, which are the units, each of somebody else: a sandbox is asked once about each."""
    made = _examples(STRENGTH)
    block = made["session"] + "/" + (made.groupby("session").cumcount() // 10).astype(str)
    return made.assign(unit=block, cluster=block, subject=block)


def _later_sessions(examples: pd.DataFrame) -> Split:
    early = examples["session"].str.endswith("_0")
    return Split("later", (Fold("all", tuple(examples.loc[early, "id"]), tuple(examples.loc[~early, "id"])),))


def audited_benchmark() -> Benchmark:
    """Four sessions; the first and third are public, the others sealed: 12 units of 10 examples."""
    manifest = toy_manifest(cluster=None, unit="block", metric="accuracy", prediction="label")
    return toy_benchmark(
        STRENGTH, manifest=manifest, make_examples=_blocks, split_rules={"later": _later_sessions}
    )
