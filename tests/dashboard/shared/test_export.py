"""Figures in one file that opens without a network."""

import base64
import gzip
import json
import re

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.countymap.picture import county_map
from dashboard.shared.charts.export import interactive_html


def test_one_file_holds_figures_and_maps_and_asks_nobody():
    hostile = "</script><img src=x onerror=alert(1)>"
    counties = pd.DataFrame({"fips": ["06037", "17031"], "value": [0.1, 0.4]}).assign(note=hostile)
    bars = go.Figure(go.Bar(x=[1, 2], y=[hostile, "b"]))
    figure = county_map(counties, title=f"p {hostile}", hover=["note"], limits=(0.1, 1.0), log=True)
    drawn = {f"Bars {hostile}": bars, "Map": figure}
    text = interactive_html("covid", "http://localhost/covid?a=<b>", drawn).decode()
    assert len(text) < 3e6
    assert hostile not in text
    assert not re.findall(r"""(?:src|href)=["']https?://(?!localhost)""", text)
    packed = json.loads(re.search(r"const text = (.*);\n", text)[1])
    bars, counties = json.loads(gzip.decompress(base64.b85decode(packed)))["content"]
    assert bars["data"][0]["y"][1] == "b"
    assert counties.count("<path") == 3142
    assert hostile not in counties
    assert "Cook County, IL\np " in counties
    fills = re.findall(r'fill="(rgb[^"]*)"', counties)
    assert len(fills) == 2
    assert len(set(fills)) == 2


def test_a_diverging_map_keeps_its_middle():
    values = pd.DataFrame({"fips": ["06037", "17031", "48201"], "value": [-1.0, 0.0, np.nan]})
    svg = county_map(values, title="difference", limits=(-1, 1), colorscale="diverging").svg
    assert "no count" in svg
