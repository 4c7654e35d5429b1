"""Listen to a stream: turn overlapping windows into the frames of one unbroken recording.

Windows come with signal before and after their core, and the next window repeats part of it. Here every
sample is used once, on one grid of frames that starts with the stream, so that what a decoder hears does not
depend on how the recording was cut: no frame is lost at a border and none is heard twice.
"""

from __future__ import annotations

import numpy as np

from neuroarena.errors import InputError
from neuroarena.families.emg.decoders.spectra import (
    BANDS,
    BINS,
    ELECTRODES,
    FRAME,
    HOP,
    log_spectrogram,
    n_frames,
)
from neuroarena.scoring import StreamRule

N_CHANNELS = BANDS * ELECTRODES
# The rule of the track; evaluation states which one applies.
TRACK_RULE = StreamRule(window_s=4.0, hop_s=4.0, before_s=0.9, after_s=0.1, answer="joined")


class Listener:
    """Extracts the new frames of each window of a stream.

    Parameters
    ----------
    rule : StreamRule
        How the stream is played.
    rate_hz : float
    lookback, lookahead : int
        Frames that a decoder needs before and after a frame to judge it; see :meth:`take`.

    Raises
    ------
    InputError
        When windows leave gaps: samples between them would be lost.
    """

    def __init__(self, rule: StreamRule, rate_hz: float, lookback: int = 0, lookahead: int = 0) -> None:
        self.before = round(rule.before_s * rate_hz)
        self.hop = round(rule.hop_s * rate_hz)
        self.size = self.before + round((rule.window_s + rule.after_s) * rate_hz)
        if self.hop > self.size:
            raise InputError(
                "A stream of text whose windows leave gaps cannot be decoded: its hop is too long."
            )
        self.lookback, self.lookahead = lookback, lookahead
        self.samples = np.empty((N_CHANNELS, 0), dtype=np.float32)
        self.frames = np.empty((0, BANDS, ELECTRODES, BINS), dtype=np.float32)
        self.begun, self.silent = False, 0

    def take(self, window: np.ndarray) -> np.ndarray:
        """Take the next window, float32 (32, samples); return the frames to judge next.

        Returns
        -------
        float32 array (n, 2, 16, 33)
            New frames, with the `lookback` frames before and the `lookahead` frames after them as far as there
            are any: a network that shortens its input by lookback + lookahead judges each frame of a stream
            once. The first `lookback` frames of a stream are never judged.

        Raises
        ------
        InputError
            When the shape of the window does not follow the rule.
        """
        if window.shape != (N_CHANNELS, self.size):
            raise InputError(
                f"Expected a window of {N_CHANNELS} channels x {self.size} samples, got {window.shape}."
            )
        # Nothing before the stream was recorded; later windows bring one hop of new samples.
        new = window[:, self.size - self.hop :] if self.begun else window[:, self.before :]
        self.begun = True
        heard = np.flatnonzero(new.any(axis=0))
        if len(heard):
            # Silence in between was recorded; silence that lasts is what comes after the end.
            silence = np.zeros((N_CHANNELS, self.silent), dtype=np.float32)
            self.samples = np.concatenate([self.samples, silence, new[:, : heard[-1] + 1]], axis=1)
            self.silent = 0
        self.silent += new.shape[1] - (int(heard[-1]) + 1 if len(heard) else 0)
        count = n_frames(self.samples.shape[1])
        if count:
            found = log_spectrogram(self.samples[:, : (count - 1) * HOP + FRAME])
            self.frames = np.concatenate([self.frames, found])
            self.samples = self.samples[:, count * HOP :]
        context = self.lookback + self.lookahead
        ready = self.frames
        if len(ready) <= context:
            return self.frames[:0]
        self.frames = ready[len(ready) - context :]
        return ready
