"""Features: stateless functions of windows, with the channel table going in and coming out.

Whatever is learned from data (scaling, components, selections) belongs in a decoder instead.
"""

from __future__ import annotations

from neuroarena.features.band_pass import BandPass
from neuroarena.features.chain import FeatureChain, FeatureStep
from neuroarena.features.contacts import Contact, contact_of
from neuroarena.features.filters import Downsample, Notch
from neuroarena.features.interpolation import InterpolateChannels
from neuroarena.features.regions import region_average, shared_regions
from neuroarena.features.rereference import Bipolar, CommonAverage, Laplacian
from neuroarena.features.spectrogram import Spectrogram
from neuroarena.features.trimming import Baseline, Crop

__all__ = [
    "BandPass",
    "Baseline",
    "Bipolar",
    "CommonAverage",
    "Contact",
    "Crop",
    "Downsample",
    "FeatureChain",
    "FeatureStep",
    "InterpolateChannels",
    "Laplacian",
    "Notch",
    "Spectrogram",
    "contact_of",
    "region_average",
    "shared_regions",
]
