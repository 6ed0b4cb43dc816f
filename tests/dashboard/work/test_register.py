"""What is noted, and logged, of jobs that end."""

from __future__ import annotations

import json
import logging

from dashboard.logs import Lines
from dashboard.work.register import Register


def test_the_end_of_each_order_is_a_line_without_what_users_brought(fit_order, caplog):
    register, order = Register(), fit_order()
    with caplog.at_level(logging.INFO):
        for state in ("done", "failed"):
            job = register.add(order, "ann-fit")
            job.start(object())
            register.end(job, state, "county 'Adams' must have a count")
        register.cancel(register.add(order, "bob-fit"))
    lines = [json.loads(Lines().format(record)) for record in caplog.records]
    assert [line["state"] for line in lines] == ["done", "failed", "cancelled"]
    for line in lines:
        assert (line["message"], line["order"], line["lost"]) == ("an order ended", "FitOrder", 0)
        assert 0 <= line["seconds"] < 60
        assert 0 <= line["waited"] < 60
        assert not {"ann", "bob", "Adams", order.key} & set(json.dumps(line).split('"'))
        assert "Adams" not in json.dumps(line)
    assert register.ended == {"done": 1, "failed": 1, "cancelled": 1}
