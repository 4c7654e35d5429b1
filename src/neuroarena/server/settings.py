"""What the people who run a server may set, as data: ``server.toml`` in the folder of the competition."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from neuroarena.errors import InputError

FILE = "server.toml"


class SettingsPart(BaseModel):
    """A table of ``server.toml``: read once, unknown keys forbidden."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


def _check_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise ValueError("expected an address such as https://arena.example.org")
    if parts.path not in ("", "/"):
        raise ValueError("the server stands at the top of its host, so that the address has no path")
    return f"{parts.scheme}://{parts.netloc}"


class Mail(SettingsPart):
    """How letters are sent: verification, invitations, passwords."""

    backend: Literal["console", "file", "smtp"] = Field(
        default="console", description="Print letters, write them into a folder, or send them"
    )
    sender: str = Field(default="neuroarena@localhost", description="Whom letters come from")
    folder: str = Field(
        default="letters", description="Folder of the backend `file`, within that of the competition"
    )
    host: str = Field(default="localhost", description="Of the SMTP server")
    port: int = Field(default=587, ge=1, le=65535, description="Of the SMTP server")
    user: str | None = Field(default=None, description="Of the SMTP server")
    password_file: str | None = Field(default=None, description="File with the password of the SMTP server")
    security: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="Of the SMTP connection"
    )


class ServerLimits(SettingsPart):
    """How much one visitor may ask."""

    form_bytes: int = Field(
        default=2**18, ge=2**10, le=2**26, description="Largest body of a request that is not an upload"
    )
    sign_ins: int = Field(
        default=10,
        ge=1,
        description="Wrong passwords for one account in a quarter of an hour; six times as many from one address",
    )
    letters: int = Field(default=5, ge=1, description="Letters to one address in an hour")
    uploads: int = Field(
        default=60, ge=1, description="Uploads of one team in an hour, refused ones included"
    )


class Settings(SettingsPart):
    """Everything that ``server.toml`` may say."""

    host: str = Field(default="127.0.0.1", description="Address to listen on")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0 for a free one")
    public_address: Annotated[str, AfterValidator(_check_address)] | None = Field(
        default=None,
        description="What visitors type, such as https://arena.example.org; needed behind a reverse proxy",
    )
    trusted_proxies: tuple[str, ...] = Field(
        default=(), description="Addresses of reverse proxies whose X-Forwarded-For and -Proto are believed"
    )
    session_days: float = Field(default=14, gt=0, le=365, description="How long somebody stays signed in")
    registration: Literal["open", "invited"] = Field(
        default="open", description="Whether anybody may register, or only who has an invitation"
    )
    mail: Mail = Mail()
    limits: ServerLimits = ServerLimits()

    @property
    def secure(self) -> bool:
        """Whether visitors come by https: cookies are then kept from plain http, and browsers told to stay."""
        return self.public_address is not None and self.public_address.startswith("https://")

    @property
    def cookie_prefix(self) -> str:
        """What names of cookies begin with: browsers accept ``__Host-`` from this very host by https alone."""
        return "__Host-" if self.secure else ""


def read_server_settings(folder: Path) -> Settings:
    """Read ``server.toml`` of a competition's folder; without the file everything has its default.

    Raises
    ------
    InputError
        Naming file and key, at the first thing that is wrong.
    """
    path = folder / FILE
    try:
        return Settings.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Settings()
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read as TOML: {error}. Nothing was started.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = str(first["msg"]).removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            message = "there is no such key; docs/server.md lists them"
        raise InputError(f"{path}: {where}: {message}. Nothing was started.") from error
