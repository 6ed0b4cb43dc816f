"""Roles that are guessed, and reasons for them, on tables of many shapes."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from uncletc.tables import (
    AttributeColumn,
    Columns,
    Guess,
    ModeColumn,
    RawTable,
    build,
    guess,
    read_file,
)

RNG = np.random.default_rng(7)


def grid(**levels) -> dict[str, list]:
    rows = list(itertools.product(*levels.values()))
    return {name: [row[k] for row in rows] for k, name in enumerate(levels)}


DAYS = ("2024-05-01", "2024-05-02", "2024-05-03")


def counts(n: int, mean: float = 3.0) -> list[int]:
    return RNG.negative_binomial(1, 1 / (1 + mean), n).tolist()


def names(stem: str, n: int = 5) -> list[str]:
    return [f"{stem} {k + 1}" for k in range(n)]


def found_in(**columns) -> Guess:
    return guess(RawTable.of(columns, "t"))


def modes(found: Guess) -> list[str]:
    return [each.column for each in found.columns.all_modes]


def attributes(found: Guess) -> list[str]:
    return [each.column for each in found.columns.attributes]


BASE = grid(site=names("s"), week=[1, 2, 3, 4])


class TestLong:
    def test_how_much_was_tested_is_an_attribute_although_its_name_ends_like_a_history(self):
        tested = RNG.uniform(5, 40, 20).tolist()
        found = found_in(**BASE, cases=counts(20), **{"Tests per 1000": tested})
        assert attributes(found) == ["Tests per 1000"]
        assert found.columns.count == "cases"

    def test_counts_modes_and_attributes(self):
        base = grid(plant=names("plant"), pollinator=names("bee", 8), visit=[1, 2, 3, 4, 5])
        more = {"n_interactions": counts(200), "temperature": RNG.normal(15, 4, 200).tolist()}
        found = found_in(**base, **more)
        assert modes(found) == ["plant", "pollinator", "visit"]
        assert found.columns.count == "n_interactions"
        assert attributes(found) == ["temperature"]
        assert set(found.reasons) == set(base | more)

    @pytest.mark.parametrize(
        "name",
        ["count", "n", "Number of bees", "cases", "deaths", "abundance", "seen", "NO_INT",
         "totalTests", "Captures"],
    )  # fmt: skip
    def test_names_of_counts(self, name):
        assert found_in(**BASE, **{name: counts(20)}).columns.count == name

    def test_without_a_name_the_count_is_what_varies_like_one_and_that_is_asked(self):
        found = found_in(**grid(a=names("x", 6), b=names("y", 6)), q=counts(36))
        assert (modes(found), found.columns.count) == (["a", "b"], "q")
        assert "Is q the count?" in found.questions[0]
        found = found_in(**BASE, cases=counts(20), deaths=counts(20, 1))
        assert "Could be the count as well: deaths" in found.reasons["cases"]

    @pytest.mark.parametrize("code", [-1, -9999])
    def test_negative_codes_do_not_hide_the_count(self, code):
        y = [code if k % 6 == 0 else value for k, value in enumerate(counts(20))]
        assert found_in(**BASE, count=y).columns.count == "count"

    def test_a_table_without_counts_says_which_shape_is_understood(self):
        found = found_in(site=["a", "b", "a", "b"], temp=[1.5, 2.5, 3.5, 0.1])
        assert found.columns.count == ""
        assert "one row per count" in found.questions[0]
        found = found_in(**BASE, count=(RNG.random(20) * 3).tolist())
        assert found.columns.count == ""
        assert "round" in found.reasons["count"]
        assert "Is count the count? It holds numbers" in found.questions[0]
        assert "exposure" in found.reasons["count"]

    def test_other_names_of_a_level_are_left_out(self):
        base = grid(site=names("site"), species=names("sp"))
        codes = {"site_code": [each[-1] + "X" for each in base["site"]]}
        assert modes(found_in(**codes, **base, seen=counts(25))) == ["site", "species"]
        base = grid(site=names("s"), date=[f"{2020 + k}-06-{1 + k:02d}" for k in range(4)])
        years = [day[:4] for day in base["date"]]
        assert modes(found_in(**base, year=years, seen=counts(20))) == ["site", "date"]

    @pytest.mark.parametrize("name", ["id", "Site_ID", "code"])
    def test_an_id_of_sites_names_them(self, name):
        found = found_in(**grid(**{name: list(range(1, 8))}, visit=[1, 2, 3]), seen=counts(21))
        assert modes(found) == [name, "visit"]
        wide = {name: list(range(1, 8))} | {f"y.{k}": counts(7) for k in (1, 2, 3)}
        assert modes(found_in(**wide)) == [name, "visit"]

    @pytest.mark.parametrize("name", ["Visit date", "visit"])
    def test_dates_of_visits_name_entries_where_no_number_does(self, name):
        days = [f"2024-06-{3 * k:02d}" for k in range(1, 5)]
        found = found_in(**grid(**{"site_id": names("s"), name: days}), seen=counts(20))
        assert modes(found) == ["site_id", name]

    @pytest.mark.parametrize("as_dates", [False, True])
    def test_the_day_of_a_visit_is_an_attribute(self, as_dates):
        base = grid(site=names("s", 20), visit=[1, 2, 3])
        days = [100 + 20 * visit + k % 5 for k, visit in enumerate(base["visit"])]
        if as_dates:
            days = [str(np.datetime64("2024-01-01") + day) for day in days]
        raw = RawTable.of(base | {"date": days, "seen": counts(60)}, "t")
        found = guess(raw)
        assert (modes(found), attributes(found)) == (["site", "visit"], ["date"])
        assert build(raw, found.columns).counts.attributes.max() == 1

    def test_what_is_the_same_at_all_visits_of_a_site_acts_on_true_counts(self):
        base = grid(site=names("s", 8), visit=[1, 2, 3])
        forest = [int(site[-1]) * 7 for site in base["site"]]
        wind = RNG.normal(5, 2, 24).round(1).tolist()
        found = found_in(**base, seen=counts(24), forest=forest, wind=wind)
        acts = {each.column: each.acts_on for each in found.columns.attributes}
        assert acts == {"forest": "rate", "wind": "detection"}
        assert "the same at all rows of one site" in found.reasons["forest"]

    @pytest.mark.parametrize(
        ("name", "values", "reason"),
        [
            ("cum_cases", list(range(20)), "made of counts"),
            ("prevalence", RNG.random(20).tolist(), "made of counts"),
            ("cases_rate", RNG.random(20).tolist(), "made of counts"),
            ("id", list(range(20)), "numbers"),
            ("notes", [f"remark {k}" for k in range(20)], "remarks"),
            ("kolor", (["u", "v", "w"] * 7)[:20], "take it as a category"),
            ("same", [3] * 20, "the same value"),
            ("deaths", ["inf", *map(str, range(19))], "'inf', which is no number"),
        ],
    )
    def test_what_is_left_out_and_why(self, name, values, reason):
        found = found_in(**BASE, cases=counts(20), **{name: values})
        assert (modes(found), attributes(found)) == (["site", "week"], [])
        assert reason in found.reasons[name]

    @pytest.mark.parametrize("name", ["popsize", "expected_cases"])
    def test_places_without_people_are_left_out(self, name):
        sizes = [*(100 * (1 + k // 4) for k in range(18)), 0, None]
        raw = RawTable.of({**BASE, "cases": counts(20), name: sizes}, "t.csv")
        found = build(raw, guess(raw).columns)
        assert found.counts.n_observed == 18
        assert found.counts.exposure[0, 0] == 100
        assert any(
            f"Counts left out where {name} is 0 or empty: 2" in rule
            for rule in found.provenance.rules
        )

    def test_what_is_often_0_is_no_exposure(self):
        found = found_in(**BASE, cases=counts(20), people=[3, 0, 1, 2] * 5)
        assert (found.columns.exposure, attributes(found)) == (None, ["people"])

    def test_of_whole_numbers_incidence_is_the_count(self):
        base = {"herd": BASE["site"], "period": BASE["week"], "size": [20] * 10 + [30] * 10}
        assert found_in(**base, incidence=counts(20)).columns.count == "incidence"

    def test_exposure_and_degrees_are_found_by_name(self):
        sizes = [100.0 * (1 + k // 4) for k in range(20)]
        north = [40 + k // 4 for k in range(20)]
        more = {"population": sizes, "lat": north, "lon": north}
        found = found_in(**BASE, cases=counts(20), **more).columns
        assert found.exposure == "population"
        assert (found.latitude, found.longitude) == ("lat", "lon")

    def test_rows_that_repeat_are_summed_until_their_owner_says_otherwise(self):
        base = grid(site=names("s"), week=[1, 2, 3, 4, 4])
        assert found_in(**base, seen=counts(25)).columns.duplicates == "sum"

    def test_many_levels_become_fewer_and_that_is_said(self):
        days = np.arange("2020-01-01", "2022-01-01", dtype="datetime64[D]").astype(str).tolist()
        base = grid(site=["a", "b"], date=days)
        assert found_in(**base, seen=counts(1462)).columns.modes[1].step == "week"

    def test_a_list_of_cases_is_counted(self):
        rows = [
            f"{k},2021-03-{1 + k % 20:02d},{'NESW'[k % 4]},{'fm'[k % 2]},{k % 33}"
            for k in range(80)
        ]
        text = "\n".join(["case_id,onset_date,region,sex,age", *rows])
        raw = read_file(text.encode(), "cases.csv")
        found = guess(raw)
        assert "age" not in modes(found)
        assert (found.columns.count, found.columns.absent) == ("events", "zero")
        assert "added column events" in raw.notes[-1]
        assert build(raw, found.columns).counts.counts.sum() == 80
        assert any(
            "Each row is one event, so these are taken as 0." in each for each in found.questions
        )

    def test_a_list_of_sightings_is_of_species_places_and_days_and_lacks_zeros(self):
        lines = ["common name,checklist,locality,date,started,count,minutes"]
        for k, (place, day) in enumerate((a, b) for a in range(6) for b in RNG.permutation(28)[:9]):
            visit = f"S{k},L{place},2021-05-{day + 1:02d},{1 + k % 12}:{7 + k % 50:02d} PM"
            seen = [(name, RNG.poisson(1.5)) for name in ("crow", "jay", "finch")]
            lines += [f"{name},{visit},{y},{5 + k}" for name, y in seen if y]
        raw = read_file("\n".join(lines).encode(), "birds.csv")
        found = guess(raw)
        assert modes(found) == ["common name", "locality", "date"]
        assert found.columns.absent == "common name"
        assert "taken as 0 wherever another common name has a count." in found.questions[-1]
        of_p = [each.column for each in found.columns.attributes if each.acts_on == "detection"]
        assert of_p == ["started", "minutes"]
        y = build(raw, found.columns).counts
        visits = len({tuple(at) for at in y.indices[:, 1:].tolist()})
        assert y.n_observed == y.n_attributed == 3 * visits > len(lines)
        assert (y.attributes.min(), y.attributes.max()) == (0, 1)

    @pytest.mark.parametrize("people", [[], [40, 500, 9000]])
    def test_tests_beside_cases_are_what_p_rises_with(self, people):
        base = grid(county=["a", "b", "c"], week=range(1, 13))
        numbers = {"new_tests": counts(36, mean=90), "deaths": counts(36), "new_cases": counts(36)}
        table = pd.DataFrame(base | numbers).assign(positivity=RNG.random(36).round(3))
        by = table.groupby("county")["new_tests"].transform("mean")
        if people:
            table["population"] = by = np.repeat(people, 12)
        raw = read_file(table.to_csv(index=False).encode(), "cases.csv")
        positive, found = guess(raw).columns.attributes
        assert guess(raw).columns.count == "new_cases"
        assert (positive.acts_on, positive.sign) == ("detection", -1)
        assert (found.acts_on, found.sign) == ("detection", 1)
        assert found.column == f"new_tests per {'population' if people else 'mean of county'}"
        assert np.allclose(raw.frame[found.column], table["new_tests"] / by)

    def test_numbers_of_traps_are_covariates_and_no_counts(self):
        base = grid(site=names("s"), week=[1, 2, 3, 4])
        found = found_in(**base, n_traps=counts(20), caught=counts(20))
        assert (found.columns.count, found.columns.attributes[0].column) == ("caught", "n_traps")

    def test_a_list_of_animals_with_measures_is_counted_too(self):
        n = 400
        animals = {
            "record_id": list(range(7, 7 + n)),
            "yr": [2000 + k // 40 for k in range(n)],
            "plot": [1 + k % 8 for k in range(n)],
            "stake": RNG.integers(11, 78, n).tolist(),
            "species": [f"sp{k}" for k in RNG.integers(0, 9, n)],
            "sex": ["F", "M"] * (n // 2),
            "wgt": RNG.integers(5, 200, n).tolist(),
            "rain": [(k // 40) * 13 % 7 for k in range(n)],  # of a year
        }
        file = pd.DataFrame(animals).to_csv(index=False).encode()
        raw = read_file(file, "rodents.csv")
        found = guess(raw)
        assert (modes(found), found.columns.count) == (["species", "plot", "yr"], "events")
        assert attributes(found) == ["rain"]
        assert "differs among the events" in found.reasons["wgt"]
        assert build(raw, found.columns).counts.counts.sum() == n


class TestWide:
    @pytest.mark.parametrize("mode", ["species", "date"])
    def test_empty_cells_are_zeros_of_species_that_were_looked_for(self, mode):
        seen = RNG.poisson(1.0, (40, 3)).astype(float)
        levels = ("Apis", "Bombus", "Osmia") if mode == "species" else DAYS
        table = pd.DataFrame(np.where(seen > 0, seen, np.nan), columns=levels)
        raw = RawTable.of(table.assign(plot=names("p", 40), shade=RNG.random(40)), "t")
        found, looked = guess(raw), int((seen.sum(axis=1) > 0).sum())
        y = build(raw, found.columns).counts
        zeros = mode == "species"
        assert found.columns.absent == ("species" if zeros else "missing")
        assert y.n_observed == (3 * looked if zeros else int((seen > 0).sum()))
        assert (y.counts.min() == 0) == zeros

    @pytest.mark.parametrize(
        ("columns", "mode"),
        [
            ([f"Apis {stem}" for stem in ("mellifera", "dorsata", "cerana")], "species"),
            ([f"sp_{stem}" for stem in "abcdefghijklm"], "species"),
            ([f"2024-05-{day:02d}" for day in range(1, 15)], "date"),
            ([f"X2024.05.{day:02d}" for day in range(1, 15)], "date"),
            (["Jan-20", "Feb-20", "Mar-20"], "month"),
            (["Jan", "Feb", "Mar"], "month"),
            (["0-3 min", "3-5 min", "5-10 min"], "pass"),
            (["observer1", "observer2"], "observer"),
            ([str(year) for year in range(2018, 2024)], "year"),
            ([f"week_{k}" for k in range(1, 6)], "week"),
            ([f"y.{k}" for k in range(1, 6)], "visit"),
            ([f"Occ{k}" for k in range(1, 6)], "occ"),
        ],
    )
    def test_columns_of_counts(self, columns, mode):
        wide = {name: counts(20) for name in columns}
        total = {"Total": np.sum(list(wide.values()), axis=0).tolist()}
        elevation = RNG.integers(0, 900, 20).tolist()
        raw = RawTable.of({"plot": names("p", 20)} | wide | total | {"elevation": elevation}, "t")
        found = guess(raw)
        assert modes(found) == ["plot", mode]
        assert found.columns.across == tuple(columns)
        assert attributes(found) == ["elevation"]
        assert "made of counts" in found.reasons["Total"]
        assert build(raw, found.columns).counts.shape == (20, len(columns))

    def test_weather_of_each_visit_is_left_out_with_a_reason(self):
        visits = {f"y.{k}": counts(9) for k in (1, 2, 3)}
        weather = {f"wind.{k}": RNG.random(9).round(2).tolist() for k in (1, 2, 3)}
        found = found_in(site=names("s", 9), **visits, **weather)
        assert (found.columns.across, attributes(found)) == (tuple(visits), [])
        assert "one column for each visit" in found.reasons["wind.2"]

    def test_what_is_no_wide_table(self):
        dates = {f"date.{k}": RNG.integers(100, 200, 9).tolist() for k in (1, 2, 3)}
        assert found_in(site=names("s", 9), **dates).columns.across == ()
        named = {f"{what}_count": counts(20) for what in ("deaths", "cases", "tests", "icu")}
        others = {f"cases_{kind}": counts(20) for kind in ("new", "total", "cumulative")}
        assert found_in(**BASE, **named).columns.across == ()
        assert found_in(**BASE, **others).columns.across == ()


SITES = (
    "site,100,011,111,elev,temp1,temp2,temp3\na,1,2,0,5,3,1,2\nb,0,1,0,6,2,5,2\nc,0,0,0,7,4,3,3\n"
)
HISTORIES = {
    "names": SITES,
    "texts": "site,history,elev\na,100,5\na,011,5\na,011,5\nb,011,6\n",
    "numbers of animals": "site,ch,freq\na,100,1\na,011,2\nb,011,1\n",
    "numbers beside columns": "site,day1,day2,day3,freq\na,1,0,0,1\na,0,1,1,2\nb,0,1,1,1\n",
    "strata": "site,ch,freq\na,B00,1\na,0AB,2\nb,0AA,1\n",
    "columns": "site,tag,day1,day2,day3,n\na,k,1,0,0,1\na,l,0,1,1,2\na,m,0,1,1,2\nb,n,0,1,1,2\n",
    "rows": "tag,survey,site\nk,1,a\nl,2,a\nl,3,a\nm,2,a\nm,3,a\nn,2,b\nn,3,b\n",
}


@pytest.mark.parametrize("form", HISTORIES)
def test_capture_histories_become_counts_by_visit_of_marked_animals(form):
    raw = read_file(HISTORIES[form].encode(), "t.csv")
    counts = build(raw, guess(raw).columns).counts
    assert counts.modes == ("site", "visit")
    assert counts.counts[:6].tolist() == [1, 2, 2, 0, 1, 1]
    twice = [[0, 2, 1, 2]] * 2
    assert sorted(counts.captures.tolist()) == [[0, 1, 0, 0], *twice, [1, 2, 1, 2]]
    assert counts.n_attributed  # what pages fit is what was built
    if form == "names":
        assert "temp" in counts.attribute_names
        assert counts.shape == (3, 3)


def test_histories_of_several_surveys_are_of_a_site_and_survey_each():
    names = ",".join(
        f"{survey}_{history}" for survey in ("may", "june") for history in ("10", "11", "01")
    )
    text = f"site,{names},wind1,wind2\na,1,2,0,0,0,3,9,8\nb,0,0,0,1,0,0,7,6\n"
    raw = read_file(text.encode(), "t.csv")
    made = build(raw, guess(raw).columns).counts
    counts = made.to_frame().groupby("site")["count"].agg(list).to_dict()
    assert counts == {"a, may": [3, 2], "a, june": [0, 3], "b, may": [0, 0], "b, june": [1, 0]}
    assert made.attribute_names == ("wind",)


def test_the_count_of_capture_histories_is_not_guessed():
    text = HISTORIES["names"].replace("elev", "y").replace("5,3", "3,3")
    found = guess(read_file(text.encode(), "t.csv"))
    assert (found.columns.count, found.questions) == ("count", ())


def test_days_of_january_are_no_histories_of_animals():
    days = ",".join(f"2021-01-{day:02d}" for day in range(1, 13))
    raw = read_file(f"site,{days}\n{'a' + ',1' * 12}\n{'b' + ',0' * 12}\n".encode(), "t.csv")
    assert modes(guess(raw)) == ["site", "date"]


def test_zeros_and_ones_of_sites_are_no_histories_of_animals():
    marks = "".join(f"{k},s{k},{k % 2},1,{k % 3 % 2}\n" for k in range(12))
    raw = read_file(f"id,site,y1,y2,y3\n{marks}".encode(), "t.csv")
    assert raw.frame.columns == ["id", "site", "y1", "y2", "y3"]
    empty = "".join(f"{k},{k % 2},0,{k % 3 % 2}\n" for k in range(12))  # as R writes them
    categories = "".join(f"{k},{k % 3 == 0:d},{k % 3 == 1:d},{k % 3 == 2:d}\n" for k in range(12))
    for rows in (empty, categories):
        found = guess(read_file(f",V1,V2,V3\n{rows}".encode(), "t.csv"))
        assert modes(found) == ["row", "visit"]


@pytest.mark.parametrize("heads", [",V1,V2,V3", "id,y2019,y2020,y2021", "fish,first,second,third"])
def test_rows_of_captures_without_names_are_animals(heads):
    marks = "".join(f"{k},{k % 2},1,{k % 3 % 2}\n" for k in range(12))
    raw = read_file(f"{heads}\n{marks}".encode(), "t.csv")
    assert build(raw, guess(raw).columns).counts.counts.tolist() == [6, 12, 4]


def test_histories_need_no_other_column():
    marks = "".join(f"{k % 2},{(k + 1) % 2 or k % 3 % 2}\n" for k in range(12))
    for text in ("ch\n011\n010\n110\n", f"first,second\n{marks}"):
        raw = read_file(text.encode(), "t.csv")
        assert modes(guess(raw)) == ["site", "visit"]
        assert sum(build(raw, guess(raw).columns).counts.captures[:, 1]) == raw.frame["count"].sum()


@pytest.mark.parametrize(
    "text",
    [
        "catch,effort\n18,4\n11,2\n9,3\n8,3\n",
        "day,catch,effort\n1,18,4\n2,11,2\n5,9,3\n6,8,3\n",
        "pass,catch\n1,18\n2,11\n3,9\n4,8\n",
        "stream,pass,catch\nA,1,18\nA,2,11\nA,3,9\nA,4,8\n",
        "stream,first,second,third,fourth\nA,18,11,9,8\n",
    ],
)
def test_a_depletion_of_one_place(text):
    raw = read_file(text.encode(), "t.csv")
    found = guess(raw)
    counts = build(raw, replace(found.columns, protocol="removal")).counts
    assert counts.modes[1] == "pass"
    assert counts.counts.tolist() == [18, 11, 9, 8]
    assert (counts.exposure is not None) == ("effort" in text)
    assert any("removed before the next" in it for it in found.questions)


def test_days_of_one_place_are_a_mode():
    diseases = {name: counts(30) for name in ("measles", "malaria", "dengue", "cholera")}
    days = [f"2024-01-{day:02d}" for day in range(1, 31)]
    assert modes(found_in(country=["Kenya"] * 30, date=days, **diseases))[0] == "date"


def test_catches_by_age_or_year_are_no_depletion():
    for name in ("age", "year"):
        text = f"{name},catch,effort\n1,18,4\n2,11,2\n3,9,3\n"
        assert "pass" not in read_file(text.encode(), "t.csv").frame.columns


def test_two_observers_of_animals_whose_size_p_may_depend_on():
    seen = [(k, o, int(k % 2 == o or k % 3 == 0), k % 3, 5) for k in range(12) for o in (0, 1)]
    rows = "".join("{},{},{},{},{}\n".format(*row) for row in seen)
    raw = read_file(f"object,observer,detected,size,age\n{rows}".encode(), "t.csv")
    found = guess(raw)
    made = build(raw, found.columns).counts
    assert made.labels[0] == ("all, size 0", "all, size 1", "all, size 2")
    assert made.counts.tolist() == [4, 4, 2, 2, 2, 2]
    acts = {each.column: each.acts_on for each in found.columns.attributes}
    assert acts == {"size of animals": "detection"}


class TestColumns:
    COLUMNS = Columns(
        modes=(ModeColumn(column="site"), ModeColumn(column="date", step="week")),
        count="seen",
        across=("bee", "fly"),
        across_mode=ModeColumn(column="species"),
        attributes=(AttributeColumn(column="wind", sign=-1),),
        exposure="hours",
        duplicates="observations",
        missing=(("date", "2021-01-01"),),
    )

    def test_come_back_from_plain_values_without_defaults(self):
        plain = self.COLUMNS.as_dict()
        assert Columns.from_dict(plain) == self.COLUMNS
        assert plain["attributes"][0] == {"column": "wind", "sign": -1}
        assert "absent" not in plain


def test_a_region_that_sites_determine_is_a_group_despite_a_footer():
    rows = "".join(f"{'ns'[k > 2]},h{k},{m},{k + m}\n" for k in range(6) for m in range(1, 5))
    text = f"region,hospital,month,cases\n{rows}Total,,,90\nSource: us,,,\n"
    found = guess(raw := read_file(text.encode(), "t.csv"))
    assert modes(found) == ["hospital", "month"]
    assert found.columns.groups == ("region",)
    assert build(raw, found.columns).counts.groups[0].labels == ("n", "s")


@pytest.mark.parametrize("names", ["Ort;Woche;Fälle", "Commune;Semaine;Cas déclarés"])
def test_names_in_other_languages(names):
    rows = "".join(f"{p};{w};{970 * w + 3 * p}\n" for p in range(5) for w in range(1, 5))
    found = guess(read_file(f"{names}\n{rows}".encode(), "t.csv"))
    assert [*modes(found), found.columns.count] == names.split(";")


def test_covariates_by_visit_beside_counts_by_visit_make_a_row_of_each_visit():
    rows = "".join(f"s{k},{k},{k % 3},{['NA', 4][k % 2]},1,{k / 2},2.5,calm\n" for k in range(8))
    raw = read_file(f"site,elev,y1,y2,y3,wind1,wind2,wind3\n{rows}".encode(), "t.csv")
    assert raw.frame.columns == ["site", "elev", "visit", "y", "wind"]
    assert raw.frame.row(3) == ("s1", 1, 1, 1, "0.5")
    assert any("Each visit is read as a row" in note for note in raw.notes)
    found = guess(raw)
    assert (modes(found), found.columns.count) == (["site", "visit"], "y")
    assert build(raw, found.columns).counts.n_observed == 20
    assert "“the same at each visit”" in found.questions[-1]
    species = f"site,sp1,sp2,sp3,pc1,pc2,pc3\n{rows.replace(',NA', ',2')}"
    assert "visit" not in read_file(species.encode(), "t.csv").frame.columns


def test_observers_are_a_mode_where_no_other_column_names_rows():
    walks = {"band": [0, 0, 1, 1], "observer": list("abab"), "seen": [4, 3, 1, 2]}
    found = guess(RawTable.of(walks, "stakes"))
    assert modes(found) == ["band", "observer"]
    assert "“the same at each observer”" in found.questions[-1]


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("site,w1,w2,w3,w4,w5", ["site", "week"]),
        ("site,coho1,coho2,coho3,cutt1,cutt2,cutt3", ["site", "species", "visit"]),
        ("siteID,coordx,coordy,count1,count2,count3,dur1,dur2,dur3", ["siteID", "visit"]),
        (",Oak1,Oak2,Oak3,Yew,Sitka,Norway,Mixed", ["row", "series"]),
        (",Sepsis.sp1,Sepsis.sp2,Sepsis.sp3,Apis,Bombus,Osmia,Aglais", ["row", "series"]),
        ("day,cases_travel,cases_household,cases_other", ["day", "series"]),
        ("habitat,dc1,dc2,dc3,dc4,Length", ["row", "dc"]),
        ("country,sp_m014,sp_m1524,sp_m65,sp_f014,sp_f1524,sp_f65", ["country", "series"]),
        ("belief,<$10k,$10-20k,$20-30k,$30-40k", ["belief", "series"]),
        (",North.site,South.site", ["row", "series"]),
        ("site," + ",".join(f"visit_{k:02}" for k in range(1, 13)), ["site", "visit"]),
        ("site,X10,X01,X11", ["site", "visit"]),
        ("area,2019 Q1,2019 Q2,2019 Q3,2019 Q4,2020 Q1", ["area", "quarter"]),
        ("area,2009/10,2010/11,2011/12,2012/13", ["area", "season"]),
        ("area,X2009.10,X2009.11,X2009.12,X2010.01", ["area", "month"]),
    ],
)
def test_levels_in_the_names_of_columns(head, found):
    first = "AABB" * 3 if head.startswith("habitat") else [f"s{k}" for k in range(12)]
    rows = "".join(f"{name},{','.join(map(str, counts(head.count(','))))}\n" for name in first)
    read = read_file(f"{head}\n{rows}".encode(), "t.csv")
    assert modes(guess(read)) == found
    assert any("histories" in note for note in read.notes) == ("X10" in head)  # no months are


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("Country,ISO_WEEK,INF_A,INF_B,OTHER", ["Country", "ISO_WEEK", "species"]),
        ("trust,week,mrsa,bed_days", ["trust", "week"]),
    ],
)
def test_weeks_are_no_counts_and_whole_numbers_without_a_known_name_are(head, found):
    rows = [
        f"{a},{w},{(w * w + k) % 3},{w % 5},{w + 9}" for k, a in enumerate("abc") for w in WEEKS
    ]
    rows = [row.rsplit(",", 5 - len(head.split(",")))[0] for row in rows]
    read = guess(read_file("\n".join([head, *rows]).encode(), "t.csv"))
    assert modes(read) == found
    assert read.columns.count == ("mrsa" if "mrsa" in head else "count")


def test_events_with_an_age_are_counts_by_place_and_time():
    rows = [f"{'AB'[k % 2]},{1 + k % 9},{18 + 7 * k % 60},{'xyz'[k % 3]}" for k in range(400)]
    read = guess(read_file("\n".join(["STATE,week,AGE_YRS,symptom", *rows]).encode(), "t.csv"))
    assert (modes(read), read.columns.count) == (["STATE", "week"], "events")


@pytest.mark.parametrize("stem", ["n", "v", "obs", "occ", "night", "svy"])
def test_two_numbered_columns_are_visits_with_covariates_of_their_own(stem):
    head = f"site,{stem}1,{stem}2,forest,wind1,wind2"
    rows = [
        f"s{k},{k * k % 5},{k % 3},{k % 7},{k * 0.3 % 1:.2f},{k * 0.7 % 1:.2f}" for k in range(30)
    ]
    raw = read_file("\n".join([head, *rows]).encode(), "t.csv")
    counts = build(raw, guess(raw).columns).with_roles().counts
    assert counts.shape == (30, 2)
    assert (counts.attribute_names, counts.rate_attribute_names) == (("wind",), ("forest",))


def test_animals_that_move_between_traps_are_events():
    rows = [f"a{k % 9},2021-06-0{1 + k % 7},T{k % 5}" for k in range(120)]
    read = guess(read_file("\n".join(["animal,date,trap", *rows]).encode(), "t.csv"))
    assert (modes(read), read.columns.count) == (["trap", "date"], "events")


def test_rows_of_counts_by_species_alone_are_numbered():
    rows = "\n".join(",".join(str(k * j % 5) for j in range(2, 9)) for k in range(9))
    raw = read_file(f"Acer,Fagus,Picea,Pinus,Salix,Tilia,Ulmus\n{rows}\n".encode(), "t.csv")
    assert build(raw, guess(raw).columns).counts.shape == (9, 7)


def test_counties_of_one_name_in_two_states_are_two_places():
    names = [(f"State {k % 5}", f"County {k // 2 if k < 20 else k}") for k in range(40)]
    rows = "".join(
        f"{s},{c},{week},{int(week) + k}\n" for k, (s, c) in enumerate(names) for week in "123"
    )
    raw = read_file(f"state,county,week,cases\n{rows}".encode(), "t.csv")
    counts = build(raw, guess(raw).columns).counts
    assert (counts.modes, counts.shape) == (("county", "week"), (40, 3))
    assert counts.labels[0][:2] == ("County 0, State 0", "County 0, State 1")
    assert "10 names of county occur again" in raw.notes[0]


def test_x_and_y_may_be_coordinates():
    places = "".join(
        f"{2600 + k % 4},{1200 + k // 4},{k % 4},{k // 4},{k * 7 % 5}\n" for k in range(20)
    )
    found = guess(read_file(f"x,y,plot,week,bees\n{places}".encode(), "t.csv"))
    assert (modes(found), found.columns.count) == (["plot", "week"], "bees")


@pytest.mark.parametrize("unit", ["Sample.Label", "transect"])
def test_a_list_of_distances_is_counts_by_line_and_band(unit):
    distances = [*(k * 0.73 for k in range(60)), 0, 400]
    rows = "".join(f"A,{k % 5},{10 + k % 5},{k},{d}\n" for k, d in enumerate(distances))
    text = f"Region.Label,{unit},Effort,object,distance\n{rows}A,9,12,,\n"
    raw = read_file(text.encode(), "t.csv")
    found = guess(raw)
    made = build(raw, found.columns).counts
    assert made.modes == (unit, "distance")
    assert made.labels[1][:2] == ("0-5", "5-10")
    assert (made.shape[0], made.counts.sum()) == (6, 61)  # nothing was seen from line 9
    assert "the farthest 1 are left out" in raw.notes[0]
    assert "from a line or from a point" in found.questions[-1]
    assert found.columns.exposure == "Effort"


def test_distances_of_groups_at_several_visits_of_two_species():
    rows = "".join(
        f"p{k % 4},2024-05-0{1 + k % 3},{'ab'[k % 7 > 2]},{k % 10 * 9 + 4},{1 + k % 2}\n"
        for k in range(120)
    )
    raw = read_file(f"point,date,species,distance,count\n{rows}".encode(), "t.csv")
    made = build(raw, guess(raw).columns).counts
    assert made.modes == ("point", "species", "distance", "date")
    assert (made.shape, made.counts.sum()) == ((4, 2, 9, 3), 180)


def test_numbers_without_a_known_name_that_make_rows_unique_name_them():
    base = grid(site=names("s", 6), spp=names("x", 5), sampling=[1, 2, 3])
    found = found_in(**base, temp=RNG.normal(9, 2, 90).round(1).tolist(), count=counts(90))
    assert modes(found) == ["site", "spp", "sampling"]


def test_sums_of_many_rows_keep_the_modes_by_which_they_differ():
    base = grid(region=names("r", 3), sex=["f", "m"], age=names("a", 4), week=[1, 2, 3])
    many = {name: values * 300 for name, values in base.items()}
    assert modes(found_in(**many, count=counts(21_600))) == ["region", "sex", "age", "week"]


WEEKS = range(1, 11)
NIGHTS, TIMES = ["2021-03-01", "2021-03-02", "2021-03-03"], ["2021-03-01T05:40", "2021-03-02T23:15"]


@pytest.mark.parametrize(
    ("columns", "named", "count"),
    [
        (
            {"areaName": "abc", "date": NIGHTS, "cumCasesBySpecimenDate": 0, "newCasesByDate": 1},
            ["areaName", "date"],
            "newCasesByDate",
        ),
        ({"hospital": "abc", "month": NIGHTS, "hai_cases": 1, "patient_days": 2}, 2, "hai_cases"),
        ({"detector": "abc", "night": NIGHTS, "passes": 1, "temp": 2}, 2, "passes"),
        (
            {"plot": "abc", "date": NIGHTS, "bee": "uvw", "visits": 1},
            ["plot", "bee", "date"],
            "visits",
        ),
        ({"deploymentID": "abc", "eventStart": TIMES, "animal": "uv", "count": 1}, 3, "count"),
        ({"county": "abc", "date": NIGHTS, "cases": 1, "fips": 2}, 2, "cases"),
        ({"area": "abc", "MMWR week": NIGHTS, "Current week": 1}, 2, "Current week"),
        ({"pond": "abc", "date": NIGHTS, "observer": "uv", "egg_masses": 1}, 3, "egg_masses"),
        (
            {"codice_regione": "abc", "data": NIGHTS, "deceduti": 1, "nuovi_positivi": 1},
            2,
            "nuovi_positivi",
        ),
        ({"provincia": "abc", "fecha": NIGHTS, "casos": 1, "casos_pcr": 2}, 2, "casos"),
        ({"municipio": "abc", "data": NIGHTS, "obitosNovos": 1, "casosNovos": 1}, 2, "casosNovos"),
        ({"site": "abc", "passage": [1, 2, 3], "espèce": "uv", "effectif": 1}, 3, "effectif"),
    ],
)
def test_tables_that_many_have(columns, named, count):
    """Of names, levels of modes, and numbers: the count is 1."""
    base = grid(
        **{name: [*values] for name, values in columns.items() if not isinstance(values, int)}
    )
    n = len(next(iter(base.values())))
    more = {1: RNG.poisson(9, n), 0: RNG.poisson(9, n).cumsum(), 2: np.arange(n) // 3 + 11}
    found = found_in(
        **base, **{it: more[k].tolist() for it, k in columns.items() if isinstance(k, int)}
    )
    expected = named if isinstance(named, list) else [*columns][:named]
    assert sorted(modes(found)) == sorted(expected)
    assert found.columns.count == count
    no = {"fips", "cumCasesBySpecimenDate", "deceduti", "obitosNovos"}
    assert not no & {*attributes(found)}
