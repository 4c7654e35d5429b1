"""People hum, loudly or softly, at one pitch or another; can you tell from one channel?"""

from __future__ import annotations

from neuroarena_hum.dataset import DATASET
from neuroarena_hum.decoders import Power
from neuroarena_hum.family import FAMILY
from neuroarena_hum.metrics import WITHIN_A_TENTH

__all__ = ["DATASET", "FAMILY", "WITHIN_A_TENTH", "Power"]
