"""A team's side of a server: hand in, read receipts and boards by the address of a competition."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import requests

from neuroarena.errors import InputError, NeuroarenaError

PATIENCE_S = (10, 600)
PIECE = 1 << 18
Report = Callable[[int, int], None]


class RemoteArena:
    """A competition on a server.

    Parameters
    ----------
    url : str
        Address of its first page.
    token : str, optional
        Of the team; boards are read without.

    Raises
    ------
    InputError
        When the address is not one, or would send the token over an open line to another machine.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        place = urlsplit(url)
        if place.scheme not in ("http", "https") or not place.hostname:
            raise InputError(f"{url}: expected an address such as https://arena.example.org")
        if token and place.scheme == "http" and place.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise InputError(
                f"{url}: a token is sent by https alone. Use the address that begins with https://"
            )
        self.url = f"{place.scheme}://{place.netloc}"
        self.headers = {"Accept": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"

    def submit(
        self, file: Path, fields: Mapping[str, str], *, check: bool = False, report: Report | None = None
    ) -> dict[str, Any]:
        """Send a file, and return what the server says: the id of the submission, or the checker's verdict.

        Parameters
        ----------
        file : Path
        fields : mapping
            track, and where wanted kind, key, model, external_data, no_external_data, commits.
        check : bool
            Only check the file; no attempt is used.
        report : callable, optional
            Told bytes sent and bytes in all.

        Raises
        ------
        InputError
            When it was not taken, with the server's sentence.
        """
        if not file.is_file():
            raise InputError(f"{file}: there is no such file.")
        # With a key of its own, a post that is repeated after a broken line is one submission.
        form = FormBody(file, {"key": secrets.token_hex(16), **fields}, report)
        with form:
            return self._ask("POST", "/submit/check.json" if check else "/submit.json", form)

    def read_receipt(self, submission: str) -> dict[str, Any]:
        """Return the receipt of one of the team's submissions."""
        receipt: dict[str, Any] = self._ask("GET", f"/submissions/{quote(submission, safe='')}.json")[
            "receipt"
        ]
        return receipt

    def list_submissions(self) -> list[dict[str, Any]]:
        """List the submissions of the team, oldest first."""
        rows: list[dict[str, Any]] = []
        page = pages = 1
        while page <= pages:
            said = self._ask("GET", f"/submissions.json?page={page}")["submissions"]
            rows, page, pages = rows + said["rows"], page + 1, said["pages"]
        return rows[::-1]

    def list_boards(self) -> dict[str, Any]:
        """Return what the first page says: title, boards and who leads them."""
        return self._ask("GET", "/index.json")

    def read_board(self, name: str) -> dict[str, Any]:
        """Return a board by the name in its address."""
        return self._ask("GET", f"/boards/{quote(name, safe='')}.json")

    def _ask(self, method: str, path: str, body: FormBody | None = None) -> dict[str, Any]:
        headers = {**self.headers, **({} if body is None else {"Content-Type": body.kind})}
        try:
            answer = requests.request(
                method,
                f"{self.url}{path}",
                data=body,
                headers=headers,
                timeout=PATIENCE_S,
                allow_redirects=False,
            )
        except requests.RequestException as error:
            raise NeuroarenaError(
                f"{self.url}: the server cannot be reached ({type(error).__name__}). Try again with the same --key."
            ) from error
        try:
            said = answer.json()
        except ValueError as error:
            sentence = f"{self.url}: this is not a neuroarena server (status {answer.status_code})."
            raise NeuroarenaError(sentence) from error
        if answer.status_code >= 500:
            raise NeuroarenaError(f"{self.url}: {said.get('error', answer.status_code)}")
        if answer.status_code >= 300:
            raise InputError(str(said.get("error", f"The server answered with status {answer.status_code}.")))
        return dict(said)


class FormBody:
    """A form with one file, read piece by piece while it is sent, so that its size does not matter.

    Parameters
    ----------
    file : Path
    fields : mapping
    report : callable, optional
        Told bytes sent and bytes in all.
    """

    def __init__(self, file: Path, fields: Mapping[str, str], report: Report | None = None) -> None:
        border = secrets.token_hex(16)
        self.kind = f"multipart/form-data; boundary={border}"
        parts = [
            f'--{border}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        ]
        name = json.dumps(file.name.replace("\r", "").replace("\n", ""), ensure_ascii=False)
        parts.append(f'--{border}\r\nContent-Disposition: form-data; name="file"; filename={name}\r\n\r\n')
        self.waiting = "".join(parts).encode()
        self.end: bytes | None = f"\r\n--{border}--\r\n".encode()
        self.length = len(self.waiting) + file.stat().st_size + len(self.end)
        self.sent, self.report = 0, report
        self.source = file.open("rb")

    def __enter__(self) -> FormBody:
        """Return the form."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.source.close()

    def __len__(self) -> int:
        """Return the bytes in all."""
        return self.length

    def read(self, n_bytes: int = -1) -> bytes:
        """Return the next piece; empty at the end."""
        while not self.waiting:
            self.waiting = self.source.read(PIECE)
            if not self.waiting:
                if self.end is None:
                    return b""
                self.waiting, self.end = self.end, None
        size = len(self.waiting) if n_bytes < 0 else n_bytes
        piece, self.waiting = self.waiting[:size], self.waiting[size:]
        self.sent += len(piece)
        if self.report is not None:
            self.report(self.sent, self.length)
        return piece
