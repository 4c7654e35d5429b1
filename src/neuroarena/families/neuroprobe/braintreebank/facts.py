"""Facts about BrainTreebank that are not in its files."""

from __future__ import annotations

RATE_HZ = 2048.0

# Electrodes without a position on the cortex, by subject.
UNLOCATED: dict[int, tuple[str, ...]] = {
    1: ("F3cId10",),
    3: ("F3c9", "F3c10", "T1aIc1", "T1aIc2", "P2a10", *(f"O1aIb{contact}" for contact in range(2, 9))),
    4: ("LT1aIb10", "LF3bIa12"),
    7: ("LF3aOFa16", "LF1cCb12"),
    8: ("F2bCb6", "F2bCb14"),
    9: ("P2a6", "P2a7", "P2a8"),
    10: ("T1aIa4", "P2cCc5"),
}

# The film of every session (subject, trial).
MOVIES: dict[tuple[int, int], str] = {
    (1, 0): "fantastic-mr-fox",
    (1, 1): "the-martian",
    (1, 2): "thor-ragnarok",
    (2, 0): "venom",
    (2, 1): "spider-man-3-homecoming",
    (2, 2): "guardians-of-the-galaxy",
    (2, 3): "guardians-of-the-galaxy-2",
    (2, 4): "avengers-infinity-war",
    (2, 5): "black-panther",
    (2, 6): "aquaman",
    (3, 0): "cars-2",
    (3, 1): "lotr-1",
    (3, 2): "lotr-2",
    (4, 0): "shrek-the-third",
    (4, 1): "megamind",
    (4, 2): "incredibles",
    (5, 0): "fantastic-mr-fox",
    (6, 0): "megamind",
    (6, 1): "toy-story",
    (6, 4): "coraline",
    (7, 0): "cars-2",
    (7, 1): "megamind",
    (8, 0): "sesame-street-episode-3990",
    (9, 0): "ant-man",
    (10, 0): "cars-2",
    (10, 1): "spider-man-far-from-home",
}

# Columns of features.csv that alignment and the benchmark need.
FEATURE_COLUMNS = (
    "text",
    "start",
    "end",
    "sentence",
    "is_onset",
    "idx_in_sentence",
    "bin_head",
    "pos",
    "face_num",
    "rms",
    "delta_rms",
    "mean_pixel_brightness",
    "max_global_magnitude",
    "max_vector_magnitude",
    "gpt2_surprisal",
    "word_length",
)
TRIGGER_COLUMNS = ("movie_time", "index")
DEPTH_COLUMNS = ("Electrode", "DesikanKilliany")
COORDINATE_COLUMNS = ("Subject", "Electrode", "X", "Y", "Z")
