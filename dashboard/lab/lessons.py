"""Five lessons of the Lab for teachers to hand out, and the questions of its steps. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Names in the address; STEP_NAMES are those on the page.
Step = Literal["entry", "tensor", "fit", "scale", "levers"]
STEPS: dict[Step, str] = {
    "entry": "One entry: from what happened to what was counted",
    "tensor": "Many entries: a tensor of counts, with gaps",
    "fit": "Fit it: estimates beside the truth",
    "scale": "The free scale: what no count can tell",
    "levers": "What helps: the levers of the theorem",
}

STEP_NAMES: dict[Step, str] = {
    "entry": "one place",
    "tensor": "many places",
    "fit": "estimate",
    "scale": "identifiability",
    "levers": "sample size",
}

THEOREM = """\
**The paper's recoverability theorem (3.1), in two sentences.** Suppose that entries are counted at
random and all counted entries have attributes, that λ has a known rank and all factors and p lie
between known bounds, that g is smooth and the network can approximate it, and that some entries
have similar attributes: then the maximum-likelihood λ and p are, with high probability, close to
the truth at *all* entries, up to a common factor. The bounds on both mean squared errors shrink
with more counted entries (Ω) and with more, and more similar, entries of similar attributes (Θ);
the one on p also with more attributed entries (Ξ). They grow with the rank, with smaller p, and
with a network that is too simple or more complex than necessary.

**Its limits.** A bound says what is sufficient, not how large the error is: its constants are
unknown, and a lever that shrinks it need not help in every data set. It is about the best possible
solution, which no solver is sure to find, and about counts that follow the model.
"""


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A link that opens the Lab at one step with some settings.

    Attributes
    ----------
    name : str
        In the address, so that the page says which lesson it is.
    title : str
    aim : str
        One sentence.
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

    @property
    def path(self) -> str:
        """The address below that of the dashboard."""
        return f"/lab?{self.query}"


LESSONS = (
    Lesson(
        name="missed",
        title="Many missed, or few there?",
        aim="See that one count cannot tell 20 events, half of them seen, from 40, a quarter of "
        "them seen.",
        settings="step=entry&lab_lambda=20&lab_p=0.5",
    ),
    Lesson(
        name="missing",
        title="Missing is not zero",
        aim="Tell entries that nobody counted from entries where nothing was seen, and see which "
        "ones a fit can learn from.",
        settings="step=tensor&lab_gamma_omega=0.2&lab_gamma_xi=0.5&lab_events=5"
        "&hide=gamma_theta,snr,g,rank",
    ),
    Lesson(
        name="network",
        title="When a straight line is not enough",
        aim="Covariates that interact: straight lines and curves miss what a network finds. "
        "Compare the three, then choose another true g where curves do.",
        settings="step=fit&lab_layers=0&lab_g=interaction&lab_gamma_omega=0.3&lab_gamma_theta=0.0"
        "&lab_events=100&hide=gamma_theta,snr,rank,events,mu,members",
    ),
    Lesson(
        name="scale",
        title="Only ratios are known",
        aim="Find the only bound that counts put on the common scale of λ and p.",
        settings="step=scale&lab_c=1.5&hide=gamma_omega,gamma_xi,gamma_theta,snr,rank",
    ),
    Lesson(
        name="levers",
        title="How many entries must be counted?",
        aim="Predict and then measure how the errors fall as more entries are counted.",
        settings="step=levers&lab_lever=entries+counted&lab_draws=2"
        "&hide=gamma_theta,snr,g,rank,mu,layers,members",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Question:
    """Predict before you press.

    Attributes
    ----------
    asks : str
    answers : tuple of str
        Three, short: they appear in the address.
    right : str
        One of them; empty where the results decide.
    why : str
    """

    asks: str
    answers: tuple[str, str, str]
    right: str
    why: str

    def verdict(self, answer: str) -> tuple[bool, str]:
        """Whether an answer is right, and what to say about it."""
        is_right = answer == self.right
        return is_right, f"**{'Right' if is_right else 'Not quite'}.** {self.why}"


QUESTIONS: dict[Step, Question] = {
    "entry": Question(
        asks="In place A, 20 events are expected and each is counted with probability ½. In "
        "place B, 40 are expected and each is counted with probability ¼. Where will more be "
        "counted?",
        answers=(
            "In A: more are detected",
            "In B: more happen",
            "As many in both",
        ),
        right="As many in both",
        why="Both counts are Poisson with mean λp = 10, not only on average but in every "
        "detail: 20 × ½ = 40 × ¼. No number of such counts distinguishes the two places.",
    ),
    "tensor": Question(
        asks="Some squares of the picture of counts will be blank. What does a blank one mean?",
        answers=(
            "Nothing happened there",
            "All that happened was missed",
            "Nobody counted there",
        ),
        right="Nobody counted there",
        why="Blank is missing, not zero. Where nothing happened, or all was missed, the count is 0 "
        "and the square has the darkest colour.",
    ),
    "fit": Question(
        asks="The fit is given counts y and attributes z, nothing else. What can it find?",
        answers=(
            "Only the product λp",
            "λ and p, except for one common factor",
            "λ and p exactly",
        ),
        right="λ and p, except for one common factor",
        why="λ has few patterns and p follows attributes, so the two can be separated. But λ·c "
        "with p/c gives the same counts for every c, and counts are noisy, so even ratios are "
        "only estimated.",
    ),
    "scale": Question(
        asks="Multiply every λ by c = 2 and divide every p by 2. What happens to the expected "
        "counts, ŷ = λp?",
        answers=(
            "They double",
            "They stay the same",
            "They halve",
        ),
        right="They stay the same",
        why="2λ × p/2 = λp. Nothing that can be counted changes, so no count can say which c is "
        "true.",
    ),
    "levers": Question(
        asks="From the first value to the last, what will the {error} do? (Less than a fifth "
        "counts as “hardly”.)",
        answers=(
            "Fall",
            "Hardly change",
            "Rise",
        ),
        right="",
        why="",
    ),
}


def lesson_named(name: str | None) -> Lesson | None:
    """The lesson that an address names; None where it names none."""
    return next((lesson for lesson in LESSONS if lesson.name == name), None)


def lesson_links() -> str:
    """The lessons as a Markdown list, for the README."""
    return "\n".join(f"- [{each.title}]({each.path}): {each.aim}" for each in LESSONS)
