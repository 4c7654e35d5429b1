"""Code submissions of the EEG 2025 contract, run for real: what they may rely on, and what ends them."""

from __future__ import annotations

import io
import os
import socket
import sys
from pathlib import Path

import numpy as np
import pytest

from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.families.eeg2025 import code_contract
from neuroarena.families.eeg2025.code_contract import (
    Shown,
    SubmissionFailed,
    answer_challenges,
    predict_windows,
)
from neuroarena.sandbox import run_isolated
from neuroarena.sandbox.archives import SubmissionRefused
from neuroarena.sandbox.guests import draw_batches
from neuroarena.sandbox.job import GUEST_FOLDER
from neuroarena.sandbox.limits import Limits
from sample_submissions import code, windows, zipped

torch = pytest.importorskip("torch", reason="submissions of this contract are torch models")

LIMITS = Limits(seconds=400, memory_mb=1500, output_mb=8)
AVERAGE = """
self.seen.append(answer)
answer = torch.stack(self.seen[-10:]).mean(dim=0)
"""


def test_weights_vendored_packages_and_the_own_folder_are_found(bwrap: None, tmp_path: Path):
    weights = io.BytesIO()
    torch.save({"factor": torch.tensor(3.0)}, weights)
    source = """
        import os, sys
        from pathlib import Path
        import torch
        import shipped
        from beside import offset

        class Model(torch.nn.Module):
            def __init__(self, factor, more):
                super().__init__()
                self.register_buffer("factor", factor)
                self.more = more

            def forward(self, X):
                assert not self.training and torch.is_inference_mode_enabled()
                assert X.dtype == torch.float32 and X.shape == (1, 129, 200)
                return X.mean(dim=(1, 2))[:, None] * self.factor + self.more

        class Submission:
            def __init__(self, SFREQ, DEVICE):
                assert SFREQ == 100 and DEVICE.type == "cpu"
                self.device = DEVICE

            def get_model_challenge_1(self):
                state = torch.load("weights.pt", map_location=self.device, weights_only=True)
                return Model(state["factor"], offset).to(self.device)

            def get_model_challenge_2(self):
                print("loading", "into the log")
                state = torch.load(Path(__file__).parent / "weights.pt", weights_only=True)
                return Model(state["factor"], shipped.offset)
    """
    lines = "\n".join(line[8:] for line in source.splitlines())
    files = {
        "submission.py": lines,
        "beside.py": "offset = 100",
        "python_packages/shipped/__init__.py": "offset = 1000",
        "weights.pt": weights.getvalue(),
    }
    given = {1: [windows(1, 2), windows(3)], 2: lambda: iter([windows(4), windows()])}
    answers = answer_challenges(zipped(tmp_path, files), given, LIMITS, stateless=False)
    assert answers[1].values.tolist() == [103, 106, 109]
    assert answers[2].values.tolist() == [1012]
    assert answers[1].values.dtype == np.float32
    outcome = answers[2].outcome
    assert (outcome.status, outcome.isolation, outcome.stderr_tail) == (
        "finished",
        "bubblewrap",
        "loading into the log\n",
    )
    assert outcome.seconds > 0


def recordings(rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
    """Windows of four recordings whose means are the recording's target with noise, and the target of each."""
    targets = rng.standard_normal(4)
    batches = [windows(*(target + 2 * rng.standard_normal(12))) for target in targets]
    return batches, np.repeat(targets, 12)


@pytest.mark.drill
def test_a_model_that_averages_its_last_outputs_gains_in_order_and_nothing_in_batches(tmp_path: Path):
    batches, targets = recordings(np.random.default_rng(3))
    plain = np.concatenate([batch[:, 0, 0] for batch in batches])
    path = zipped(tmp_path, code(AVERAGE))

    def error(values: np.ndarray) -> float:
        return float(np.sqrt(np.mean((values - targets) ** 2)))

    kept = predict_windows(path, 2, batches, LIMITS, stateless=False)
    assert error(kept) < 0.75 * error(plain)
    fresh = answer_challenges(path, {2: batches}, LIMITS, stateless=True, rng=np.random.default_rng(0))[2]
    assert error(fresh.values) > 0.9 * error(plain), "what it averages belongs to other people"
    assert fresh.replay_difference == 0


@pytest.mark.drill
def test_a_batch_holds_one_window_of_each_person_and_nothing_survives_it(bwrap: None, tmp_path: Path):
    # Counts its calls in every place that is left to it; the count is all that it answers.
    forward = """
    import os
    for folder in ("/tmp", "/dev/shm"):
        open(f"{folder}/{os.urandom(8).hex()}", "w").close()
    self.seen.append(1)
    counts = {len(self.seen), len(os.listdir("/tmp")), len(os.listdir("/dev/shm"))}
    answer = answer * 0 + (max(counts) if len(counts) == 1 else -1)
    """
    path = zipped(tmp_path, code(forward))
    people = [Shown("a", windows(1, 2)), Shown("b", windows(3, 4)), Shown("a", windows(5))]
    answers = answer_challenges(path, {1: people}, LIMITS, stateless=True, rng=np.random.default_rng(1))[1]
    # Three windows of "a" make three batches, and two windows of "b" join two of them.
    assert sorted(answers.values.tolist()) == [1, 1, 1, 2, 2]
    assert answers.replay_difference == 0, "the same batch in the same order is answered the same"


def test_the_order_of_batches_follows_the_seed_alone(tmp_path: Path):
    people = [str(number % 7) for number in range(40)]
    first, again, other = (
        [batch.tolist() for batch in draw_batches(people, np.random.default_rng(seed))] for seed in (5, 5, 6)
    )
    assert first == again
    assert first != other
    for batch in first:
        assert len({people[index] for index in batch}) == len(batch)


@pytest.mark.drill
def test_a_model_that_answers_by_chance_shows_when_windows_are_asked_again(bwrap: None, tmp_path: Path):
    path = zipped(tmp_path, code("import os; answer = answer + int.from_bytes(os.urandom(2))"))
    answers = answer_challenges(
        path, {1: [windows(1), windows(2)]}, LIMITS, stateless=True, rng=np.random.default_rng(0)
    )
    assert answers[1].replay_difference is not None
    assert answers[1].replay_difference > 1


def test_what_is_known_of_a_person_is_given_to_a_model_that_asks_for_it(bwrap: None, tmp_path: Path):
    source = code().replace("def forward(self, X):", "def forward(self, X, known):")
    source = source.replace("        return answer\n", '        return answer * 0 + known["age"]\n', 1)
    given = {1: [Shown("a", windows(1), {"age": 9.5}), Shown("b", windows(2), {"age": 12.0})]}
    answers = answer_challenges(
        zipped(tmp_path, source), given, LIMITS, stateless=True, rng=np.random.default_rng(0)
    )
    assert answers[1].values.tolist() == [9.5, 12.0]


ATTACKS = """
import ctypes, glob, os, socket, urllib.request
SECRET = "0.7315"

def labels_file():
    return SECRET in open({labels!r}).read()

def every_file_around():
    return any(SECRET in open(path).read() for path in glob.glob({home!r} + "/**/*.csv", recursive=True))

def memory_of_the_parent():
    return bool(open("/proc/{parent}/mem", "rb"))

def environment_of_all():
    return any(SECRET.encode() in open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/environ"))

def accounts():
    return bool(open("/etc/shadow").read())

def home():
    return bool(os.listdir({home!r} + "/.."))

def server():
    return socket.create_connection(("127.0.0.1", {port}), timeout=5) is not None

def write_beside():
    return open({labels!r} + ".stolen", "w") is not None

def write_own_folder():
    return open("submission.pyc", "w") is not None

def signal_the_parent():
    return os.kill({parent}, 0) is None

def trace():
    return ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0

TRIES = [labels_file, every_file_around, memory_of_the_parent, environment_of_all, accounts, home, server,
         write_beside, write_own_folder, signal_the_parent, trace]
"""
TRY_ALL = """
done = []
for attack in TRIES:
    try:
        if attack():
            done.append(attack.__name__)
    except OSError:
        pass
print("succeeded:", *done)
answer = answer * 0 + len(done)
"""


def test_a_submission_that_looks_for_labels_and_ways_out_gets_nothing(
    bwrap: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NEUROARENA_TEST_LABEL", "0.7315")
    (tmp_path / "data").mkdir()
    labels = tmp_path / "data" / "labels.csv"
    labels.write_text("0.7315")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        attacks = ATTACKS.format(
            labels=str(labels), parent=os.getpid(), home=str(tmp_path), port=listening.getsockname()[1]
        )
        path = zipped(tmp_path, attacks + code(TRY_ALL))
        given = {1: [windows(0.0)]}
        inside = answer_challenges(path, given, LIMITS, stateless=False, isolation="bubblewrap")[1]
        outside = answer_challenges(path, given, LIMITS, stateless=False, isolation="none")[1]
    assert (inside.values.tolist(), inside.outcome.stderr_tail) == ([0.0], "succeeded:\n")
    assert "labels_file" in outside.outcome.stderr_tail
    assert "server" in outside.outcome.stderr_tail
    assert "can read what its user can read" in outside.outcome.warnings[0]


BODY = "\n    def get_model_challenge_1(self): ...\n    def get_model_challenge_2(self): ..."


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import nothing_of_this_name", r"cannot be imported: ModuleNotFoundError: .*nothing_of_this_name"),
        ("def broken(:", r"cannot be imported: SyntaxError"),
        ("raise SystemExit(0)", r"cannot be imported: SystemExit"),
        ("x = 1 / 0", r'(?s)ZeroDivisionError.*File "/input/submission/submission.py", line 1'),
        ("x = 1", "does not define a class Submission"),
        ("Submission = 3", "does not define a class Submission"),
        (
            "class Submission:\n    def get_model_challenge_2(self): ...",
            "has no method get_model_challenge_1",
        ),
        ("class Submission:" + BODY, r"Submission\(SFREQ, DEVICE\) cannot be called like this"),
        (
            "class Submission:\n    def __init__(self, SFREQ, DEVICE, path): ..." + BODY,
            r"missing a required argument: 'path'; its signature is \(SFREQ, DEVICE, path\)",
        ),
    ],
    ids=[
        "import",
        "syntax",
        "exit",
        "error",
        "no class",
        "no type",
        "method",
        "no arguments",
        "one too many",
    ],
)
def test_a_file_that_is_not_as_the_contract_says_is_refused_with_exit_code_2(
    bwrap: None, tmp_path: Path, source: str, words: str
):
    with pytest.raises(SubmissionRefused, match=words) as caught:
        predict_windows(zipped(tmp_path, source), 1, [windows(1)], LIMITS, stateless=False)
    assert caught.value.exit_code == 2
    assert str(caught.value).startswith("submission.zip: ")


# The line to the host can be found by code that looks for it; what is written there is only ever its own answer.
GARBAGE = """
import os
for descriptor in range(3, 20):
    try:
        os.write(descriptor, b"overall 0.0")
    except OSError:
        pass
"""
FAILURES = {
    "shape": ("answer = answer[:, 0]", {}, r"wrong output shape: .*\(1,\), expected \(1, 1\)"),
    "nan": ("answer = answer * float('nan')", {}, "wrong output values: the model returned NaN or infinity"),
    "raises": (
        "raise KeyError('left')",
        {},
        r"(?s)window 1 of those asked: the model failed: KeyError: 'left'",
    ),
    "garbage": (GARBAGE, {}, "broke the protocol"),
    "memory": (
        "a = bytearray(10**9); a[:] = b'1' * 10**9",
        {"memory_mb": 600},
        "more memory than the 600 MB",
    ),
}
STORMS = {
    "slow": ("import time; time.sleep(900)", {"seconds": 60}, "took longer than the 60 s allowed"),
    "ends": ("import os; os._exit(9)", {}, "ended without an answer: with code 9"),
    "list": ("answer = [1.0]", {}, "the model returned list, expected a tensor"),
    "two": ("answer = torch.zeros(1, 2)", {}, r"\(1, 2\), expected \(1, 1\)"),
    "log": ("while True: print('x' * 9999)", {"output_mb": 2}, "than the 2 MB allowed"),
    "crash": ("import ctypes; ctypes.string_at(0)", {}, "ended without an answer: with code 139"),
    "infinite": ("answer = answer + 1e39", {}, "NaN or infinity"),
    "long words": ("raise ValueError('signal ' * 9999)", {}, "the model failed"),
}


def check_failure(tmp_path: Path, forward: str, limits: dict, words: str, fresh: bool = False) -> None:
    allowed = Limits(**{"seconds": 400, "memory_mb": 1500, "output_mb": 8, **limits})
    with pytest.raises(SubmissionFailed, match=words) as caught:
        predict_windows(
            zipped(tmp_path, code(forward)),
            2,
            [windows(1)],
            allowed,
            stateless=fresh,
            rng=np.random.default_rng(0),
        )
    assert caught.value.exit_code == 1
    assert "submission.zip: challenge 2, window 1" in str(caught.value)
    assert len(str(caught.value)) < 1000, "little can be carried out in an error once windows were seen"
    assert not isinstance(caught.value, InputError)


# Each starts a process that imports torch; what is wrong with an answer is read by the same lines.
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=pytest.mark.drill if name in ("shape", "garbage") else ())
        for name, case in FAILURES.items()
    ],
)
def test_a_failing_model_is_named_with_exit_code_1(bwrap: None, tmp_path: Path, case: tuple):
    check_failure(tmp_path, *case)


@pytest.mark.drill
@pytest.mark.parametrize("fresh", [False, True], ids=["kept", "fresh"])
@pytest.mark.parametrize("case", STORMS.values(), ids=STORMS)
def test_more_failing_models_are_named_with_exit_code_1(
    bwrap: None, tmp_path: Path, case: tuple, fresh: bool
):
    check_failure(tmp_path, *case, fresh)


@pytest.mark.drill
@pytest.mark.parametrize("case", FAILURES.values(), ids=FAILURES)
def test_a_failing_copy_is_named_as_well(bwrap: None, tmp_path: Path, case: tuple):
    check_failure(tmp_path, *case, fresh=True)


# What `forward` returns -> what is said of it; all in one process, because each would import torch.
ANSWERS = {
    "torch.ones(1, 1, dtype=torch.int8)": "answered 1.0",
    "torch.ones(1, 1, dtype=torch.bool)": "answered 1.0",
    "torch.ones(1, 1).numpy()": "shape: the model returned ndarray",
    "1.0": "shape: the model returned float",
    "torch.ones(1, 1).to_sparse()": "shape: the model returned a torch.sparse_coo tensor",
    "torch.ones(1, 1).to_mkldnn()": "shape: the model returned a torch._mkldnn tensor",
    "torch.ones(1, 1).as_subclass(Lying)": "shape: the model returned Lying",
    "torch.nn.Parameter(torch.ones(1, 1))": "shape: the model returned Parameter",
    "torch.ones(1, 1, dtype=torch.complex64)": "values: the model returned complex numbers",
    "torch.full((1, 1), float('nan'))": "values: the model returned NaN or infinity",
    "torch.full((1, 1), -float('inf'))": "values: the model returned NaN or infinity",
    "torch.full((1, 1), 1e300, dtype=torch.float64)": "values: the model returned NaN or infinity",
    "torch.ones(1)": "shape: the model returned the shape (1,)",
    "torch.ones(1, 10**6)": "shape: the model returned the shape (1, 1000000)",
    "torch.ones(1, 1).expand(10**5, 10**5)": "shape: the model returned the shape (100000, 100000)",
    "torch.ones(1, 1, device='meta')": "predict",
}
ANSWERING = """
import importlib, sys
sys.path[:0] = sys.argv[1:3]
import numpy as np, torch
answering, serving = (importlib.import_module(name) for name in ("answer_windows", "serving"))
wire = importlib.import_module("wire")

class Lying(torch.Tensor):
    shape = property(lambda self: (1, 1))

for text in {answers!r}:
    asked = wire.Message("ask", {{}}, np.zeros((1, 129, 200), np.float32))
    try:
        _, said = answering.answer(torch, lambda X: eval(text), False, asked)
        print(f"answered {{said.item()}}")
    except serving.Problem as problem:
        print(f"{{problem.stage}}: {{problem.reason}}".replace(chr(10), " "))
"""


def test_answers_that_are_no_dense_real_finite_numbers_are_named(bwrap: None):
    contract = Path(code_contract.__file__).parent / "guest"
    source = ANSWERING.format(answers=list(ANSWERS))
    command = [sys.executable, "-I", "-B", "-c", source, GUEST_FOLDER, contract]
    outcome = run_isolated(command, inputs={"contract": contract}, limits=LIMITS)
    said = outcome.stderr_tail.splitlines()[-len(ANSWERS) :]
    found = dict(zip(ANSWERS, said, strict=True))
    assert {text: line for text, line in found.items() if not line.startswith(ANSWERS[text])} == {}


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            "raise FileNotFoundError('weights.pt')",
            r"while loading: the model could not be built: FileNotFoundError",
        ),
        pytest.param(
            "return None",
            r"get_model_challenge_1\(\) returned NoneType, expected a torch module",
            marks=pytest.mark.drill,
        ),
    ],
)
def test_a_model_that_cannot_be_made_is_named(bwrap: None, tmp_path: Path, made: str, words: str):
    source = code().replace("return Model().to(self.device)", made, 1)
    with pytest.raises(SubmissionFailed, match=words):
        predict_windows(zipped(tmp_path, source), 1, [windows(1)], LIMITS, stateless=False)


def test_a_sandbox_that_cannot_start_is_not_blamed_on_the_participant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "executable", "/usr/bin/false")
    with pytest.raises((NeuroarenaError, OSError)) as caught:
        predict_windows(zipped(tmp_path, code()), 1, [windows(1)], LIMITS, stateless=False, isolation="none")
    assert not isinstance(caught.value, SubmissionFailed | SubmissionRefused)
