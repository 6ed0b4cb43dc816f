"""How much the server works on at once, and for whom. Pure."""

import os
from typing import Annotated

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "UNCLETC_"  # of variables of the environment

_Count = Annotated[int, Field(gt=0)]
_Amount = Annotated[float, Field(gt=0)]


class Limits(BaseSettings):
    """Limits of one server; each can be set by a variable such as ``UNCLETC_QUICK_WORKERS``."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True)

    quick_workers: _Count = Field(
        default_factory=lambda: min(max((os.cpu_count() or 2) // 2, 1), 8),
        description="processes for single fits; half of the processors, 8 at most",
    )
    long_workers: _Count = Field(1, description="processes for comparisons and other long orders")
    session_orders: _Count = Field(
        24, description="orders that one browser session may have waiting or running at once"
    )
    queue: _Count = Field(200, description="orders that may wait or run at once, of all sessions")
    seconds: _Amount = Field(1800.0, description="how long one order may run")
    memory_gb: _Amount = Field(
        4.0, description="memory of one process, 10⁹ bytes; watched on Linux"
    )
    disk_gb: _Amount = Field(4.0, description="results kept on disk, 10⁹ bytes")

    def refusal(self, *, of_session: int, of_all: int) -> str:
        """Why an order is not taken, as a part of a sentence; empty where it is.

        Parameters
        ----------
        of_session, of_all : int
            Orders that wait or run already, of who asks and of everybody.
        """
        if of_session >= self.session_orders:
            return (
                f"you already wait for {of_session} results, the most that one session may. Let "
                "some finish, or cancel them."
            )
        if of_all >= self.queue:
            return f"{of_all} orders are waiting, the most that this server holds. Try again later."
        return ""

    def excess(self, seconds: float, memory: float) -> str:
        """Why an order that has run so long and holds so many bytes is ended; empty: it is not."""
        if seconds > self.seconds:
            most = self.seconds
            words = f"{most / 60:.0f} minutes" if most >= 120 else f"{most:g} seconds"
            hint = "A lower rank, fewer members or fewer folds take less."
            return f"it took longer than {words}, the most that this server allows. {hint}"
        if memory > self.memory_gb * 1e9:
            words = f"{self.memory_gb:g} GB of memory, the most that this server allows."
            return (
                f"it needed more than {words} A lower rank, or counts by week instead of by day, "
                "need less."
            )
        return ""


def variable(name: str) -> str:
    """Return the environment's name of a setting."""
    return f"{PREFIX}{name.upper()}"


def explain(error: ValidationError) -> str:
    """Return what is wrong with settings as a sentence: the variable, the rule and the value."""
    sentences = []
    for each in error.errors():
        rule = each["msg"].removeprefix("Value error, ").replace("Input should", "must")
        if each["loc"]:
            name = variable(str(each["loc"][0]).replace("-", "_"))
            rule = f"{name} {rule}, got {each['input']!r}"
        sentences.append(rule)
    return "; ".join(sentences)
