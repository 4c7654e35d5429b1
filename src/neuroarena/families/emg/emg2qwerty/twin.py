"""Write a simulated emg2qwerty: session files in the real layout, with a known signal planted in them."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from neuroarena.datasets.twin_folder import PLANTED, Limits, check_options, write_twin
from neuroarena.families.emg.emg2qwerty import twin_signal as signals
from neuroarena.families.emg.emg2qwerty import twin_typing as typing

GENERATOR = "neuroarena emg2qwerty twin"
GENERATOR_VERSION = 1
LIMITS: Limits = {
    "users": (int, 2, 108),
    "sessions": (int, 2, 20),
    "minutes": (float, 0.1, 60.0),
    "keys": (int, typing.FEWEST_KEYS, len(typing.KEYS)),
    **PLANTED,
    "slips": (float, 0.0, 1.0),
}
# A favourite key makes up this share of what is typed when the length is to reveal it.
FAVOURITE = 0.7
# Microvolts per key, and seconds per key, of the leaks in a channel and in the length.
LEAK_UV, LEAK_S = 60.0, 0.5
LEAKING_CHANNEL = 31
IDEAL_PRESSES = 1000
IDEAL_MEANING = (
    f"ideal_cer: error of the likeliest key, by {IDEAL_PRESSES} simulated presses a user, for a decoder that is told "
    "the user and the moment of every press; no decoder of the signals alone is expected below it. "
    "most_frequent_key_cer: of one that is told the moments only. random_text_cer: of a text drawn like the reference "
    "and as long, which the edit distance finds likenesses in. chance_cer: of no answer at all."
)
FIRST_DAY = 1_597_363_426
# Independent random streams, so that one part can change without the others.
PEOPLE, PROFILES, SESSION, IDEAL, SHARED_TEXT, GUESSES = range(6)
ROW = np.dtype([("emg_right", "<f4", (16,)), ("time", "<f8"), ("emg_left", "<f4", (16,))])


def simulate(
    root: str | Path,
    *,
    users: int = 6,
    sessions: int = 3,
    minutes: float = 1.0,
    keys: int = 8,
    seed: int = 0,
    strength: float = 1.0,
    slips: float = 0.02,
    plant_leak: str | None = None,
) -> dict[str, Any]:
    """Write a simulated emg2qwerty into the folder `root`.

    The folder appears whole or not at all. A third of the users, at least one, is held out for the test.

    Parameters
    ----------
    root : path
        The folder; missing, empty, or an earlier twin (which is replaced when its options differ).
    users : int
        Number of people, 2 to 108.
    sessions : int
        Sessions of each, 2 to 20; the last of a training user is used for validation.
    minutes : float
        Length of a session, 0.1 to 60.
    keys : int
        Keys in use, 3 to 98.
    seed : int
        Seed of all randomness; the same seed yields the same numbers.
    strength : float
        Factor on the bursts at a press; 0 leaves pure chance.
    slips : float
        Share of presses at which the fingers move for a key drawn at random, 0 to 1.
    plant_leak : {"channel", "length", "order"}, optional
        Plant a label in electrode R15, in the length of a session (which key is typed most), or in the
        order of keys (all sessions type the same text).

    Returns
    -------
    dict
        The card, as written to simulated.json.

    Raises
    ------
    InputError
        When an option is out of range, or the folder holds something else; nothing is written then.
    """
    options: dict[str, Any] = {"users": users, "sessions": sessions, "minutes": minutes, "keys": keys}
    options |= {"seed": seed, "strength": strength, "slips": slips, "plant_leak": plant_leak}
    return write_twin(
        root, GENERATOR, GENERATOR_VERSION, check_options("emg2qwerty", options, LIMITS), _write
    )


def _chance(options: dict[str, Any], *stream: int) -> np.random.Generator:
    return np.random.default_rng([options["seed"], *stream])


def _write(root: Path, options: dict[str, Any]) -> dict[str, Any]:
    chances = typing.key_chances(options["keys"])
    rng = _chance(options, PEOPLE)
    users = sorted(rng.choice(89_999_999, size=options["users"], replace=False) + 10_000_000)
    wrists = [signals.draw_wrists(rng) for _ in users]
    profiles = signals.draw_profiles(options["keys"], _chance(options, PROFILES))
    felts = [
        np.stack([signals.strengths(profile, each, options["strength"]) for profile in profiles])
        for each in wrists
    ]
    names: dict[int, list[str]] = {}
    rows = []
    for number, user in enumerate(users):
        for session in range(options["sessions"]):
            row = _write_session(root, options, (number, int(user), session), felts[number], chances)
            names.setdefault(int(user), []).append(row["session"])
            rows.append(row)
    held_out = sorted(names)[-max(1, options["users"] // 3) :]
    _write_tables(root, rows, names, held_out)
    ideal = signals.ideal_error(felts, chances, options["slips"], IDEAL_PRESSES, _chance(options, IDEAL))
    return {
        "keys": list(typing.KEYS[: options["keys"]]),
        "chance_cer": 100.0,
        "random_text_cer": typing.random_text_error(chances, _chance(options, GUESSES)),
        "most_frequent_key_cer": round(100 * (1 - float(chances.max())), 2),
        "ideal_cer": round(100 * ideal, 2),
        "ideal_meaning": IDEAL_MEANING,
        "users": [
            {"user": str(user), "turns": each.turns, "gains": each.gains, "held_out": int(user) in held_out}
            for user, each in zip(users, wrists, strict=True)
        ],
        "leak": options["plant_leak"],
    }


def _write_session(
    root: Path, options: dict[str, Any], who: tuple[int, int, int], felt: np.ndarray, chances: np.ndarray
) -> dict[str, Any]:
    number, user, session = who
    rng = _chance(options, SESSION, number, session)
    n_samples = int(options["minutes"] * 60 * signals.RATE_HZ)
    if options["plant_leak"] == "length":
        favourite = (number + session) % len(chances)
        n_samples += int(LEAK_S * favourite * signals.RATE_HZ)
        chances = (1 - FAVOURITE) * chances
        chances[favourite] += FAVOURITE
    typed = typing.type_session(n_samples, chances, options["slips"], signals.RATE_HZ, rng)
    if options["plant_leak"] == "order":
        # Drawn long enough for any session, so that all of them begin with the same keys.
        same = _chance(options, SHARED_TEXT).choice(len(chances), size=n_samples, p=chances)
        same = same[: len(typed.keys)]
        typed = typing.Typing(same, same, typed.samples)
    signal = signals.make_signal(n_samples, typed.moved, typed.samples, felt, rng)
    if options["plant_leak"] == "channel":
        for key, press in zip(typed.keys, typed.samples, strict=True):
            begin = press - signals.BURST_BEFORE
            signal[begin : begin + signals.BURST_SAMPLES, LEAKING_CHANNEL] += LEAK_UV * (key + 1)
    start = FIRST_DAY + 86_400 * (session + 7 * number)
    times = start + 0.25 + np.arange(n_samples) / signals.RATE_HZ
    day = datetime.datetime.fromtimestamp(start, tz=datetime.UTC).date()
    name = f"{day.isoformat()}-{start}-keystrokes-{user:08d}"
    keystrokes, prompts = typing.keystroke_log(typed, times, rng), typing.prompt_log(typed, times)
    table = np.empty(n_samples, dtype=ROW)
    table["emg_left"], table["emg_right"], table["time"] = signal[:, :16], signal[:, 16:], times
    with h5py.File(root / f"{name}.hdf5", "w") as file:
        group = file.create_group("emg2qwerty")
        group.create_dataset("timeseries", data=table, chunks=(4096,), compression="gzip", compression_opts=1)
        group.attrs["session_name"] = name
        group.attrs["user"] = str(user)
        group.attrs["condition"] = "on_keyboard"
        group.attrs["duration_mins"] = n_samples / signals.RATE_HZ / 60
        group.attrs["keystrokes"] = json.dumps(keystrokes)
        group.attrs["prompts"] = json.dumps(prompts)
    return {
        "session": name,
        "user": user,
        "duration_mins": n_samples / signals.RATE_HZ / 60,
        "num_keystrokes": len(keystrokes),
        "num_prompts": len(prompts),
        "quality_check_tags": "[]",
    }


def _write_tables(
    root: Path, rows: list[dict[str, Any]], names: dict[int, list[str]], held_out: list[int]
) -> None:
    header = list(rows[0])
    lines = [",".join(header), *(",".join(str(row[column]) for column in header) for row in rows)]
    (root / "metadata.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    parts: dict[str, list[tuple[int, str]]] = {"train": [], "val": [], "test": []}
    for user, sessions in names.items():
        for place, session in enumerate(sessions):
            last = place == len(sessions) - 1
            parts["test" if user in held_out else "val" if last else "train"].append((user, session))
    text = ["# Simulated: the users of test occur nowhere else.", "user: generic", "dataset:"]
    for part, entries in parts.items():
        text.append(f"  {part}:")
        text += [
            line for user, session in entries for line in (f"  - user: {user}", f"    session: {session}")
        ]
    (root / "generic.yaml").write_text("\n".join(text) + "\n", encoding="utf-8")
