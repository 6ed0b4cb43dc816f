"""Interactive figures as one HTML file that opens without a network; no Streamlit."""

import base64
import gzip
import json
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import plotly.graph_objects as go
import plotly.offline

from dashboard.countymap.picture import MapPicture

# Compressed, Plotly itself too: about 2 MB. Text in base 85 is smaller than in base 64.
_LOADER = """
const loaded = (async () => {{
  const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" +
    "!#$%&()*+-;<=>?@^_`{{|}}~";
  const text = {packed};
  const worth = new Uint8Array(128);
  for (let i = 0; i < 85; i++) worth[letters.charCodeAt(i)] = i;
  const bytes = new DataView(new ArrayBuffer(text.length / 5 * 4));
  for (let i = 0; i < text.length; i += 5) {{
    let number = 0;
    for (let j = i; j < i + 5; j++) number = number * 85 + worth[text.charCodeAt(j)];
    bytes.setUint32(i / 5 * 4, number);
  }}
  const packed = new Uint8Array(bytes.buffer, 0, {size});
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const {{ plotly, content }} = await new Response(stream).json();
  const script = document.createElement("script");
  script.textContent = plotly;
  document.head.append(script);
  return content;
}})();
"""


def interactive_html(title: str, link: str, figures: Mapping[str, go.Figure | MapPicture]) -> bytes:
    """Return a file with figures and maps that can be zoomed or pointed at.

    Parameters
    ----------
    title : str
    link : str
        The address of the page.
    figures : mapping of str to Figure or MapPicture
        By what they show.
    """
    drawn = [
        each.svg if isinstance(each, MapPicture) else content_of(each) for each in figures.values()
    ]
    places = "".join(
        f'<h2>{escape(name)}</h2><div id="figure-{i}"></div>' for i, name in enumerate(figures)
    )
    page = {"title": escape(title), "link": escape(link), "places": places}
    template = Template(Path(__file__).with_name("export.html").read_text("utf-8"))
    return template.substitute(page, loader=loader(drawn)).encode()


def loader(content: Any) -> str:
    """Return JavaScript that defines ``loaded``, a promise of `content`, and loads Plotly first.

    Parameters
    ----------
    content : object
        What JSON can hold.
    """
    text = json.dumps(
        {"plotly": plotly.offline.get_plotlyjs(), "content": content},
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
    )
    packed = gzip.compress(text.encode(), 9, mtime=0)
    return _LOADER.format(
        packed=json.dumps(base64.b85encode(packed, pad=True).decode()), size=len(packed)
    )


def content_of(figure: go.Figure, number: Callable[[str], float] = float) -> dict[str, Any]:
    """Return data and layout, with the room for titles of axes that pages give by themselves.

    Parameters
    ----------
    figure : Figure
    number : callable
        Reads a number that is not whole, maybe with fewer digits.
    """
    content: dict[str, Any] = json.loads(figure.to_json(), parse_float=number)
    for name, axis in content["layout"].items():
        if name.startswith(("xaxis", "yaxis")):
            axis.setdefault("automargin", True)
    return content
