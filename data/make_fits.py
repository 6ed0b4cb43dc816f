"""Fit the simulated twins and the lessons as pages do at first, and store what comes along.

Run ``python data/make_fits.py`` (``make fits``) where uncletc is installed, after every change of
:data:`uncletc.RESULTS`, of the twins or of the default settings. It takes about two minutes.

A file is named after the key of its order, so that a fit of other settings or another program is
never found; old files are removed. To be small, draws are rounded to 1/32 in the logarithm, which
changes widths of intervals by less than 2 %, and estimated effects to 1e-5; no page shows the p of
single entries that is rounded to 1/1024.
"""

import io
import zipfile
from typing import Any

import numpy as np

from dashboard.lab.controls import choices_of
from dashboard.lab.sheets import opened_by_link
from dashboard.lab.steps import LESSONS, Lesson
from dashboard.lab.view import LEVERS
from dashboard.shared.sidebar.model import Family, at_first
from dashboard.work.orders import FitOrder, Order
from dashboard.work.results import SHIPPED
from uncletc import datasets

TWINS: tuple[Family, ...] = ("covid", "ppi")
_STEPS = {
    "draws/factors": 2**5,
    "draws/tables": 2**5,
    "draws/coefficients": 2**8,
    "mode_effects/tables": 2**16,
    "observed_detection": 2**10,
}


def default_order(family: Family) -> FitOrder:
    """Return the order of the fit with which the pages of a twin open."""
    dataset = datasets.load(f"{family}-twin")
    model, settings = at_first(dataset, family)
    return FitOrder(model.apply(dataset).counts, settings)


def first_orders(lesson: Lesson) -> list[Order]:
    """Return what must be fitted for a lesson as its link opens it, and for each of its levers."""
    step, start = opened_by_link(lesson)
    levers = LEVERS if "lever" in step.controls else [start["lever"]]
    each = (step.orders(choices_of(step, start | {"lever": lever})) for lever in levers)
    return list(dict.fromkeys(order for orders in each for order in orders))


def small(data: bytes) -> bytes:
    """Return the file of a fit with rounded draws, compressed better and more slowly."""
    file = io.BytesIO()
    with (
        np.load(io.BytesIO(data)) as arrays,
        zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as packed,
    ):
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, np.asarray(_rounded(name, array), order="F"))
            packed.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_LZMA)
    return file.getvalue()


def _rounded(name: str, array: Any) -> Any:
    for start, steps in _STEPS.items():
        if name.startswith(start):
            kind = array.dtype if start.startswith("draws") else np.float32
            return (np.round(array.astype(float) * steps) / steps).astype(kind)
    return array


def stored(order: Order) -> bytes:
    """Return the file of the result of an order."""
    data = order.encode(order.work(lambda *_, **__: None))
    return small(data) if isinstance(order, FitOrder) else data


def main() -> None:
    """Fit and write all."""
    orders: list[Order] = [default_order(family) for family in TWINS]
    orders += [order for lesson in LESSONS for order in first_orders(lesson)]
    files = {f"{order.key}{order.suffix}": stored(order) for order in orders}
    for old in SHIPPED.iterdir():
        old.unlink()
    for name, data in files.items():
        (SHIPPED / name).write_bytes(data)


if __name__ == "__main__":
    main()
