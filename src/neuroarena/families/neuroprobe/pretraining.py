"""What a model may have been pretrained on before it is submitted to Neuroprobe."""

from __future__ import annotations

from neuroarena.benchmarks.pretraining import PretrainingRules

_LITE = "1_1 1_2 2_0 2_4 3_0 3_1 4_0 4_1 7_0 7_1 10_0 10_1"
_OTHERS = "1_0 2_1 2_2 2_3 2_5 2_6 3_2 4_2 5_0 6_0 6_1 6_4 8_0 9_0"
# Stretches of judged sessions without any item, published as recordings of their own.
_CUT_OUT_FILES = "10_100 10_101 7_100 7_101 7_102"

RULES = PretrainingRules(
    datasets=("braintreebank", "btbank", "neuroprobe"),
    allowed=tuple(f"{_OTHERS} {_CUT_OUT_FILES}".split()),
    forbidden=tuple(_LITE.split()),
    cut_outs={
        "10_1": ((0.0, 930.0),),
        "10_0": ((5350.0, 5645.0),),
        "7_1": ((0.0, 395.0), (2490.0, 2760.0), (3380.0, 3725.0)),
    },
)
