"""Download one file over HTTP so that a cut connection or a killed process costs only the last bytes."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neuroarena import atomic
from neuroarena.datasets.fetch_plan import FetchError, FetchStopped
from neuroarena.progress import Progress, readable_size

# A cut connection costs the stretch that was being read: stretches are short, so that little is sent twice.
_CHUNK = 2**14
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
# Status codes that may change within a minute; every other refusal is final.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
# Sizes and ranges count the bytes of the file, not those of a compressed transport.
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "neuroarena"}
_LONGEST_WAIT_S = 60.0


@dataclass(frozen=True)
class Patience:
    """How long to keep trying.

    Attributes
    ----------
    attempts : int
        Attempts in a row that bring no new byte before giving up.
    wait_s : float
        Seconds before the second attempt; each further wait is twice as long, up to a minute.
    timeout_s : float
        Seconds without any byte after which a connection counts as dropped.
    """

    attempts: int = 6
    wait_s: float = 1.0
    timeout_s: float = 60.0

    def wait(self, failures: int) -> None:
        """Wait after this many attempts in a row that brought nothing."""
        time.sleep(min(self.wait_s * 2 ** (failures - 1), _LONGEST_WAIT_S))


class _PassingFault(Exception):
    """The attempt failed in a way that another attempt may fix."""


class ResumingDownloader:
    """A downloader for pooch that continues where an earlier attempt, or process, ended.

    pooch hands a downloader an empty temporary file and deletes it after a failure. The bytes therefore
    collect in a file of our own beside it, which takes the temporary's place when it is whole.

    Parameters
    ----------
    part : Path
        Where the bytes collect; a note about their origin lies beside it.
    size : int or None
        Size the file must have, where known.
    patience : Patience
        How long to keep trying.
    progress : Progress
        Notified of every stretch of bytes.
    stage : str, optional
        What progress calls the file; by default the name of the part.
    """

    def __init__(
        self,
        part: Path,
        size: int | None,
        patience: Patience,
        progress: Progress,
        stage: str | None = None,
    ) -> None:
        self.stage = stage or part.stem
        self.part, self.size, self.patience, self.progress = part, size, patience, progress
        self.note = part.with_name(f"{part.name}.json")

    def __call__(self, url: str, output_file: Any, pooch: Any, check_only: bool = False) -> None:
        """Download `url` to `output_file`, continuing the part that is there.

        Raises
        ------
        FetchError
            When the server refuses the file or it has the wrong size.
        FetchStopped
            When the network fails or the part cannot be written; it stays.
        OSError
            When the disk is full; the part stays.
        """
        del pooch, check_only
        self._fill(url)
        # A second name, not a move: a process killed while pooch computes the hash keeps its bytes.
        os.unlink(output_file)
        try:
            os.link(self.part, output_file)
        except OSError:
            os.replace(self.part, output_file)

    def forget(self) -> None:
        """Remove the part and its note."""
        self.part.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)

    def have(self) -> int:
        """Return how many bytes are already here."""
        return self.part.stat().st_size if self.part.exists() else 0

    def _fill(self, url: str) -> None:
        import requests

        best, failures = self.have(), 0
        while True:
            try:
                self._attempt(url)
                return
            except _PassingFault as error:
                reason = str(error)
            except (
                requests.ConnectionError,
                requests.Timeout,
                requests.exceptions.ChunkedEncodingError,
            ) as error:
                reason = plain_reason(error, self.patience)
            except requests.RequestException as error:
                raise FetchError(f"{url}: cannot be fetched: {error}.") from error
            except OSError as error:
                if error.errno in atomic.FULL_DISK:
                    raise
                reason = error.strerror or str(error)
                raise FetchStopped(f"{self.part}: cannot be written: {reason}.") from error
            have = self.have()
            failures = 1 if have > best else failures + 1
            best = max(best, have)
            if failures >= self.patience.attempts:
                raise FetchStopped(f"{url}: {reason}; gave up after {_count(failures)} without a new byte.")
            self.progress.say(self.stage, f"{reason}; trying again")
            self.patience.wait(failures)

    def _attempt(self, url: str) -> None:
        import requests

        note = self._read_note(url)
        have = self.have()
        if have and have == note.get("size"):
            self._check_size(url, have)
            return
        headers = dict(_HEADERS)
        if have:
            headers["Range"] = f"bytes={have}-"
            if note.get("validator"):
                # A file that changed on the server is sent whole instead of as a tail that does not fit.
                headers["If-Range"] = note["validator"]
        with requests.get(url, headers=headers, stream=True, timeout=self.patience.timeout_s) as response:
            check_answer(url, response)
            if response.status_code == 416:
                self._start_over(have)
                raise _PassingFault("the server has no bytes after those that are here")
            have, total = self._position(response, have, note)
            self._check_size(url, total)
            # Bytes that came compressed do not count as offsets: such a part is never continued.
            origin = None if _is_encoded(response) else url
            note = {"url": origin, "size": total, "validator": _validator(response)}
            atomic.write_json(self.note, note)
            self._write(response, have)
        self._check_end(url, total)

    def _position(self, response: Any, have: int, note: dict[str, Any]) -> tuple[int, int | None]:
        """Find where the answer's bytes belong: at which offset, in a file of which size."""
        if response.status_code == 206:
            span = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
            total = int(span[3]) if span and span[3] != "*" else None
            if span is None or int(span[1]) != have or total != (note.get("size") or total):
                self._start_over(have)
                raise _PassingFault("the server sent a different stretch than was requested")
            return have, total
        if have:
            self.progress.say(
                self.stage, f"the server sends the file from the start; {readable_size(have)} are sent again"
            )
            self._start_over(have)
        return 0, _content_length(response)

    def _write(self, response: Any, have: int) -> None:
        # Unbuffered: what was received survives a kill.
        with open(self.part, "ab" if have else "wb", buffering=0) as file:
            for chunk in response.iter_content(_CHUNK):
                file.write(chunk)
                self.progress.advance(self.stage, len(chunk))

    def _check_size(self, url: str, total: int | None) -> None:
        if self.size is not None and total is not None and total != self.size:
            self._start_over(self.have())
            raise FetchError(f"{url}: has {total} bytes, expected {self.size}. None of it was kept.")

    def _check_end(self, url: str, total: int | None) -> None:
        have, wanted = self.have(), total if total is not None else self.size
        if wanted is None:
            atomic.write_json(self.note, {"url": url, "size": have, "validator": None})
        elif have < wanted:
            raise _PassingFault(f"the connection was cut at {readable_size(have)} of {readable_size(wanted)}")
        elif have > wanted:
            self._start_over(have)
            raise FetchError(f"{url}: the server sent {have} bytes of {wanted}. None of it was kept.")

    def _start_over(self, have: int) -> None:
        self.forget()
        self.progress.advance(self.stage, -have)

    def _read_note(self, url: str) -> dict[str, Any]:
        """Read where the part came from; a part of unknown or other origin is not continued."""
        try:
            note = json.loads(self.note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            note = None
        if isinstance(note, dict) and note.get("url") == url and self.part.exists():
            return note
        if self.part.exists():
            self._start_over(self.have())
        return {}


def remote_size(url: str, patience: Patience) -> int | None:
    """Ask a server for the size of a file; None when it does not say.

    Raises
    ------
    FetchError
        When the server has no such file or refuses to send it.
    FetchStopped
        When the server cannot be reached.
    """
    import requests

    failures = 0
    while True:
        try:
            with requests.head(
                url, headers=_HEADERS, timeout=patience.timeout_s, allow_redirects=True
            ) as response:
                # Some servers answer this question with a refusal, or with 0, and send the file all the same.
                if response.status_code in (403, 405, 501):
                    return None
                check_answer(url, response)
                return _content_length(response) or None
        except _PassingFault as error:
            reason = str(error)
        except (requests.ConnectionError, requests.Timeout) as error:
            reason = plain_reason(error, patience)
        except requests.RequestException as error:
            raise FetchError(f"{url}: cannot be fetched: {error}.") from error
        failures += 1
        if failures >= patience.attempts:
            raise FetchStopped(f"{url}: {reason}; gave up after {_count(failures)}.")
        patience.wait(failures)


def check_answer(url: str, response: Any) -> None:
    """Raise unless a server's answer brings the file, or says that its end is reached (416)."""
    if url.startswith("https:") and not response.url.startswith("https:"):
        raise FetchError(
            f"{url}: the server redirects to {response.url}, which is not encrypted. Nothing was fetched."
        )
    if response.status_code in _PASSING:
        raise _PassingFault(f"the server answers {response.status_code} {response.reason}")
    if response.status_code not in (200, 206, 416):
        raise FetchError(
            f"{url}: the server answers {response.status_code} {response.reason}. The address may have changed; "
            f"pass the right folder with --url."
        )


def plain_reason(error: BaseException, patience: Patience) -> str:
    """Describe in a few words why a connection failed, without the layers of libraries around it."""
    import requests

    if isinstance(error, requests.Timeout):
        return f"no answer within {patience.timeout_s:g} s"
    inner: BaseException | None = error
    words = None
    while inner is not None:
        if isinstance(inner, OSError) and inner.strerror:
            words = inner.strerror
        inner = inner.__cause__ or inner.__context__
    return f"the connection failed ({words})" if words else "the connection was cut"


def _count(attempts: int) -> str:
    return "1 attempt" if attempts == 1 else f"{attempts} attempts"


def _content_length(response: Any) -> int | None:
    text = response.headers.get("Content-Length", "")
    return int(text) if text.isdecimal() and not _is_encoded(response) else None


def _is_encoded(response: Any) -> bool:
    """Return whether the server compresses although asked not to, so that its sizes mean something else."""
    return str(response.headers.get("Content-Encoding", "identity")) != "identity"


def _validator(response: Any) -> str | None:
    tag = response.headers.get("ETag")
    # A weak tag promises the same meaning, not the same bytes.
    if tag and not tag.startswith("W/"):
        return str(tag)
    changed = response.headers.get("Last-Modified")
    return str(changed) if changed else None
