"""COVID-19 in England: cases by area and week, and the infection survey, which tested anyone."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.truth.known import Case, Truth, file, halves, read_rda
from uncletc import CountTensor, FitSettings, Group, Observations

_FIRST, _WEEKS = pd.Timestamp("2020-11-01"), 68
_POSITIVE = 10  # days for which an infected person tests positive
_EFFECTS = [
    "area",
    "smooth(week, 2)",
    "region × smooth(week, 2)",
    "area × smooth(week, 3)",
    "detection(week)",
    "detection(region)",
    "detection(region × smooth(week, 3))",
    "detection(area)",
]


def _cases(paths: Sequence[Path]) -> list[Case]:
    survey = pd.read_csv(paths[0], parse_dates=["start_date", "end_date"])
    districts = pd.read_csv(paths[1])
    (daily,) = read_rda(paths[2]).values()
    district = districts["dashboard_name"].where(
        districts["dashboard_name"].isin(daily["name"]), districts["lad"]
    )
    districts = districts.assign(name=district).drop_duplicates("name")
    abroad = districts["region"].isin(["Wales", "Scotland", "Northern Ireland"])
    daily = daily.merge(districts[~abroad], on="name")
    daily["day"] = daily["date"].astype(int) - (_FIRST - pd.Timestamp(0)).days
    daily = daily[daily["day"].between(0, 7 * _WEEKS - 1)]
    by_day = daily.groupby(["geography_code", "day"])["count"].sum().unstack(fill_value=0)
    areas, y = list(by_day.index), by_day.to_numpy().reshape(-1, _WEEKS, 7)
    people = daily.drop_duplicates("name").groupby("geography_code")["population"].sum().to_numpy()

    survey = survey[survey["geography_code"].isin(areas)]
    area = survey["geography_code"].map(areas.index).to_numpy()
    first, last = ((survey[f"{end}_date"] - _FIRST).dt.days.to_numpy() for end in ("start", "end"))
    week = (first + last) // 14
    positive = survey["proportion_pos"].to_numpy()
    error = (survey["proportion_pos_high_95"] - survey["proportion_pos_low_95"]).to_numpy() / 3.92
    tested = positive * (1 - positive) / error**2  # people who would leave that error
    days = last - first + 1
    totals = np.column_stack([np.zeros(len(areas)), by_day.to_numpy().cumsum(axis=1)])
    reported = totals[area, last + 1] - totals[area, first]
    infected = positive * people[area] * days / _POSITIVE
    detection = np.bincount(area, reported) / np.bincount(area, infected)

    where = np.argwhere(np.ones(y.shape[:2], dtype=bool))
    region = districts.drop_duplicates("geography_code").set_index("geography_code")["region"]
    codes, regions = pd.factorize(region.reindex(areas))
    columns = {
        "people": np.log(people),
        "share of cases at weekends": y[..., [0, 6]].sum(axis=(1, 2)) / y.sum(axis=(1, 2)),
    }
    # Each may act on infections and on detection; cases per person are the product of both.
    attributes = np.column_stack(list(columns.values()))[where[:, 0]]
    columns["cases per person"] = np.log(y.sum(axis=(1, 2)) / people)
    counts = CountTensor(
        y.shape[:2],
        where,
        y.sum(axis=2).ravel(),
        attributes=attributes,
        attribute_names=list(columns)[:2],
        rate_attributes=attributes,
        rate_attribute_names=list(columns)[:2],
        modes=["area", "week"],
        exposure=people[:, None],
    ).with_groups(
        Group("region", ["area"], codes, list(regions)),
        Group(
            "week",
            ["week"],
            np.arange(_WEEKS),
            list(map(str, range(_WEEKS))),
            np.arange(_WEEKS)[:, None],
        ),
    )
    round_of = np.full(y.shape[:2], -1)
    for k in range(len(survey))[::-1]:
        round_of[area[k], first[k] // 7 : last[k] // 7 + 1] = k
    of_round = round_of[tuple(where.T)]
    once = ~pd.DataFrame({"area": area, "week": week}).duplicated().to_numpy()
    folds, of_region = [], np.zeros(len(areas))
    for judged in halves(len(areas)):
        seen = once & ~judged[area]
        found = Observations(
            "survey",
            np.column_stack([area, week])[seen],
            np.rint(tested * positive)[seen].astype(int),
            # A week's infected are so many times those who test positive on one day of it.
            known_detection=(tested * _POSITIVE / 7 / people[area])[seen],
            known_error=0.2,
        )
        folds.append((counts.with_observations(found), judged))
        mean = pd.Series(detection[~judged]).groupby(codes[~judged]).mean()
        of_region[judged] = mean.reindex(codes[judged], fill_value=mean.mean())
    by_area = [
        Case(
            name=name,
            counts=counts,
            settings=FitSettings(rank=1, effects=effects),
            groups=np.where(of_round >= 0, where[:, 0], -1),
            detection=detection,
            covariates=columns | {"region": of_region},
            folds=own,
        )
        for name, effects, own in (
            ("England, cases alone", _EFFECTS[:4], ()),
            ("England, survey of other areas", _EFFECTS, tuple(folds)),
        )
    ]
    # Each round of the survey in an area.
    rounds = pd.DataFrame({"area": area, "region": codes[area], "week": week})
    rounds["p"] = reported / (positive * people[area] * days / _POSITIVE)
    known = {name: values[area] for name, values in columns.items()}
    for keys in (["region"], ["week"], ["region", "week"]):
        of_others = np.full(len(rounds), np.nan)
        for judged in halves(len(areas)):
            means = rounds[~judged[area]].groupby(keys)["p"].mean()
            of_others[judged[area]] = rounds[judged[area]].join(means, keys, rsuffix="_")["p_"]
        known[" and ".join(keys)] = np.where(np.isnan(of_others), np.nanmean(of_others), of_others)
    by_round = replace(
        by_area[1],
        name="England by survey round, survey of other areas",
        groups=of_round,
        detection=np.where(rounds["p"] < np.inf, rounds["p"], np.nan),
        covariates=known,
        folds=tuple((seen, judged[area]) for seen, judged in folds),
        clusters=area,
    )
    return [*by_area, by_round]


TRUTH = Truth(
    title="England",
    source="epiforecasts/inc2prev, cis.csv; ai4ci/ukc19, ltla_cases",
    licence="BSD, MIT and Open Government Licence",
    truth="p of an area is its cases over what the Infection Survey's positivity says, at ten days "
    "each, in the weeks that were surveyed; region and week stand for the mean of the other half, "
    "the one that was seen",
    files=(
        file(
            "epiforecasts/inc2prev/5ba89bf3c318a71f7400b36432de9ec4067c7c3f/data-processed/cis.csv",
            1567366,
            "5a24183f3654764ba5f71c96fb87c240727cee7cf4567072e8c26e81dc00a363",
        ),
        file(
            "epiforecasts/inc2prev/78e3d8717219c4238fb9dc971405d0562695a6f3/data-processed/"
            "cis_areas.csv",
            23310,
            "f8058bbfa0764962a55895c28c63f72130aec372f353d1493ca52d09d9efd113",
        ),
        file(
            "ai4ci/ukc19/94627432bb46b27b02b6f0b8870a9991cd85cdb8/data/ltla_cases.rda",
            404462,
            "f626fe75e703a8c7181c936df7e7a8cdfcebda6380c33f67e29348f86ea9fedc",
        ),
    ),
    cases=_cases,
)
