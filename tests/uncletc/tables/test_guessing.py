"""Roles that are guessed, and reasons for them, on small tables of many shapes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from uncletc.tables import Guess, RawTable, build, guess

RNG = np.random.default_rng(7)


def raw(**columns) -> RawTable:
    return RawTable.of({name.replace("__", " "): values for name, values in columns.items()}, "t")


def grid(**levels) -> dict[str, list]:
    rows = list(itertools.product(*levels.values()))
    return {name: [row[k] for row in rows] for k, name in enumerate(levels)}


def counts(n: int, mean: float = 3.0) -> list[int]:
    return RNG.negative_binomial(1, 1 / (1 + mean), n).tolist()


def names(*stems: str, n: int = 5) -> list[str]:
    return [f"{stem} {k + 1}" for stem in stems for k in range(n)]


def modes(found: Guess) -> list[str]:
    columns = found.columns
    across = [columns.across_mode.column] if columns.across_mode else []
    return [each.column for each in columns.modes] + across


def visits() -> dict[str, list]:
    base = grid(plant=names("plant", n=6), pollinator=names("bee", n=8), visit=list(range(1, 6)))
    return base | {"n_interactions": counts(240), "temperature": RNG.normal(15, 4, 240).tolist()}


class TestLong:
    def test_the_count_is_found_by_its_name_beside_a_visit(self):
        found = guess(raw(**visits()))
        assert modes(found) == ["plant", "pollinator", "visit"]
        assert found.columns.count == "n_interactions"
        assert [each.column for each in found.columns.attributes] == ["temperature"]
        assert set(found.reasons) == set(visits())

    @pytest.mark.parametrize(
        "name",
        [
            "count",
            "n",
            "Number of bees",
            "cases",
            "deaths",
            "abundance",
            "individuals",
            "seen",
            "detected",
            "NO_INT",
            "totalTests",
            "claims",
            "Captures",
        ],
    )
    def test_names_of_counts(self, name):
        base = grid(site=names("s"), week=[1, 2, 3, 4])
        assert guess(raw(**base, **{name: counts(20)})).columns.count == name

    def test_a_number_of_a_plot_is_no_count(self):
        base = grid(plot_no=[1, 2, 3, 4], week=[1, 2, 3])
        found = guess(raw(**base, beetles=counts(12)))
        assert (modes(found), found.columns.count) == (["plot_no", "week"], "beetles")

    def test_without_a_name_the_count_is_what_varies_like_one_and_that_is_asked(self):
        base = grid(a=names("x", n=6), b=names("y", n=6))
        found = guess(raw(**base, q=counts(36)))
        assert (modes(found), found.columns.count) == (["a", "b"], "q")
        assert "Is q the count?" in found.questions[0]

    def test_columns_that_could_be_the_count_as_well_are_named(self):
        base = grid(state=names("s", n=6), day=[1, 2, 3, 4])
        found = guess(raw(**base, cases=counts(24), deaths=counts(24, 1)))
        assert "Could be the count as well: deaths" in found.reasons["cases"]
        assert found.reasons["deaths"].startswith("Left out")

    def test_a_table_without_counts_says_so(self):
        found = guess(raw(site=["a", "b", "a", "b"], temp=[1.5, 2.5, 3.5, 0.1]))
        assert found.columns.count == ""
        assert "Which column holds the counts?" in found.questions[0]

    def test_x_and_y_are_places(self):
        base = grid(x=[1, 2, 3, 4], y=[1, 2, 3, 4], t=[1, 2, 3])
        found = guess(raw(**base, n=counts(48)))
        assert (set(modes(found)), found.columns.count) == ({"x", "y", "t"}, "n")

    def test_a_count_that_is_kept_secret_here_and_there_is_the_count(self):
        base = grid(hospital=names("h"), week=[1, 2, 3, 4])
        admissions = [str(each) for each in counts(19)] + ["<5"]
        assert guess(raw(**base, admissions=admissions)).columns.count == "admissions"

    def test_codes_beside_names_are_left_out(self):
        base = grid(site=names("site"), species=names("sp"))
        codes = {"site_code": [each[-1] + "X" for each in base["site"]]}
        found = guess(raw(**codes, **base, seen=counts(25)))
        assert modes(found) == ["site", "species"]
        assert found.reasons["site_code"].startswith("Left out")

    def test_a_date_takes_the_place_of_its_year(self):
        days = [f"{2020 + k}-06-{1 + k:02d}" for k in range(4)]
        base = grid(site=names("s"), date=days)
        found = guess(raw(**base, year=[d[:4] for d in base["date"]], seen=counts(20)))
        assert modes(found) == ["site", "date"]

    def test_four_modes(self):
        base = grid(region=["n", "s"], species=names("sp"), age=["young", "old"], week=[1, 2, 3])
        found = guess(raw(**base, count=counts(60)))
        assert modes(found) == ["region", "species", "age", "week"]

    def test_registers_in_other_languages(self):
        base = grid(Bundesland=["BY", "HE"], Altersgruppe=["A00", "A15"], Geschlecht=["M", "W"])
        base = {name: values * 5 for name, values in base.items()}
        day = [f"2020-03-{1 + k // 8:02d}" for k in range(40)]
        found = guess(raw(**base, Meldedatum=day, AnzahlFall=counts(40)))
        assert modes(found) == ["Bundesland", "Altersgruppe", "Geschlecht", "Meldedatum"]
        base = grid(municipio=names("m"), semana_epi=[f"2020-W{k:02d}" for k in range(1, 9)])
        people = [1e5 * (1 + k // 8) for k in range(40)]
        found = guess(raw(**base, casos=counts(40), populacao=people)).columns
        assert (found.count, found.exposure) == ("casos", "populacao")

    def test_two_texts_that_only_together_name_rows_are_modes(self):
        base = grid(site=names("s", n=4), zzz=["u", "v", "w"], qqq=["k", "l", "m"], week=[1, 2, 3])
        assert len(modes(guess(raw(**base, seen=counts(108))))) == 4

    def test_seen_or_not_is_a_count(self):
        base = grid(site=names("s"), visit=[1, 2, 3, 4])
        found = guess(raw(**base, detected=["TRUE", "FALSE"] * 10))
        assert found.columns.count == "detected"
        assert build(
            raw(**base, detected=["TRUE", "FALSE"] * 10), found.columns
        ).counts.counts.max()

    def test_yes_and_no_and_numbers_of_observers_are_attributes(self):
        base = grid(site=names("s"), visit=[1, 2, 3, 4])
        more = {"n_observers": [1, 2] * 10, "holiday": ["yes", "no"] * 10}
        found = guess(raw(**base, seen=counts(20), **more)).columns
        assert {each.column for each in found.attributes} == set(more)

    def test_running_totals_rates_and_ranges_are_left_out_with_a_reason(self):
        base = grid(site=names("s"), week=[1, 2, 3, 4])
        more = {"cum_cases": list(range(20)), "prevalence": RNG.random(20).tolist()}
        more["abundance"] = ["1-5", "6-20"] * 10
        found = guess(raw(**base, cases=counts(20), **more))
        assert found.columns.attributes == ()
        for name, said in zip(more, ("running total", "a rate", "ranges"), strict=True):
            assert said in found.reasons[name]

    def test_row_numbers_and_remarks_are_left_out(self):
        base = grid(site=names("s"), week=[1, 2, 3, 4])
        notes = [f"remark {k}" for k in range(20)]
        found = guess(raw(id=list(range(20)), **base, seen=counts(20), notes=notes))
        assert (modes(found), found.columns.count) == (["site", "week"], "seen")
        assert "numbers" in found.reasons["id"]

    def test_exposure_and_known_detection_are_told_by_name_alone(self):
        base = grid(county=names("c"), week=[1, 2, 3, 4])
        sizes = [100.0 * (1 + k // 4) for k in range(20)]
        more = {"population": sizes, "known_p": [0.5] + [None] * 19, "size": sizes}
        found = guess(raw(**base, cases=counts(20), **more)).columns
        assert (found.exposure, found.known_detection) == ("population", "known_p")
        assert [each.column for each in found.attributes] == ["size"]

    def test_degrees_are_where_places_lie(self):
        base = grid(site=names("s"), week=[1, 2, 3, 4])
        north = [40 + k // 4 for k in range(20)]
        found = guess(raw(**base, seen=counts(20), lat=north, lon=[-n for n in north])).columns
        assert (found.latitude, found.longitude) == ("lat", "lon")

    def test_degrees_are_modes_where_nothing_else_names_places(self):
        n = 400
        found = guess(
            raw(
                latitude=RNG.uniform(40, 50, n).tolist(),
                longitude=RNG.uniform(5, 15, n).tolist(),
                species=[f"sp {k % 3}" for k in range(n)],
                count=counts(n),
            )
        )
        assert modes(found) == ["latitude", "longitude", "species"]
        assert found.columns.modes[0].bins == 20

    def test_text_of_how_counting_was_done_is_a_category(self):
        base = grid(site=names("s"), week=[1, 2, 3, 4])
        weather = [["sun", "cloud", "rain"][k % 3] for k in range(20)]
        other = [["u", "v", "w"][k % 3] for k in range(20)]
        found = guess(raw(**base, seen=counts(20), weather=weather, kolor=other))
        (attribute,) = found.columns.attributes
        assert (attribute.column, attribute.category) == ("weather", True)
        assert "take it as a category" in found.reasons["kolor"]

    def test_rows_that_repeat_are_asked_about(self):
        base = grid(site=names("s"), week=[1, 2, 3, 4, 4])
        found = guess(raw(**base, seen=counts(25)))
        assert found.columns.duplicates == "sum"
        assert any("another row names too" in each for each in found.questions)

    def test_a_list_without_zeros_is_asked_about(self):
        base = grid(site=names("s"), week=[1, 2, 3, 4])
        found = guess(raw(**base, seen=[1 + c for c in counts(20)]))
        assert any("nobody looked" in each for each in found.questions)

    def test_a_rate_made_of_the_count_is_no_attribute(self):
        base = grid(state=names("s"), week=[1, 2, 3, 4])
        found = guess(raw(**base, claims=counts(20), claims_rate=RNG.random(20).tolist()))
        assert found.columns.attributes == ()
        assert "made of the counts" in found.reasons["claims_rate"]

    def test_many_dates_are_taken_by_week(self):
        days = np.arange("2020-01-01", "2022-01-01", dtype="datetime64[D]").astype(str).tolist()
        base = grid(site=["a", "b"], date=days)
        (_, time) = guess(raw(**base, seen=counts(len(base["date"])))).columns.modes
        assert (time.column, time.step) == ("date", "week")

    def test_thousands_of_levels_keep_the_most_active(self):
        n = 9000
        found = guess(
            raw(
                user=[f"u{k % 4500}" for k in range(n)],
                item=[f"i{k // 4500}" for k in range(n)],
                clicks=counts(n),
            )
        )
        assert found.columns.modes[0].most == 1000
        assert "1,000 with most counted events" in found.reasons["user"]


class TestWide:
    def test_a_column_per_species(self):
        species = {
            f"Apis {stem}": counts(12) for stem in ["mellifera", "dorsata", "cerana", "florea"]
        }
        found = guess(raw(**{"site": names("s", n=12)}, **species))
        assert modes(found) == ["site", "species"]
        assert found.columns.across == tuple(species)
        assert all(name in found.reasons for name in species)

    def test_thirty_counts_and_eight_attributes(self):
        columns = {"plot": names("p", n=20)}
        columns |= {f"sp_{stem}": counts(20) for stem in "abcdefghijklmnopqrstuvwxyz"}
        columns |= {"wind": RNG.random(20).tolist(), "elevation": RNG.integers(0, 900, 20).tolist()}
        found = guess(raw(**columns))
        assert len(found.columns.across) == 26
        assert [each.column for each in found.columns.attributes] == ["wind", "elevation"]

    def test_a_grid_of_sites_and_dates(self):
        days = {f"2024-05-{day:02d}": counts(9) for day in range(1, 15)}
        found = guess(raw(site=names("s", n=9), **days))
        assert modes(found) == ["site", "date"]
        assert build(raw(site=names("s", n=9), **days), found.columns).counts.shape == (9, 14)

    @pytest.mark.parametrize("stem", ["week", "week_", "visit ", "y."])
    def test_columns_with_numbers(self, stem):
        found = guess(raw(site=names("s", n=9), **{f"{stem}{k}": counts(9) for k in range(1, 6)}))
        assert len(found.columns.across) == 5
        assert modes(found) == ["site", "visit" if stem == "y." else stem.strip(" _.")]

    def test_names_of_rows_and_sums_of_rows_are_no_counts(self):
        bees = {f"Bombus_{each}": counts(8) for each in "abcdef"}
        total = [sum(row) for row in zip(*bees.values(), strict=True)]
        found = guess(raw(**{"column 1": names("plant", n=8)}, **bees, Total=total))
        assert found.columns.across == tuple(bees)
        assert [each.column for each in found.columns.modes] == ["column 1"]
        assert "sum of the counts" in found.reasons["Total"]

    def test_weather_of_each_visit_is_left_out_with_a_reason(self):
        visits = {f"y.{k}": counts(9) for k in (1, 2, 3)}
        weather = {f"wind.{k}": RNG.random(9).round(2).tolist() for k in (1, 2, 3)}
        found = guess(raw(site=names("s", n=9), **visits, **weather))
        assert found.columns.across == tuple(visits)
        assert found.columns.attributes == ()
        assert "one column for each visit" in found.reasons["wind.2"]

    def test_years_as_columns_beside_species(self):
        years = {str(year): counts(30) for year in range(2018, 2024)}
        base = grid(site=names("s", n=6), species=names("sp"))
        found = guess(raw(**base, **years))
        assert modes(found) == ["site", "species", "year"]

    def test_many_count_columns_that_are_named_so_are_no_wide_table(self):
        base = grid(state=names("s", n=6), week=[1, 2, 3, 4])
        named = {f"{what}_count": counts(24) for what in ("deaths", "cases", "tests", "icu")}
        found = guess(raw(**base, **named))
        assert found.columns.across == ()
        assert found.columns.count in named
