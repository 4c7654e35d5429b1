"""A frozen encoder of one's own: embeddings are computed once for all splits and heads."""

from __future__ import annotations

import pytest
from sklearn.linear_model import RidgeClassifier

pytest.importorskip("torch")

import tiny_encoder
from neuroarena import evaluate
from neuroarena.decoders.encoders import from_encoder
from neuroarena.errors import InputError
from toy import toy_benchmark


def test_embeddings_are_computed_once_for_all_splits_and_heads(tmp_path):
    benchmark = toy_benchmark()
    first = evaluate(from_encoder("tiny_encoder:Tiny"), benchmark, "cross", cache=tmp_path)
    assert first.complete, first.record.cells[0].error
    assert first.score > 0.7
    seen = sum(tiny_encoder.SEEN)
    assert seen >= 240
    ridge = from_encoder("tiny_encoder:Tiny", head=RidgeClassifier())
    assert evaluate(ridge, benchmark, "within", cache=tmp_path).complete
    # One window of zeros may be encoded to learn the shape; the recordings' 240 windows are not encoded again.
    assert sum(tiny_encoder.SEEN) - seen < 60


REFUSED = {
    "no such module": ({"encoder": "no_such_module:x"}, "cannot be imported"),
    "not a module": ({"encoder": "tiny_encoder:SEEN.copy"}, "cannot be imported"),
    "pooling": ({"encoder": "tiny_encoder:Tiny", "pooling": "max"}, "pooling must be one of mean, flatten"),
    "head": ({"encoder": "tiny_encoder:Tiny", "head": "big"}, 'head must be "linear" or'),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_an_encoder_is_refused(case):
    options, sentence = REFUSED[case]
    with pytest.raises(InputError, match=sentence):
        from_encoder(**options)
