"""Five lessons of the Lab for teachers to hand out, as links. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A link that opens the Lab at one step with some settings.

    Attributes
    ----------
    name : str
        In the address, so that the page says which lesson it is.
    title : str
    aim : str
        One sentence, without the answer.
    settings : str
        Of the address: the step, and what is set or hidden.
    """

    name: str
    title: str
    aim: str
    settings: str

    @property
    def query(self) -> str:
        """What follows the question mark of the address."""
        return f"{self.settings}&lesson={self.name}"


LESSONS = (
    Lesson(
        name="missed",
        title="Many missed, or few there?",
        aim="Two places with different λ and p: compare what is counted there.",
        settings="step=entry&lab_lambda=20&lab_p=0.5",
    ),
    Lesson(
        name="missing",
        title="What does a blank mean?",
        aim="Look at counts with gaps, and say what each gap means.",
        settings="step=tensor&lab_gamma_omega=0.2&lab_gamma_xi=0.5&lab_events=5&hide=g,rank",
    ),
    Lesson(
        name="network",
        title="Straight lines, curves or a network?",
        aim="Compare three models of how p depends on covariates, then choose another true g.",
        settings="step=fit&lab_layers=1&lab_g=interaction&lab_gamma_omega=0.3"
        "&lab_events=100&hide=gamma_omega,gamma_xi,rank,events,seed,mu,layers,members",
    ),
    Lesson(
        name="scale",
        title="Twice as many, half as often counted?",
        aim="Multiply every λ by a factor, divide every p by it, and see what changes.",
        settings="step=scale&lab_c=1.5&hide=gamma_omega,gamma_xi,rank",
    ),
    Lesson(
        name="levers",
        title="How many entries must be counted?",
        aim="Predict what the errors do as more entries are counted, then measure it.",
        settings="step=levers&lab_lever=entries+counted&lab_layers=0&hide=g,rank,mu,layers,members",
    ),
)


def lesson_named(name: str | None) -> Lesson | None:
    """Return the lesson that an address names; None where it names none."""
    return next((lesson for lesson in LESSONS if lesson.name == name), None)


def lesson_links() -> str:
    """Return the lessons as a Markdown list, for the README."""
    return "\n".join(f"- [{each.title}](/lab?{each.query}): {each.aim}" for each in LESSONS)
