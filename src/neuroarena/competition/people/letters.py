"""Letters: mail by SMTP as the settings say; otherwise written into a folder, or printed."""

from __future__ import annotations

import email.message
import email.utils
import logging
import smtplib
import ssl
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from neuroarena import atomic

TIMEOUT_S = 30

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Letter:
    """A letter to one person, in plain text."""

    to: str
    subject: str
    text: str


class MailSettings(Protocol):
    """What is set about letters; the server's settings have it.

    Attributes
    ----------
    backend : {"console", "file", "smtp"}
        Print letters, write each into a file, or send them.
    sender : str
        The address that letters come from.
    folder : str
        Of the backend "file"; a relative one lies in the competition's folder.
    host, port, user, password_file
        Of the backend "smtp".
    security : {"starttls", "tls", "none"}
        "none" is for a relay on the same machine.
    """

    @property
    def backend(self) -> str: ...
    @property
    def sender(self) -> str: ...
    @property
    def folder(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def user(self) -> str | None: ...
    @property
    def password_file(self) -> str | None: ...
    @property
    def security(self) -> str: ...


Send = Callable[[Letter], None]


def make_sender(settings: MailSettings, folder: Path) -> Send:
    """Return the function that sends letters; `folder` is the competition's."""
    if settings.backend == "smtp":
        return lambda letter: _send(settings, letter)
    if settings.backend == "file":
        return lambda letter: _write(settings, folder / settings.folder, letter)
    return _print


def send_or_log(send: Send, letter: Letter) -> None:
    """Send a letter; where the mail server fails, that is logged, and the person can ask for another letter."""
    try:
        send(letter)
    except (OSError, smtplib.SMTPException) as error:
        # Neither the address nor the text, which carries a secret, belongs in a log.
        log.error("A letter (%s) could not be sent: %s", letter.subject, type(error).__name__)


def make_message(letter: Letter, sender: str) -> email.message.EmailMessage:
    """Return a letter as a message of mail; the library refuses line breaks in its headers."""
    message = email.message.EmailMessage()
    message["From"] = sender
    message["To"] = letter.to
    message["Subject"] = letter.subject
    message["Date"] = email.utils.localtime()
    message["Message-ID"] = email.utils.make_msgid(domain=sender.rpartition("@")[2] or "localhost")
    message.set_content(letter.text)
    return message


def _send(settings: MailSettings, letter: Letter) -> None:
    message = make_message(letter, settings.sender)
    password = None
    if settings.password_file is not None:
        password = Path(settings.password_file).read_text(encoding="utf-8").strip()
    if settings.security == "tls":
        context = ssl.create_default_context()
        server: smtplib.SMTP = smtplib.SMTP_SSL(
            settings.host, settings.port, timeout=TIMEOUT_S, context=context
        )
    else:
        server = smtplib.SMTP(settings.host, settings.port, timeout=TIMEOUT_S)
    with server:
        if settings.security == "starttls":
            server.starttls(context=ssl.create_default_context())
        if settings.user is not None and password is not None:
            server.login(settings.user, password)
        server.send_message(message)


_numbering = threading.Lock()


def _write(settings: MailSettings, folder: Path, letter: Letter) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _numbering:
        number = 1 + max((int(path.stem) for path in folder.glob("*.eml") if path.stem.isdigit()), default=0)
        atomic.write_bytes(folder / f"{number:06d}.eml", bytes(make_message(letter, settings.sender)))


def _print(letter: Letter) -> None:
    print(f"\nLetter to {letter.to}: {letter.subject}\n{letter.text}", file=sys.stderr, flush=True)
