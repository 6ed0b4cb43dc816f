"""What the attributes of US counties act on, and why.

Stated before any fit, from how cases are found and reported. What speaks for them are outside
estimates of detection, which no fit sees: `benchmarks/results/outside.md`.
"""

from uncletc.data.roles import Role, Roles

COVID_ROLES = Roles(
    [
        Role(
            "testing gap",
            "both",
            -1,
            "Where a larger share of tests is positive, fewer of the infected are tested. It also "
            "rises with infections.",
        ),
        Role("% rural", "both", -1, "The way to a test site is longer."),
        Role("median income", "both", 1, "Tests cost time off work, and sometimes money."),
        Role("hospital beds/1000", "both", 1, "More places where people are tested."),
        Role(
            "weekend",
            "detection",
            -1,
            "Offices report fewer cases at weekends; people are infected on all days.",
        ),
        Role(
            "unemployment claims/1000",
            "both",
            -1,
            "People who lose work lose insurance and tests at work.",
        ),
        *(
            Role(name, "rate", 0, "Who lives there, how close and how they move: infections vary.")
            for name in (
                "population",
                "% older than 60",
                "% African American",
                "% Hispanic",
                "unemployment rate",
                "population density",
                "transit mode share",
                "working from home",
                "work trips",
                "non-work trips",
                "% staying home",
                "cumulative inflation",
                "miles/person",
            )
        ),
    ]
)
