"""Roles that are guessed, and reasons for them, on tables of many shapes."""

import numpy as np
import pandas as pd
import pytest

from tests.uncletc.tables.made import DAYS, RNG, Reading, crossed, names
from uncletc.tables import RawTable, guess


def counts(n, mean=3.0):
    return RNG.negative_binomial(1, 1 / (1 + mean), n).tolist()


BASE = crossed({"site": names("s"), "week": [1, 2, 3, 4]})


RISING = ["Tests per 1000", "Tests pro 1000", "Reporting rate (%)"]
RISING += ["case ascertainment %", "% facilities reporting", "Screens per 1,000 patient-days"]


class TestLong:
    @pytest.mark.parametrize("name", RISING)
    def test_what_p_rises_with_is_an_attribute_although_its_name_is_as_of_counts(self, name):
        read = Reading(BASE | {"cases": counts(20), name: RNG.uniform(0, 99, 20)})
        assert (read.count, read.attributes) == ("cases", [name])
        assert read.columns.attributes[0].sign == 1

    def test_counts_modes_and_attributes(self):
        modes = {"plant": names("plant "), "pollinator": names("bee ", 8), "visit": range(1, 6)}
        table = crossed(modes) | {"n_interactions": counts(200)}
        read = Reading(table | {"temperature": RNG.normal(15, 4, 200)})
        assert (read.modes, read.count) == ([*modes], "n_interactions")
        assert read.attributes == ["temperature"]
        assert set(read.found.reasons) == {*table, "temperature"}

    @pytest.mark.parametrize(
        "name",
        ["count", "n", "Number of bees", "cases", "deaths", "abundance", "seen", "NO_INT",
         "totalTests", "Captures"],
    )  # fmt: skip
    def test_names_of_counts(self, name):
        assert Reading(BASE | {name: counts(20)}).count == name

    def test_without_a_name_the_count_is_what_varies_like_one_and_that_is_asked(self):
        read = Reading(crossed({"a": names("x", 6), "b": names("y", 6)}) | {"q": counts(36)})
        assert (read.modes, read.count) == (["a", "b"], "q")
        assert read.found.questions == ("Is q the count?",)
        read = Reading(BASE | {"cases": counts(20), "deaths": counts(20, 1)})
        assert "Could be the count as well: deaths" in read.found.reasons["cases"]

    @pytest.mark.parametrize("code", [-1, -9999])
    def test_negative_codes_do_not_hide_the_count(self, code):
        y = [code if k % 6 == 0 else value for k, value in enumerate(counts(20))]
        assert Reading(BASE | {"count": y}).count == "count"

    def test_a_table_without_counts_says_which_shape_is_understood(self):
        read = Reading({"site": list("abab"), "temp": [1.5, 2.5, 3.5, 0.1]})
        assert read.count == ""
        assert "one row per count" in read.found.questions[0]
        read = Reading(BASE | {"count": RNG.random(20) * 3})
        assert read.count == ""
        assert "Is count the count? It holds 0.9" in read.found.questions[0]
        for word in ("round", "exposure"):
            assert word in read.found.reasons["count"]

    def test_other_names_of_a_level_are_left_out(self):
        table = crossed({"site": names("s"), "species": names("sp")}, {"seen": 3})
        codes = {"site_code": [f"{site[-1]}X" for site in table["site"]]}
        assert Reading(codes | table).modes == ["site", "species"]
        days = [f"{2020 + k}-06-{1 + k:02d}" for k in range(4)]
        table = crossed({"site": names("s"), "date": days}, {"seen": 3})
        read = Reading(table | {"year": [day[:4] for day in table["date"]]})
        assert read.modes == ["site", "date"]

    @pytest.mark.parametrize(
        "name",
        ["gp_visit_fee_eur", "years_of_practice", "full_time_equivalents", "target_catch_t",
         "damage_threshold_eur", "claim_desk_open_h"],
    )  # fmt: skip
    def test_measures_and_times_spent_are_covariates(self, name):
        values = RNG.choice([5, 8, 15, 21, 34], 20).tolist()
        read = Reading(BASE | {"claims": counts(20), name: values})
        assert (read.count, read.modes, read.attributes) == ("claims", ["site", "week"], [name])

    def test_yes_or_no_is_no_count(self):
        opened = BASE | {"tickets_opened": counts(20), "chatbot": [0, 1] * 10}
        assert Reading(opened | {"seats": [30, 45] * 10}).count == "tickets_opened"

    @pytest.mark.parametrize("name", ["id", "Site_ID", "code"])
    def test_an_id_of_sites_names_them(self, name):
        visits = {name: range(1, 8), "visit": [1, 2, 3]}
        assert Reading(crossed(visits, {"seen": 3})).modes == [name, "visit"]
        wide = crossed({name: range(1, 8)}, dict.fromkeys(("y.1", "y.2", "y.3"), 3))
        assert Reading(wide).modes == [name, "visit"]

    @pytest.mark.parametrize("name", ["Visit date", "visit", "night"])
    def test_dates_of_visits_name_entries_where_no_number_does(self, name):
        visits = {"site_id": names("s"), name: [day.replace("-", "") for day in DAYS[3:15:3]]}
        assert Reading(crossed(visits, {"seen": 3})).modes == ["site_id", name]

    @pytest.mark.parametrize("as_dates", [False, True])
    def test_the_day_of_a_visit_is_an_attribute(self, as_dates):
        table = crossed({"site": names("s", 20), "visit": [1, 2, 3]}, {"seen": 3})
        days = [100 + 20 * visit + k % 5 for k, visit in enumerate(table["visit"])]
        read = Reading(table | {"date": [DAYS[day] for day in days] if as_dates else days})
        assert (read.modes, read.attributes) == (["site", "visit"], ["date"])
        assert read.counts.attributes.max() == 1

    def test_what_is_the_same_at_all_visits_of_a_site_acts_on_true_counts(self):
        table = crossed({"site": names("s", 8), "visit": [1, 2, 3]}, {"seen": 3})
        table |= {it: [7 * int(at[1]) for at in table["site"]] for it in ("%", "slope")}
        read = Reading(table | {"wind": RNG.normal(5, 2, 24).round(1)})
        assert read.acts_on == {"%": "rate", "slope": "rate", "wind": "detection"}
        assert "the same at all rows of one site" in read.found.reasons["%"]

    @pytest.mark.parametrize(
        ("name", "values", "reason"),
        [
            ("cum_cases", list(range(20)), "made of counts"),
            ("cases_rate", RNG.random(20).tolist(), "made of counts"),
            ("suspected_cases_positive_test_rate", RNG.random(20).tolist(), "made of counts"),
            ("reported_share_male", RNG.random(20).tolist(), "made of counts"),
            ("95% CI low", RNG.uniform(0, 90, 20).round(1).tolist(), "made of counts"),
            ("id", list(range(20)), "numbers"),
            ("notes", [f"remark {k}" for k in range(20)], "remarks"),
            ("kolor", (["u", "v", "w"] * 7)[:20], "take it as a covariate"),
            ("site nurse present", ["yes", "no"] * 10, "take it as a covariate"),
            ("same", [3] * 20, "the same value"),
            ("completeness", [*RNG.random(20)[:9], *[None] * 11], "can be added as surveys"),
            ("deaths", ["inf", *"pqr", *map(str, range(16))], "'inf', which is no number; correct"),
        ],
    )
    def test_what_is_left_out_and_why(self, name, values, reason):
        read = Reading(BASE | {"cases": counts(20), name: values})
        assert (read.modes, read.attributes) == (["site", "week"], [])
        assert reason in read.found.reasons[name]

    @pytest.mark.parametrize("name", ["popsize", "expected_cases"])
    def test_places_without_people_are_left_out(self, name):
        sizes = [*(100 * (1 + k // 4) for k in range(18)), 0, None]
        read = Reading(BASE | {"cases": counts(20), name: sizes})
        assert read.counts.n_observed == 18
        assert read.counts.exposure[0, 0] == 100
        assert f"Counts left out where {name} is 0 or empty: 2" in read.said

    def test_what_is_often_0_is_no_exposure_and_numbers_of_traps_are_no_counts(self):
        read = Reading(BASE | {"n_traps": counts(20), "caught": counts(20), "people": [3, 0] * 10})
        assert (read.columns.exposure, read.count) == (None, "caught")
        assert read.attributes == ["n_traps"]

    def test_of_whole_numbers_incidence_is_the_count(self):
        table = {"herd": BASE["site"], "period": BASE["week"], "size": [20] * 10 + [30] * 10}
        assert Reading(table | {"incidence": counts(20)}).count == "incidence"

    @pytest.mark.parametrize(("times", "wide"), [(1.0, False), (0.3, False), (1.0, True)])
    def test_a_number_that_counts_rise_in_proportion_to_is_taken_and_asked_about(self, times, wide):
        table = crossed({"site": names("S", 20), "week": list(range(1, 21))})
        fleet = np.exp(RNG.normal(0, 0.7, 400))
        mean = 8 * np.exp(RNG.normal(0, 0.5, 20)).repeat(20) * fleet**times
        found = names("fault ", 5) if wide else ["faults"]
        read = Reading(table | {name: RNG.poisson(mean) for name in found} | {"fleet": fleet})
        known = times == 1
        assert (read.columns.exposure == "fleet", read.attributes) == (known, [])
        assert ("proportional to fleet?" in read.said) == known
        share = Reading(table | {"faults": RNG.poisson(mean), "completeness": fleet / fleet.max()})
        assert share.columns.exposure is None
        often_0 = np.where(np.arange(400) % 3, fleet, 0)  # these rows would be left out
        assert (
            Reading(table | {"faults": RNG.poisson(often_0), "fleet": often_0}).columns.exposure
            is None
        )

    def test_what_is_made_of_counts_is_no_exposure_and_the_area_of_densities_is(self):
        table = crossed({"site": names("S", 20), "week": list(range(1, 21))}, {"seen": 40})
        y, area = np.array(table["seen"]), RNG.choice([0.5, 0.25], 400)
        made = Reading(table | {"adjusted": 4 * y})
        assert (made.count, made.columns.exposure) == ("seen", None)
        assert "made of counts" in made.found.reasons["adjusted"]
        dense = Reading(table | {"area": area, "inv dens": (y / area).astype(int)})
        assert (dense.count, dense.columns.exposure) == ("seen", "area")
        assert "over area" in dense.found.reasons["inv dens"]

    def test_exposure_and_degrees_are_found_by_name(self):
        north = [40 + k // 4 for k in range(20)]
        more = {"population": [100.0 * (1 + k // 4) for k in range(20)], "lat": north, "lon": north}
        found = Reading(BASE | {"cases": counts(20)} | more).columns
        assert (found.exposure, found.latitude, found.longitude) == ("population", "lat", "lon")

    def test_rows_that_repeat_are_summed_until_their_owner_says_otherwise(self):
        table = crossed({"site": names("s"), "week": [1, 2, 3, 4, 4]}, {"seen": 3})
        assert Reading(table).columns.duplicates == "sum"

    def test_many_levels_become_fewer_and_that_is_said(self):
        table = crossed({"site": ["a", "b"], "date": DAYS[:731]}, {"seen": 3})
        assert Reading(table).columns.modes[1].step == "week"

    def test_a_list_of_cases_is_counted(self):
        rows = [
            f"{k},2021-03-{1 + k % 20:02d},{'NESW'[k % 4]},{'fm'[k % 2]},{k % 33}"
            for k in range(80)
        ]
        read = Reading("\n".join(["case_id,onset_date,region,sex,age", *rows]))
        assert "age" not in read.modes
        assert (read.count, read.columns.absent) == ("events", "zero")
        assert "added column events" in read.raw.notes[-1]
        assert read.counts.counts.sum() == 80
        assert "Each row is one event; these are taken as 0." in read.said

    def test_a_list_of_sightings_is_of_species_places_and_days_and_lacks_zeros(self):
        lines = ["common name,checklist,locality,date,started,count,minutes"]
        for k, (place, day) in enumerate((a, b) for a in range(6) for b in RNG.permutation(28)[:9]):
            visit = f"S{k},L{place},2021-05-{day + 1:02d},{1 + k % 12}:{7 + k % 50:02d} PM"
            seen = [(name, RNG.poisson(1.5)) for name in ("crow", "jay", "finch")]
            lines += [f"{name},{visit},{y},{5 + k}" for name, y in seen if y]
        read = Reading("\n".join(lines))
        assert read.modes == ["common name", "locality", "date"]
        assert read.columns.absent == "common name"
        assert "taken as 0 wherever another common name has a count." in read.found.questions[-1]
        of_p = [name for name, on in read.acts_on.items() if on == "detection"]
        assert of_p == ["started", "minutes"]
        y = read.data.counts
        visits = len({tuple(at) for at in y.indices[:, 1:].tolist()})
        assert y.n_observed == y.n_attributed == 3 * visits > len(lines)
        assert (y.attributes.min(), y.attributes.max()) == (0, 1)

    def test_tests_beside_cases_are_left_out_as_they_may_follow_the_disease(self):
        table = crossed({"county": list("abc"), "week": range(1, 13)})
        table |= {"new_tests": counts(36, mean=90), "deaths": counts(36), "new_cases": counts(36)}
        table = pd.DataFrame(table).assign(positivity=RNG.random(36).round(3))
        read = Reading(table)
        assert read.count == "new_cases"
        (positive,) = read.columns.attributes
        assert (positive.acts_on, positive.sign) == ("detection", -1)
        assert "counts something else" in read.found.reasons["new_tests"]

    def test_a_list_of_animals_with_measures_is_counted_too(self):
        k = np.arange(400)
        animals = {
            "record_id": 7 + k,
            "yr": 2000 + k // 40,
            "plot": 1 + k % 8,
            "stake": RNG.integers(11, 78, 400),
            "species": [f"sp{number}" for number in RNG.integers(0, 9, 400)],
            "sex": ["F", "M"] * 200,
            "wgt": RNG.integers(5, 200, 400),
            "rain": (k // 40) * 13 % 7,  # of a year
        }
        read = Reading(animals)
        assert (read.modes, read.count) == (["species", "plot", "yr"], "events")
        assert read.attributes == ["rain"]
        assert "differs among the events" in read.found.reasons["wgt"]
        assert read.counts.counts.sum() == 400


class TestWide:
    @pytest.mark.parametrize("mode", ["species", "date"])
    def test_empty_cells_are_zeros_of_species_that_were_looked_for(self, mode):
        seen = RNG.poisson(1.0, (40, 3)).astype(float)
        levels = ("Apis", "Bombus", "Osmia") if mode == "species" else DAYS[:3]
        table = pd.DataFrame(np.where(seen > 0, seen, np.nan), columns=levels)
        read = Reading(table.assign(plot=names("p", 40), shade=RNG.random(40)))
        zeros, looked = mode == "species", int((seen.sum(axis=1) > 0).sum())
        assert read.columns.absent == ("species" if zeros else "missing")
        assert read.counts.n_observed == (3 * looked if zeros else int((seen > 0).sum()))
        assert (read.counts.counts.min() == 0) == zeros

    @pytest.mark.parametrize(
        ("columns", "mode"),
        [
            (["Apis mellifera", "Apis dorsata", "All heal"], "species"),
            ([f"sp_{stem}" for stem in "abcdefghijklm"], "species"),
            (DAYS[:14], "date"),
            ([f"X{day.replace('-', '.')}" for day in DAYS[:14]], "date"),
            (["Jan-20", "Feb-20", "Mar-20"], "month"),
            (["Jan", "Feb", "Mar"], "month"),
            (["0-3 min", "3-5 min", "5-10 min"], "pass"),
            (["observer1", "observer2"], "observer"),
            (names("Pass ", 3), "pass"),
            ([str(year) for year in range(2018, 2024)], "year"),
            (names("week_"), "week"),
            (names("y."), "visit"),
            (names("Occ"), "occ"),
        ],
    )
    def test_columns_of_counts(self, columns, mode):
        wide = {name: counts(20) for name in columns}
        table = {"plot": names("p", 20)} | wide | {"Total": np.sum([*wide.values()], axis=0)}
        table["Max count"] = np.max([*wide.values()], axis=0)
        read = Reading(table | {"elevation": RNG.integers(0, 900, 20)})
        assert read.modes == ["plot", mode]
        assert read.columns.across == tuple(columns)
        assert read.attributes == ["elevation"]
        assert "made of counts" in read.found.reasons["Total"]
        assert read.counts.shape == (20, len(columns))

    @pytest.mark.parametrize(
        "columns",
        [
            [f"{what}_count" for what in ("deaths", "cases", "tests", "icu")],
            [f"cases_{kind}" for kind in ("new", "total", "cumulative")],
            names("date.", 3),
        ],
    )
    def test_what_is_no_wide_table(self, columns):
        assert Reading(BASE | {name: counts(20) for name in columns}).columns.across == ()

    def test_weather_of_each_visit_is_left_out_with_a_reason_where_rows_are_sites(self):
        table = {"site": names("s", 9)} | {f"y.{k}": counts(9) for k in (1, 2, 3)}
        table |= {f"wind.{k}": RNG.random(9).round(2).tolist() for k in (1, 2, 3)}
        found = guess(RawTable.of(table, "t"))
        assert found.columns.across == ("y.1", "y.2", "y.3")
        assert not found.columns.attributes
        assert "one column for each visit" in found.reasons["wind.2"]


SITES = "site,100,011,111,elev,temp1,temp2,temp3\na,1,2,0,5,3,1,2\n"
SITES += "b,0,1,0,6,2,5,2\nc,0,0,0,7,4,3,3\n"
HISTORIES = {
    "names": SITES,
    "texts": "site,history,elev\na,100,5\na,011,5\na,011,5\nb,011,6\n",
    "numbers of animals": "site,ch,freq\na,100,1\na,011,2\nb,011,1\n",
    "numbers beside columns": "site,day1,day2,day3,freq\na,1,0,0,1\na,0,1,1,2\nb,0,1,1,1\n",
    "strata": "site,ch,freq\na,B00,1\na,0AB,2\nb,0AA,1\n",
    "columns": "site,tag,day1,day2,day3,n\na,k,1,0,0,1\na,l,0,1,1,2\na,m,0,1,1,2\nb,n,0,1,1,2\n",
    "shorter": "site,ch\na,100\na,011\na,011\nb,0110\n",
    "rows": "tag,survey,site\nk,1,a\nl,2,a\nl,3,a\nm,2,a\nm,3,a\nn,2,b\nn,3,b\n",
}


@pytest.mark.parametrize("form", HISTORIES)
def test_capture_histories_become_counts_by_visit_of_marked_animals(form):
    counts = Reading(HISTORIES[form]).data.counts
    assert counts.modes == ("site", "visit")
    assert counts.counts[:6].tolist() == [1, 2, 2, 0, 1, 1]
    twice = [[0, 2, 1, 2]] * 2
    assert sorted(counts.captures.tolist()) == [[0, 1, 0, 0], *twice, [1, 2, 1, 2]]
    assert counts.n_attributed  # what pages fit is what was built
    if form == "names":
        assert "temp" in counts.attribute_names
        assert counts.shape == (3, 3)


def test_histories_of_several_surveys_are_of_a_site_and_survey_each():
    columns = "may_10,may_11,may_01,june_10,june_11,june_01"
    text = f"site,{columns},wind1,wind2\na,1,2,0,0,0,3,9,8\nb,0,0,0,1,0,0,7,6\n"
    made = Reading(text).data.counts
    counts = made.to_frame().groupby("site")["count"].agg(list).to_dict()
    assert counts == {"a, may": [3, 2], "a, june": [0, 3], "b, may": [0, 0], "b, june": [1, 0]}
    assert made.attribute_names == ("wind",)


def test_the_count_of_capture_histories_is_not_guessed():
    read = Reading(SITES.replace("elev", "y").replace("5,3", "3,3"))
    assert (read.count, read.found.questions) == ("count", ())


def test_days_of_january_are_no_histories_of_animals():
    days = ",".join(f"2021-01-{day:02d}" for day in range(1, 13))
    read = Reading(f"site,{days}\n{'a' + ',1' * 12}\n{'b' + ',0' * 12}\n")
    assert read.modes == ["site", "date"]


def test_zeros_and_ones_of_sites_are_no_histories_of_animals():
    marks = "".join(f"{k},s{k},{k % 2},1,{k % 3 % 2}\n" for k in range(12))
    read = Reading(f"id,site,y1,y2,y3\n{marks}")
    assert read.raw.frame.columns == ["id", "site", "y1", "y2", "y3"]
    empty = "".join(f"{k},{k % 2},0,{k % 3 % 2}\n" for k in range(12))  # as R writes them
    categories = "".join(f"{k},{k % 3 == 0:d},{k % 3 == 1:d},{k % 3 == 2:d}\n" for k in range(12))
    for rows in (empty, categories):
        assert Reading(f",V1,V2,V3\n{rows}").modes == ["row", "visit"]
    assert Reading(f"nestbox,visit1,visit2,visit3\n{empty}").counts.captures is None


@pytest.mark.parametrize(
    "heads",
    [
        ",V1,V2,V3",
        "id,y2019,y2020,y2021",
        "fish,first,second,third",
        "Ring,June,July,August",
        "Ring,2019,2020,2021",
    ],
)
def test_rows_of_captures_are_animals(heads):
    ring = "B" if "Ring" in heads else ""
    marks = "".join(f"{ring}{k},{k % 2},1,{k % 3 % 2}\n" for k in range(12))
    assert Reading(f"{heads}\n{marks}").counts.counts.tolist() == [6, 12, 4]


def test_histories_need_no_other_column():
    marks = "".join(f"{k % 2},{(k + 1) % 2 or k % 3 % 2}\n" for k in range(12))
    for text in ("ch\n011\n010\n110\n", f"first,second\n{marks}"):
        read = Reading(text)
        assert read.modes == ["site", "visit"]
        assert read.counts.captures[:, 1].sum() == read.raw.frame["count"].sum()


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
    read = Reading(text, protocol="removal")
    assert read.counts.modes[1] == "pass"
    assert read.counts.counts.tolist() == [18, 11, 9, 8]
    assert (read.counts.exposure is not None) == ("effort" in text)
    assert "removed before the next" in read.said


def test_a_count_with_one_decimal_is_asked_about_beside_another_count():
    table = crossed({"pond": names("P", 20), "week": range(1, 4)}, {"count_dead": 2, "count": 30})
    table["count"] = [35.5, *table["count"][1:]]
    assert "Is count the count? It holds 35.5 (data row 1)" in Reading(table).said


def test_days_of_one_place_are_a_mode():
    diseases = dict.fromkeys(("measles", "malaria", "dengue", "cholera"), 3)
    read = Reading(crossed({"country": ["Kenya"], "date": DAYS[:30]}, diseases))
    assert read.modes[0] == "date"


@pytest.mark.parametrize("name", ["age", "year"])
def test_catches_by_age_or_year_are_no_depletion(name):
    read = Reading(f"{name},catch,effort\n1,18,4\n2,11,2\n3,9,3\n")
    assert "pass" not in read.raw.frame.columns


def test_two_observers_of_animals_whose_size_p_may_depend_on():
    seen = [(k, o, int(k % 2 == o or k % 3 == 0), k % 3, 5) for k in range(12) for o in (0, 1)]
    rows = "".join("{},{},{},{},{}\n".format(*row) for row in seen)
    read = Reading(f"object,observer,detected,size,age\n{rows}")
    assert read.counts.labels[0] == ("all, size 0", "all, size 1", "all, size 2")
    assert read.counts.counts.tolist() == [4, 4, 2, 2, 2, 2]
    assert read.acts_on == {"list": "detection", "size of animals": "detection"}


def test_animals_of_either_sex_have_a_p_each_and_a_number():
    marks = [(k % 2 or 3) >> j & 1 for k in range(12) for j in (0, 1)]
    rows = "".join(f"{'FM'[k % 2]},{marks[2 * k]}{marks[2 * k + 1]}1\n" for k in range(12))
    read = Reading(f"sex,history\n{rows}")
    assert read.counts.labels[0] == ("all, sex F", "all, sex M")
    assert read.acts_on == {"sex of animals": "detection"}
    assert read.counts.attribute_names == ("sex of animals: M",)


def test_a_trait_is_of_the_animal_wherever_it_was_noted_and_no_habitat():
    rows = [(k, v, ["", "F", "M"][v > 0 and 1 + k % 2]) for k in range(8) for v in (0, 1, 2)]
    read = Reading("animal,visit,sex\n" + "".join("{},{},{}\n".format(*row) for row in rows))
    assert read.counts.labels[0] == ("all, sex F", "all, sex M")
    rows = "".join(f"wood {k % 8},{1 + k % 2}01\n".replace("201", "011") for k in range(40))
    assert Reading(f"habitat stage,ch\n{rows}").modes[0] == "habitat stage"


def test_a_region_that_sites_determine_is_a_group_despite_a_footer():
    rows = "".join(f"{'ns'[k > 2]},h{k},{m},{k + m}\n" for k in range(6) for m in range(1, 5))
    read = Reading(f"region,hospital,month,cases\n{rows}Total,,,90\nSource: us,,,\n")
    assert (read.modes, read.columns.groups) == (["hospital", "month"], ("region",))
    assert read.counts.groups[0].labels == ("n", "s")


@pytest.mark.parametrize(
    ("name", "acts_on"),
    [
        ("Camera model", "detection"),
        ("Trap type", "detection"),
        ("Detektor Gerät", "detection"),
        ("Fallentyp", "detection"),
        ("Bait", "detection"),
        ("Trap line", None),
        ("Reserve", None),
    ],
)
def test_equipment_that_differs_between_places_acts_on_detection(name, acts_on):
    modes = {"Station": names("s", 12), "Month": range(1, 9), "Species": "abc"}
    table = crossed(modes, {"Seen": 4})
    table[name] = ["xy"[int(at[1:]) % 2] for at in table["Station"]]
    read = Reading(table)
    assert read.acts_on == ({name: acts_on} if acts_on else {})
    assert read.columns.groups == (() if acts_on else (name,))


def test_covariates_by_visit_beside_counts_by_visit_make_a_row_of_each_visit():
    rows = "".join(f"s{k},{k},{k % 3},{['NA', 4][k % 2]},1,{k / 2},2.5,calm\n" for k in range(8))
    read = Reading(f"site,elev,y1,y2,y3,wind1,wind2,wind3\n{rows}")
    assert read.raw.frame.columns == ["site", "elev", "visit", "y", "wind"]
    assert read.raw.frame.row(3) == ("s1", 1, 1, 1, "0.5")
    assert any("Each visit is read as a row" in note for note in read.raw.notes)
    assert (read.modes, read.count) == (["site", "visit"], "y")
    assert read.counts.n_observed == 20
    assert "“each visit sees the same animals”" in read.found.questions[-1]
    species = Reading(f"site,sp1,sp2,sp3,pc1,pc2,pc3\n{rows.replace(',NA', ',2')}")
    assert "visit" not in species.raw.frame.columns


def test_observers_are_a_mode_where_no_other_column_names_rows():
    walks = {"band": [0, 0, 1, 1], "observer": list("abab"), "seen": [4, 3, 1, 2]}
    found = guess(RawTable.of(walks, "stakes"))
    assert [each.column for each in found.columns.modes] == ["band", "observer"]
    assert "“each observer sees the same animals”" in found.questions[-1]


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("site,coho1,coho2,coho3,cutt1,cutt2,cutt3", ["site", "species", "visit"]),
        ("siteID,coordx,coordy,count1,count2,count3,dur1,dur2,dur3", ["siteID", "visit"]),
        (",Oak1,Oak2,Oak3,Yew,Sitka,Norway,Mixed", ["row", "series"]),
        (",Sepsis.sp1,Sepsis.sp2,Sepsis.sp3,Apis,Bombus,Osmia,Aglais", ["row", "series"]),
        ("day,cases_travel,cases_household,cases_other", ["day", "series"]),
        ("habitat,dc1,dc2,dc3,dc4,Length", ["row", "dc"]),
        ("area,0-17 years,18-64 yrs,65+ years", ["area", "series"]),
        ("site,count_q1_1,count_q1_2,count_q2_1,count_q2_2", ["site", "species", "visit"]),
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
    read = Reading(f"{head}\n{rows}")
    assert read.modes == found
    assert any("histories" in note for note in read.raw.notes) == ("X10" in head)  # no months are


@pytest.mark.parametrize("stem", ["n", "v", "obs", "occ", "night", "svy"])
def test_two_numbered_columns_are_visits_with_covariates_of_their_own(stem):
    rows = "".join(
        f"s{k},{k * k % 5},{k % 3},{k % 7},{k * 0.3 % 1:.2f},{k * 0.7 % 1:.2f}\n" for k in range(30)
    )
    counts = Reading(f"site,{stem}1,{stem}2,forest,wind1,wind2\n{rows}").counts
    assert counts.shape == (30, 2)
    assert (counts.attribute_names, counts.rate_attribute_names) == (("wind",), ("forest",))


MOVING = "".join(f"a{k % 9},2021-06-0{1 + k % 7},T{k % 5}\n" for k in range(120))
AGED = "".join(f"{'AB'[k % 2]},{1 + k % 9},{18 + 7 * k % 60},{'xyz'[k % 3]}\n" for k in range(400))
GRID = "".join(f"{2600 + k % 4},{1200 + k // 4},{k % 4},{k // 4},{k * 7 % 5}\n" for k in range(20))
WEEKLY = [(a, w, (w * w + k) % 3) for k, a in enumerate("abc") for w in range(1, 11)]
FLU = "".join(f"{a},{w},{y},{w % 5},{w + 9}\n" for a, w, y in WEEKLY)
BEDS = "".join(f"{a},{w},{y},{w % 5}\n" for a, w, y in WEEKLY)
NUMBERS = "".join(f"{p},{w},{970 * w + 3 * p}\n" for p in range(5) for w in range(1, 5))


@pytest.mark.parametrize(
    ("head", "rows", "modes", "count"),
    [
        ("animal,date,trap", MOVING, ["trap", "date"], "events"),
        ("STATE,week,AGE_YRS,symptom", AGED, ["STATE", "week"], "events"),
        ("x,y,plot,week,bees", GRID, ["plot", "week"], "bees"),
        ("Country,ISO_WEEK,INF_A,INF_B,OTHER", FLU, ["Country", "ISO_WEEK", "species"], "count"),
        ("trust,week,mrsa,bed_days", BEDS, ["trust", "week"], "mrsa"),
        ("trust,week,seen,sky,distance_km", FLU, ["trust", "week"], "seen"),
        ("Ort,Woche,Fälle", NUMBERS, ["Ort", "Woche"], "Fälle"),
        ("Commune,Semaine,Cas déclarés", NUMBERS, ["Commune", "Semaine"], "Cas déclarés"),
    ],
)
def test_modes_and_the_count(head, rows, modes, count):
    read = Reading(f"{head}\n{rows}")
    assert (read.modes, read.count) == (modes, count)


def test_rows_of_counts_by_species_alone_are_numbered():
    rows = "\n".join(",".join(str(k * j % 5) for j in range(2, 9)) for k in range(9))
    read = Reading(f"Acer,Fagus,Picea,Pinus,Salix,Tilia,Ulmus\n{rows}\n")
    assert read.counts.shape == (9, 7)


def test_counties_of_one_name_in_two_states_are_two_places():
    places = [(f"State {k % 5}", f"County {k // 2 if k < 20 else k}") for k in range(40)]
    rows = "".join(
        f"{s},{c},{week},{week + k}\n" for k, (s, c) in enumerate(places) for week in (1, 2, 3)
    )
    read = Reading(f"state,county,week,cases\n{rows}")
    assert (read.counts.modes, read.counts.shape) == (("county", "week"), (40, 3))
    assert read.counts.labels[0][:2] == ("County 0, State 0", "County 0, State 1")
    assert "10 names of county occur again" in read.raw.notes[0]


@pytest.mark.parametrize("unit", ["Sample.Label", "transect"])
def test_a_list_of_distances_is_counts_by_line_and_band(unit):
    distances = [*(k * 0.73 for k in range(60)), 0, 400]
    rows = "".join(f"A,{k % 5},{10 + k % 5},{k},{d}\n" for k, d in enumerate(distances))
    read = Reading(f"Region.Label,{unit},Effort,object,distance\n{rows}A,9,12,,\n")
    assert read.counts.modes == (unit, "distance")
    assert read.counts.labels[1][:2] == ("0-5", "5-10")
    assert (read.counts.shape[0], read.counts.counts.sum()) == (6, 61)  # none from line 9
    assert "the farthest 1 are left out" in read.raw.notes[0]
    assert "from a line or from a point" in read.found.questions[-1]
    assert read.columns.exposure == "Effort"


def test_distances_of_groups_at_several_visits_of_two_species():
    rows = "".join(
        f"p{k % 4},2024-05-0{1 + k % 3},{'ab'[k % 7 > 2]},{k % 10 * 9 + 4},{1 + k % 2}\n"
        for k in range(120)
    )
    made = Reading(f"point,date,species,distance,count\n{rows}").counts
    assert made.modes == ("point", "species", "distance", "date")
    assert (made.shape, made.counts.sum()) == ((4, 2, 9, 3), 180)


def test_numbers_without_a_known_name_that_make_rows_unique_name_them():
    modes = {"site": names("s", 6), "spp": names("x"), "sampling": [1, 2, 3]}
    table = crossed(modes, {"count": 3}) | {"temp": RNG.normal(9, 2, 90).round(1)}
    assert Reading(table).modes == [*modes]


def test_sums_of_many_rows_keep_the_modes_by_which_they_differ():
    modes = {"region": names("r", 3), "sex": "fm", "age": names("a", 4), "week": [1, 2, 3]}
    table = crossed(modes | {"again": range(300)}, {"count": 3})
    del table["again"]
    assert Reading(table).modes == [*modes]


NIGHTS, TIMES = ["2021-03-01", "2021-03-02", "2021-03-03"], ["2021-03-01T05:40", "2021-03-02T23:15"]


@pytest.mark.parametrize(
    ("modes", "numbers", "count"),
    [
        ({"areaName": "abc", "date": NIGHTS},
         {"cumCasesBySpecimenDate": "running", "newCasesByDate": "count"}, "newCasesByDate"),
        ({"hospital": "abc", "month": NIGHTS}, {"hai_cases": "count", "patient_days": "of place"},
         "hai_cases"),
        ({"detector": "abc", "night": NIGHTS}, {"passes": "count", "temp": "of place"}, "passes"),
        ({"road": "abc", "month": NIGHTS}, {"AADT": "of place", "crashes": "count"}, "crashes"),
        ({"plot": "abc", "date": NIGHTS, "bee": "uvw"}, {"visits": "count"}, "visits"),
        ({"deploymentID": "abc", "eventStart": TIMES, "animal": "uv"}, {"count": "count"}, "count"),
        ({"county": "abc", "date": NIGHTS}, {"cases": "count", "fips": "of place"}, "cases"),
        ({"pond": "abc", "date": NIGHTS, "observer": "uv"}, {"egg_masses": "count"}, "egg_masses"),
        ({"codice_regione": "abc", "data": NIGHTS},
         {"deceduti": "count", "nuovi_positivi": "count"}, "nuovi_positivi"),
        ({"provincia": "abc", "fecha": NIGHTS}, {"casos": "count"}, "casos"),
        ({"municipio": "abc", "data": NIGHTS}, {"obitosNovos": "count", "casosNovos": "count"},
         "casosNovos"),
        ({"site": "abc", "passage": [1, 2, 3], "espèce": "uv"}, {"effectif": "count"}, "effectif"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_tables_that_many_have(modes, numbers, count):
    table = crossed(modes)
    n = len(table[next(iter(modes))])
    y = RNG.poisson(9, n)
    drawn = {"count": y, "running": y.cumsum(), "of place": np.arange(n) // 3 + 11}
    read = Reading(table | {name: drawn[kind] for name, kind in numbers.items()})
    assert sorted(read.modes) == sorted(modes)
    assert read.count == count
    assert not {"fips", "cumCasesBySpecimenDate", "deceduti", "obitosNovos"} & {*read.attributes}
