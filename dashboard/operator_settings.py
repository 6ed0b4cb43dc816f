"""What the operator of a dashboard decides, in one place: options of the command, or variables.

Every setting is an option of ``uncletc dashboard`` and a variable of the environment:
`public_address` is ``--public-address`` and ``UNCLETC_PUBLIC_ADDRESS``. An option goes before a
variable. What is secret is a variable only, since others on a machine can read command lines.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import urlsplit

SignIn = Literal["none", "oidc", "header"]
Level = Literal["debug", "info", "warning", "error"]

SIGN_INS: tuple[SignIn, ...] = ("none", "oidc", "header")
LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")
THIS_MACHINE = "127.0.0.1"
_EVERYWHERE = "0.0.0.0"  # nosec B104
_EVERYWHERE_6 = "::"
_LEAST_TOKEN = 20  # characters
_MOST_UPLOAD = 2000  # megabytes


def _by(read: Callable[[str], Any], words: str, *, secret: bool = False) -> dict[str, Any]:
    """What reads the text of a setting, and what the help says of it."""
    return {"read": read, "words": words, "secret": secret}


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise ValueError(f"must be a number from 1 to 65535, got {text!r}")
    return int(text)


def _optional_port(text: str) -> int | None:
    return _port(text) if text else None


def _yes(text: str) -> bool:
    if text.lower() not in {"0", "1", "no", "yes", "false", "true", ""}:
        raise ValueError(f"must be yes or no, got {text!r}")
    return text.lower() in {"1", "yes", "true"}


def _one_of(choices: Sequence[str], text: str) -> str:
    if text not in choices:
        raise ValueError(f"must be one of {', '.join(choices)}, got {text!r}")
    return text


def _sign_in(text: str) -> str:
    return _one_of(SIGN_INS, text)


def _level(text: str) -> str:
    return _one_of(LEVELS, text)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _header(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9-]+", text):
        raise ValueError(f"must be the name of a header, letters, digits and -, got {text!r}")
    return text


def _address(text: str) -> str:
    parts = urlsplit(text)
    whole = parts.scheme in {"http", "https"} and parts.hostname and parts.path in {"", "/"}
    if text and (not whole or parts.query or parts.fragment or "@" in parts.netloc):
        raise ValueError(f"must be like https://counts.example.org, got {text!r}")
    return text.rstrip("/")


def _scheduler(text: str) -> str:
    if text and not re.fullmatch(r"(tcp|tls)://[^/?#@\s]+:[0-9]{1,5}", text):
        raise ValueError(f"must be like tcp://10.0.0.4:8786 or tls://…, got {text!r}")
    return text


def _megabytes(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_UPLOAD:
        raise ValueError(f"must be a whole number from 1 to {_MOST_UPLOAD}, got {text!r}")
    return int(text)


def _token(text: str) -> str:
    if text and len(text) < _LEAST_TOKEN:
        raise ValueError(f"must have at least {_LEAST_TOKEN} characters, got {len(text)}")
    return text


@dataclass(frozen=True)
class OperatorSettings:
    """What the operator of a dashboard decides.

    Attributes
    ----------
    port : int
        Where the pages are served; 1 to 65535.
    host : str
        Address to listen on.
    public_address : str
        What stands in the browsers' address line before the first single slash, where that is not
        this machine's name; empty: not known.
    behind_proxy : bool
        Whether nobody can reach the port except through a proxy.
    sign_in : {"none", "oidc", "header"}
        Who says who somebody is: nobody, an OpenID provider, or a header that a proxy sets.
    user_header : str
        Name of that header.
    operators : tuple of str
        Names of people, as the sign-in gives them, who see the operator's page.
    operator_token : str
        Opens the operator's page to who knows it; empty: nothing does.
    log_level : {"debug", "info", "warning", "error"}
    metrics_port : int or None
        Where Prometheus may read metrics; None: nowhere.
    metrics_host : str
        Address that metrics listen on.
    upload_mb : int
        Megabytes of the largest file that is taken; 1 to 2000.
    scheduler : str
        Address of a Dask scheduler whose cluster fits; empty: processes of this server do.
    """

    port: int = field(default=8501, metadata=_by(_port, "port to listen on"))
    host: str = field(
        default=THIS_MACHINE,
        metadata=_by(
            str,
            f"address to listen on: {THIS_MACHINE} is for this machine only, {_EVERYWHERE} for "
            "anyone who can reach this machine",
        ),
    )
    public_address: str = field(
        default="",
        metadata=_by(
            _address, "address in the browsers, like https://counts.example.org; others are refused"
        ),
    )
    behind_proxy: bool = field(
        default=False, metadata=_by(_yes, "only a proxy can reach this port: yes or no")
    )
    sign_in: SignIn = field(default="none", metadata=_by(_sign_in, ", ".join(SIGN_INS)))
    user_header: str = field(
        default="X-Forwarded-User",
        metadata=_by(_header, "with --sign-in header: the header that names the user"),
    )
    operators: tuple[str, ...] = field(
        default=(),
        metadata=_by(
            _names, "who sees the operator's page: names as the sign-in gives them, with commas"
        ),
    )
    operator_token: str = field(
        default="", metadata=_by(_token, "opens the operator's page", secret=True)
    )
    log_level: Level = field(default="warning", metadata=_by(_level, ", ".join(LEVELS)))
    metrics_port: int | None = field(
        default=None, metadata=_by(_optional_port, "port for Prometheus; none without")
    )
    metrics_host: str = field(
        default=THIS_MACHINE, metadata=_by(str, "address that metrics listen on")
    )
    upload_mb: int = field(default=200, metadata=_by(_megabytes, "megabytes of the largest upload"))
    scheduler: str = field(
        default="",
        metadata=_by(
            _scheduler,
            "Dask scheduler whose cluster fits, like tcp://10.0.0.4:8786; needs [search]",
        ),
    )

    def __post_init__(self) -> None:
        if self.sign_in == "header" and not (self.behind_proxy or is_this_machine(self.host)):
            raise ValueError(
                f"sign_in 'header' believes whoever sets {self.user_header}, so host must be "
                f"{THIS_MACHINE}, got {self.host!r}; where only a proxy that sets the header can "
                "reach the port, say --behind-proxy yes"
            )
        if self.operators and self.sign_in == "none":
            raise ValueError(
                f"operators {', '.join(self.operators)} cannot be told from others: sign_in must "
                "be 'oidc' or 'header', got 'none'"
            )

    @property
    def shown_address(self) -> str:
        """The address to open."""
        if self.public_address:
            return self.public_address
        host = THIS_MACHINE if self.host in {_EVERYWHERE, _EVERYWHERE_6} else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of this server that browsers may use; empty: any, since none is known."""
        if self.public_address:
            own = urlsplit(self.public_address).hostname or ""
            return (own, "localhost", THIS_MACHINE)  # this machine's own checks, too
        return ("localhost", THIS_MACHINE, "::1") if is_this_machine(self.host) else ()


def is_this_machine(host: str) -> bool:
    """Whether an address to listen on can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def variable(name: str) -> str:
    """The environment's name of a setting."""
    return f"UNCLETC_{name.upper()}"


def from_environment(environment: Mapping[str, str] = os.environ) -> OperatorSettings:
    """Read the settings from variables; a ValueError names the variable, the value and the rule."""
    return OperatorSettings(**_given(environment))


def read(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> OperatorSettings:
    """Read the options of ``uncletc dashboard``, and variables for the rest; end on a wrong one."""
    parser = argparse.ArgumentParser(
        prog="uncletc dashboard",
        description="Serve the dashboard until it is interrupted.",
        epilog="Each option is a variable, too: --public-address is UNCLETC_PUBLIC_ADDRESS. Limits "
        "of the work beside the pages, such as UNCLETC_QUEUE, are variables only; "
        "docs/operating.md lists them.",
    )
    for each in fields(OperatorSettings):
        if not each.metadata["secret"]:
            parser.add_argument(_option(each), dest=each.name, help=_help(each), metavar="…")
    options = {
        name: text for name, text in vars(parser.parse_args(arguments)).items() if text is not None
    }
    try:
        return OperatorSettings(**(_given(environment, without=options) | _read(options, "")))
    except ValueError as error:
        parser.error(str(error))


def _option(each: Field[Any]) -> str:
    return f"--{each.name.replace('_', '-')}"


def _help(each: Field[Any]) -> str:
    usual = each.default
    shown = ("yes" if usual else "no") if isinstance(usual, bool) else usual
    return each.metadata["words"] + (f" (default: {shown})" if shown not in ("", (), None) else "")


def _given(
    environment: Mapping[str, str], without: Mapping[str, str] | None = None
) -> dict[str, Any]:
    texts = {
        each.name: environment[variable(each.name)]
        for each in fields(OperatorSettings)
        if variable(each.name) in environment and each.name not in (without or {})
    }
    return _read(texts, "UNCLETC_")


def _read(texts: Mapping[str, str], prefix: str) -> dict[str, Any]:
    values = {}
    for each in fields(OperatorSettings):
        if each.name in texts:
            try:
                values[each.name] = each.metadata["read"](texts[each.name])
            except ValueError as error:
                name = variable(each.name) if prefix else each.name
                raise ValueError(f"{name} {error}") from None
    return values


_current: list[OperatorSettings] = []


def use(settings: OperatorSettings) -> None:
    """Make these the settings of this server."""
    _current[:] = [settings]


def current() -> OperatorSettings:
    """Return the settings of this server: those in use, or those of the environment."""
    if not _current:
        use(from_environment())
    return _current[0]
