"""Fixed facts about HBN-EEG: releases, tasks, columns, and the people the start kit leaves out."""

from __future__ import annotations

import re

# OpenNeuro ids of the public releases; ds005513 is not used. R12 was sealed and has none.
OPENNEURO = {
    "R1": "ds005505",
    "R2": "ds005506",
    "R3": "ds005507",
    "R4": "ds005508",
    "R5": "ds005509",
    "R6": "ds005510",
    "R7": "ds005511",
    "R8": "ds005512",
    "R9": "ds005514",
    "R10": "ds005515",
    "R11": "ds005516",
}
RELEASES = (*OPENNEURO, "R12")
VALIDATION = "R5"
SEALED = "R12"
TRAINING = tuple(name for name in RELEASES if name not in (VALIDATION, SEALED))

# People of a release where the number is known, and of every mini release. Which twenty people a mini
# release holds is published with it and not repeated here: a mini folder is used as it is.
PEOPLE = {"R1": 136, "R2": 152, "R3": 183, "R4": 324, "R5": 330}
MINI_PEOPLE = 20

MOVIES = ("DespicableMe", "DiaryOfAWimpyKid", "FunwithFractals", "ThePresent")
TASKS = (
    "RestingState",
    *MOVIES,
    "contrastChangeDetection",
    "seqLearning6target",
    "seqLearning8target",
    "surroundSupp",
    "symbolSearch",
)
CONTRAST, SURROUND = "contrastChangeDetection", "surroundSupp"
RUNS = {CONTRAST: 3, SURROUND: 2}

# Left out by the start kit before training; the published scorer does not leave them out.
EXCLUDED = (
    "NDARWV769JM7",
    "NDARME789TD2",
    "NDARUA442ZVF",
    "NDARJP304NK1",
    "NDARTY128YLU",
    "NDARDW550GU6",
    "NDARLD243KRE",
    "NDARUJ292JXV",
    "NDARBA381JGH",
)
# The one person on whom the published scorer's quick run is made.
FAST_SUBJECT = "NDARFG568PXZ"

FACTORS = ("p_factor", "attention", "internalizing", "externalizing")
DEMOGRAPHICS = ("age", "sex", "ehq_total")
AVAILABILITY = ("available", "unavailable", "caution")
TASK_COLUMNS = (
    "RestingState",
    "DespicableMe",
    "FunwithFractals",
    "ThePresent",
    "DiaryOfAWimpyKid",
    "contrastChangeDetection_1",
    "contrastChangeDetection_2",
    "contrastChangeDetection_3",
    "surroundSupp_1",
    "surroundSupp_2",
    "seqLearning6target",
    "seqLearning8target",
    "symbolSearch",
)
PARTICIPANT_COLUMNS = (
    "participant_id",
    "release_number",
    "sex",
    "age",
    "ehq_total",
    "commercial_use",
    "full_pheno",
    *FACTORS,
    *TASK_COLUMNS,
)

CHANNELS = (*(f"E{number}" for number in range(1, 129)), "Cz")
REFERENCE = "Cz"
RAW_RATE_HZ = 500
RATE_HZ = 100

_FOLDER = re.compile(r"(?P<release>R(1[0-2]|[1-9]))(?P<mini>_mini)?(_L(?P<rate>\d+))?(?P<bdf>_bdf)?")


def release_of_folder(name: str) -> str | None:
    """Return which release a folder of this name holds; None when the name is not that of a release.

    Examples
    --------
    >>> [release_of_folder(name) for name in ("R5_mini_L100_bdf", "ds005514", "R12", "notes")]
    ['R5', 'R9', 'R12', None]
    """
    match = _FOLDER.fullmatch(name)
    if match is not None:
        return match["release"]
    return next((release for release, number in OPENNEURO.items() if number == name), None)
