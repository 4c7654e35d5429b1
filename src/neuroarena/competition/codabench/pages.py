"""What people read and see in a Codabench bundle: three pages, the terms, the starting kit's words, a logo."""

from __future__ import annotations

import io
from collections.abc import Sequence

from neuroarena.competition.configuration import Competition
from neuroarena.competition.phases import Phase
from neuroarena.competition.times import format_aoe, format_utc
from neuroarena.competition.tracks import Track
from neuroarena.scoring import Manifest

_SIDE = 320


def write_overview(competition: Competition, track: Track, manifest: Manifest) -> str:
    """Return the first page: what is asked, and whom to ask about it."""
    return f"""# {competition.title}: {track.title}

{manifest.question}

| | |
|---|---|
| task | `{manifest.name}`, definition {manifest.definition} |
| score | {manifest.metric}, {manifest.direction} is better |
| one unit | {manifest.unit} |
| licence of the data | {manifest.licence} |

Questions: {competition.contact}
"""


def write_evaluation(competition: Competition, phases: Sequence[Phase], manifest: Manifest) -> str:
    """Return the page about scores, phases and caps, with every time in UTC and Anywhere on Earth."""
    rows = "".join(
        f"| {phase.title} | {format_utc(phase.start)} | {format_utc(phase.end)} ({format_aoe(phase.end)}) "
        f"| {phase.per_day or 'no cap'} | {phase.in_total or 'no cap'} |\n"
        for phase in phases
    )
    tie = f" Ties are broken by {manifest.tie_break}." if manifest.tie_break else ""
    hidden = (
        "\nThe test set is sealed: scores and the board are hidden until the organisers reveal them, "
        "because scores that are shown again and again reveal labels.\n"
        if any(phase.sealed for phase in phases)
        else ""
    )
    return f"""# Evaluation

The score is {manifest.metric}, combined over units by {manifest.combiner}; {manifest.direction} is better.{tie}
`neuroarena score {manifest.name} FILE` computes it with the same function wherever the answers are public.
{hidden}
| phase | starts | ends | a day | in all |
|---|---|---|---|---|
{rows}
The final ranking follows the rule "{competition.final.rule}", which this platform does not know: the organisers
compute it.
"""


def write_how_to_submit(manifest: Manifest) -> str:
    """Return the page about the file that is handed in."""
    columns = ", ".join(f"`{name}`" for name in ("id", *manifest.prediction_columns)[:8])
    return f"""# How to submit

Hand in a zip with one file at its top level, `submission.parquet`: {columns}; one row for each id of `ids.parquet` in
the starting kit. Write it with `neuroarena.write_submission`, which checks it as the scorer does:

```python
import pandas as pd
import neuroarena
from neuroarena import Manifest

manifest = Manifest.model_validate_json(open("manifest.json", encoding="utf-8").read())
answers = pd.read_parquet("ids.parquet")
# ... add the columns of your answers, then:
neuroarena.write_submission("submission.parquet", answers, manifest, model="My model", contact="me@example.org")
```

`neuroarena check submission {manifest.name} submission.parquet` checks it again where you have the public data.
"""


def draw_logo(words: str) -> bytes:
    """Draw a plain logo, a trace above the name of the track, and return it as PNG."""
    import math

    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (_SIDE, _SIDE), "#12324a")
    pen = ImageDraw.Draw(image)
    xs = range(24, _SIDE - 24)
    trace = [
        (x, 130 - 70 * math.exp(-(((x - _SIDE / 2) / 70) ** 2)) * math.sin((x - _SIDE / 2) / 9)) for x in xs
    ]
    pen.line(trace, fill="#7fd1b9", width=5)
    font = ImageFont.load_default(size=30)
    lines = _wrap(words, 18)[:3]
    for number, line in enumerate(lines):
        pen.text((_SIDE / 2, 230 + 34 * number), line, fill="white", font=font, anchor="mm")
    written = io.BytesIO()
    image.save(written, "PNG", optimize=True)
    return written.getvalue()


def _wrap(words: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(words, width) or [words]
