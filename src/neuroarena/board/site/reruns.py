"""How an entry is made again: commands that a reader can copy."""

from __future__ import annotations

import json
import shlex
from typing import Any

from neuroarena.board.entries import Entry
from neuroarena.board.wording import clean_name
from neuroarena.decoders import DECODERS

WORDS = {
    "run": "Run the decoder again; the same data, code and seed give the same scores.",
    "model": "Show the model the stimuli again; the same data, code and seed give the same scores.",
    "predictions": "Score the file of predictions again; it is known by its SHA-256.",
    "code": "Run the submitted code again in the sandbox; it is known by its SHA-256.",
    "submission": "Rank the submitted folder again; its scores are its own.",
}


def explain_rerun(entry: Entry) -> dict[str, str]:
    """Return how an entry is made again: a sentence and a command.

    The command names the decoder only where this installation knows it; a decoder of somebody else is named by what its
    record says.
    """
    kind = str(entry.provenance.get("kind") or "submission")
    return {"words": WORDS.get(kind, WORDS["submission"]), "command": clean_name(_command(entry, kind))}


def _command(entry: Entry, kind: str) -> str:
    known = entry.provenance
    source = known.get("source") or {}
    where = ["--split", str(known.get("split") or entry.split), *_options(known.get("options") or {})]
    if kind in ("predictions", "code"):
        words = ["neuroarena", "score", entry.benchmark, str(source.get("file") or "FILE"), *where]
    elif kind in ("run", "model"):
        name = str(known.get("decoder") or entry.team)
        decoder = name if name in DECODERS.names() else str(known.get("decoder_type") or name)
        seeds = known.get("seeds") or [0]
        words = ["neuroarena", "run", entry.benchmark, "-d", decoder, *where, "--seed", str(seeds[0])]
        words += ["--repeats", str(len(seeds))] if len(seeds) > 1 else []
    else:
        words = ["neuroarena", "board", str(known.get("folder") or "FOLDER")]
    return " ".join(shlex.quote(word) for word in words)


def _options(options: dict[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in sorted(options.items()):
        words += ["-O", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return words
