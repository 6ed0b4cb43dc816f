"""What the operator of a dashboard decides, in one place: options of the command, or variables.

Every setting is an option of ``uncletc dashboard`` and a variable of the environment:
`public_address` is ``--public-address`` and ``UNCLETC_PUBLIC_ADDRESS``. An option goes before a
variable. An empty variable counts as none.
"""

import re
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationError
from pydantic_settings import SettingsConfigDict

from dashboard.work.limits import Limits, explain

THIS_MACHINE = "127.0.0.1"
_EVERYWHERE = {"0.0.0.0": THIS_MACHINE, "::": THIS_MACHINE}  # noqa: S104


def _like(pattern: str, rule: str) -> AfterValidator:
    """Check that a text, where there is one, has a form."""

    def check(text: str) -> str:
        if text and not re.fullmatch(pattern, text):
            raise ValueError(rule)
        return text.rstrip("/")

    return AfterValidator(check)


_Port = Annotated[int, Field(ge=1, le=65535)]


class OperatorSettings(Limits):
    """What the operator of a dashboard decides: each is a variable of the environment, too."""

    model_config = SettingsConfigDict(
        cli_prog_name="uncletc dashboard", cli_kebab_case=True, cli_hide_none_type=True
    )

    port: _Port = Field(8501, description="port to listen on")
    host: str = Field(
        THIS_MACHINE,
        description=f"address to listen on: {THIS_MACHINE} is for this machine only, 0.0.0.0 for "
        "anyone who can reach this machine",
    )
    public_address: Annotated[
        str, _like(r"https?://[^/?#@\s]+/?", "must be like https://counts.example.org")
    ] = Field("", description="address in the browsers; requests under another name are refused")
    behind_proxy: bool = Field(
        False, description="only a proxy can reach this port; /ready answers it, too"
    )
    sign_in: Literal["none", "oidc"] = Field(
        "none", description="who says who somebody is: oidc, an OpenID provider"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "warning", description="what is below is not logged"
    )
    metrics_port: _Port | None = Field(None, description="port for Prometheus; none without")
    metrics_host: str = Field(THIS_MACHINE, description="address that metrics listen on")
    upload_mb: int = Field(200, ge=1, le=2000, description="megabytes of the largest upload")
    scheduler: Annotated[
        str,
        _like(r"(tcp|tls)://[^/?#@\s]+:[0-9]{1,5}", "must be like tcp://10.0.0.4:8786 or tls://…"),
    ] = Field("", description="Dask scheduler whose cluster fits; needs uncletc[search]")

    @property
    def shown_address(self) -> str:
        """The address to open."""
        if self.public_address:
            return self.public_address
        host = _EVERYWHERE.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of this server that browsers may use; empty: any, since none is known."""
        if self.public_address:
            own = urlsplit(self.public_address).hostname or ""
            return (own, "localhost", THIS_MACHINE)  # this machine's own checks, too
        return ("localhost", THIS_MACHINE, "::1") if is_this_machine(self.host) else ()


def is_this_machine(host: str) -> bool:
    """Whether an address can be reached from, or belongs to, this machine alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def read(arguments: Sequence[str]) -> OperatorSettings:
    """Return the settings of a command line, and of the environment for what it leaves open.

    A wrong value ends the program with a sentence that names it.
    """
    try:
        return OperatorSettings(_cli_parse_args=list(arguments))
    except ValidationError as error:
        raise SystemExit(f"uncletc dashboard: {explain(error)}") from None


_current: list[OperatorSettings] = []


def use(settings: OperatorSettings) -> None:
    """Make these the settings of this server."""
    _current[:] = [settings]


def current() -> OperatorSettings:
    """Return the settings of this server: those in use, or those of the environment."""
    if not _current:
        use(OperatorSettings())
    return _current[0]
