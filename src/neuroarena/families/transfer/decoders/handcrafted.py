"""A handcrafted encoder: log band power, covariances between channels, and the slow course of short windows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuroarena.families.transfer.decoders.pooling import (
    COURSE_S,
    FRAMES_A_SECOND,
    SHORT_S,
    asks_for_frames,
    edges,
    frames_of,
    most_parts,
    quiet_log,
    segment_means,
)
from neuroarena.fingerprint import digest

BANDS_HZ = ((0.5, 4.0), (4.0, 8.0), (8.0, 13.0), (13.0, 20.0), (20.0, 30.0), (30.0, 45.0))
COVARIANCE_HZ = ((4.0, 8.0), (8.0, 13.0), (13.0, 30.0))
EMG_BANDS_HZ = ((30.0, 130.0), (130.0, 380.0), (380.0, 1000.0))
# Covariances grow with the square of channels: more than this many are averaged in groups of neighbours in the table.
MOST_COVARIED = 24
SHRINKAGE = 0.05
SEGMENT_S, EMG_SEGMENT_S = 2.0, 0.032


class Handcrafted:
    """Log band power of every channel, log covariances of three bands, and the slow course of short windows.

    Nothing is learned, so the weights are the settings. Any channels and any rate will do: bands that a rate
    or a window cannot show are left at silence. Of EMG, log power in three bands of every channel and frame.
    """

    def weights_hash(self) -> str:
        """Hash the settings."""
        settings = [BANDS_HZ, COVARIANCE_HZ, EMG_BANDS_HZ, MOST_COVARIED, SHRINKAGE, SHORT_S, COURSE_S]
        return digest([*settings, SEGMENT_S, EMG_SEGMENT_S, FRAMES_A_SECOND])

    def encode(self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float) -> np.ndarray:
        """Encode windows: float32 (n, d), or (n, frames, 9 channels) for EMG."""
        if asks_for_frames(channels):
            return frames_of(_emg_powers(signals, rate_hz))
        n, n_channels, samples = signals.shape
        centred = signals - signals.mean(axis=2, keepdims=True)
        spectra, frequencies = _spectra(centred, rate_hz)
        parts = [quiet_log(_band_powers(spectra, frequencies, BANDS_HZ)).reshape(n, -1)]
        grouped = _neighbours(spectra)
        parts += [_log_covariance(grouped, frequencies, band) for band in COVARIANCE_HZ]
        if samples / rate_hz <= SHORT_S:
            used = sum(part.shape[1] for part in parts)
            bins = most_parts(n_channels, round(samples / rate_hz / COURSE_S), besides=used)
            parts.append(segment_means(centred, bins).reshape(n, -1))
        return np.concatenate(parts, axis=1).astype(np.float32)


def _spectra(signals: np.ndarray, rate_hz: float) -> tuple[np.ndarray, np.ndarray]:
    """Transform half-overlapping segments: complex (n, channels, segments, frequencies), and the frequencies."""
    length = min(signals.shape[2], max(8, round(SEGMENT_S * rate_hz)))
    segments = np.lib.stride_tricks.sliding_window_view(signals, length, axis=2)[:, :, :: max(1, length // 2)]
    taper = np.hanning(length).astype(np.float32)
    return np.fft.rfft(segments * taper), np.fft.rfftfreq(length, 1 / rate_hz)


def _band_powers(
    spectra: np.ndarray, frequencies: np.ndarray, bands: tuple[tuple[float, float], ...]
) -> np.ndarray:
    """Average the power of each band: float (n, channels, bands); a band without a frequency is silent."""
    power = (spectra.real**2 + spectra.imag**2).mean(axis=2)
    found = []
    for low, high in bands:
        chosen = (frequencies >= low) & (frequencies < high)
        found.append(power[..., chosen].mean(axis=-1) if chosen.any() else np.zeros(power.shape[:-1]))
    return np.stack(found, axis=-1)


def _neighbours(spectra: np.ndarray) -> np.ndarray:
    n_channels = spectra.shape[1]
    if n_channels <= MOST_COVARIED:
        return spectra
    cuts = edges(n_channels, MOST_COVARIED)
    sums = np.add.reduceat(spectra, cuts[:-1], axis=1)
    grouped: np.ndarray = sums / np.diff(cuts)[:, np.newaxis, np.newaxis]
    return grouped


def _log_covariance(spectra: np.ndarray, frequencies: np.ndarray, band: tuple[float, float]) -> np.ndarray:
    """Return the upper triangle of the matrix logarithm of the covariance in a band: float (n, entries).

    Log-Euclidean metric: Arsigny et al. (2007), SIAM J. Matrix Anal. Appl. 29, 328.
    """
    chosen = spectra[..., (frequencies >= band[0]) & (frequencies < band[1])]
    flat = chosen.reshape(*chosen.shape[:2], -1)
    matrix = np.real(flat @ flat.conj().swapaxes(1, 2)) / max(flat.shape[2], 1)
    n_channels = matrix.shape[1]
    mean = np.trace(matrix, axis1=1, axis2=2)[:, np.newaxis, np.newaxis] / n_channels + 1e-6
    matrix = (1 - SHRINKAGE) * matrix + SHRINKAGE * mean * np.eye(n_channels)
    values, axes = np.linalg.eigh(matrix)
    logged = (axes * np.log(np.maximum(values, 1e-12))[:, np.newaxis]) @ axes.swapaxes(1, 2)
    rows, columns = np.triu_indices(n_channels)
    upper: np.ndarray = logged[:, rows, columns]
    return upper


def _emg_powers(signals: np.ndarray, rate_hz: float) -> np.ndarray:
    """Return the power of three bands in every frame: float (n, 3 channels, frames)."""
    n, n_channels, samples = signals.shape
    frames = max(1, round(samples / rate_hz * FRAMES_A_SECOND))
    length = min(samples, max(8, round(EMG_SEGMENT_S * rate_hz)))
    starts = np.minimum(edges(samples, frames)[:-1], samples - length)
    views = np.lib.stride_tricks.sliding_window_view(signals, length, axis=2)[:, :, starts]
    spectra = np.fft.rfft(views * np.hanning(length).astype(np.float32))
    frequencies = np.fft.rfftfreq(length, 1 / rate_hz)
    power = spectra.real**2 + spectra.imag**2
    found = []
    for low, high in EMG_BANDS_HZ:
        chosen = (frequencies >= low) & (frequencies < high)
        found.append(power[..., chosen].mean(axis=-1) if chosen.any() else np.zeros(power.shape[:-1]))
    return np.concatenate(found, axis=1).reshape(n, len(EMG_BANDS_HZ) * n_channels, frames)
