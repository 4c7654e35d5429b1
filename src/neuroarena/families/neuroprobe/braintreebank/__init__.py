"""BrainTreebank: intracranial recordings of ten people who watched films, with every word annotated."""

from __future__ import annotations

from collections.abc import Sequence

from neuroarena.datasets.dataset import Dataset
from neuroarena.datasets.fetch_plan import FetchPlan
from neuroarena.families.neuroprobe.braintreebank.reader import BrainTreebank
from neuroarena.families.neuroprobe.braintreebank.verify import verify
from neuroarena.families.neuroprobe.braintreebank.words import nonverbal_table, word_table
from neuroarena.lazily import lazy_function

__all__ = [
    "DATASET",
    "BrainTreebank",
    "fetch_plan",
    "nonverbal_table",
    "simulate",
    "tables_plan",
    "verify",
    "word_table",
]


simulate = lazy_function("neuroarena.families.neuroprobe.braintreebank.twin:simulate")


def fetch_plan(
    subjects: Sequence[str] | None = None, sessions: Sequence[str] | None = None, url: str | None = None
) -> FetchPlan:
    """Plan what to fetch; see :func:`neuroarena.families.neuroprobe.braintreebank.files.fetch_plan`."""
    from neuroarena.families.neuroprobe.braintreebank import files

    return files.fetch_plan(subjects, sessions, url)


def tables_plan(
    subjects: Sequence[str] | None = None, sessions: Sequence[str] | None = None, url: str | None = None
) -> FetchPlan:
    """Plan which tables to fetch; see :func:`neuroarena.families.neuroprobe.braintreebank.files.tables_plan`."""
    from neuroarena.families.neuroprobe.braintreebank import files

    return files.tables_plan(subjects, sessions, url)


DATASET = Dataset(
    name="braintreebank",
    title="BrainTreebank",
    licence="CC BY 4.0",
    description=(
        "Intracranial recordings (2048 Hz) of ten people in 26 sessions, each watching a film; every word is "
        "aligned and annotated with what was heard and seen."
    ),
    origin="https://braintreebank.dev (Wang et al. 2024)",
    environment=("ROOT_DIR_BRAINTREEBANK",),
    open=BrainTreebank,
    simulate=simulate,
    verify=verify,
    fetch_plan=fetch_plan,
    tables_plan=tables_plan,
    tiny={"subjects": 2, "sessions": 2, "electrodes": 16, "minutes": 4},
    simulate_options={
        "subjects": "number of subjects, 1 to 6 (default 2)",
        "sessions": "sessions a subject, 1 or 2 (default 2)",
        "electrodes": "electrodes a subject, 16 to 120 (default 24)",
        "minutes": "length of each recording in minutes, at least 2 (default 8)",
        "seed": "seed of all chance (default 0)",
        "ideal": "AUROC of the best possible decoder, 0.5 to below 1 (default 0.8)",
        "strength": "factor on the planted difference; 0 is pure chance (default 1)",
    },
)
