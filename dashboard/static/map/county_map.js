// A map of US counties: colours, selection, tip. Zoom, search, colours and saving are in the files
// beside this one, which are asked for under this file's own version.

const version = new URL(import.meta.url).search;
const load = (name) => import(`./${name}.js${version}`);
const [paint, { View }, { Search }, { savePng }] = await Promise.all(
  ["paint", "view", "search", "save"].map(load),
);
const NS = "http://www.w3.org/2000/svg";
const AWAY = 14; // pixels between the pointer and its tip
const ZOOM = 1.6;
const NEAR = 4; // zoom at a county that was named
const maps = new WeakMap(); // by the element that a map stands in
let loading; // the shapes, once for all maps

// Called at first and whenever something changed; returns what to do at the end.
export default function show({ parentElement, data, setStateValue }, failed) {
  const frame = parentElement.querySelector(".map");
  if (!maps.has(frame)) maps.set(frame, new CountyMap(frame));
  const map = maps.get(frame);
  map.draw(data, setStateValue).catch(failed);
  return () => map.remove();
}

function loadShapes(url) {
  loading ??= fetch(url).then((answer) => {
    if (!answer.ok) throw new Error(`${answer.status} for the county shapes`);
    return answer.json();
  });
  loading.catch(() => (loading = undefined));
  return loading;
}

class CountyMap {
  constructor(frame) {
    this.frame = frame;
    this.svg = this.find(".canvas");
    this.tip = this.find(".tip");
    this.sent = 0; // when the reader last chose
    this.chosen = null;
  }

  find(selector) {
    return this.frame.querySelector(selector);
  }

  async draw(data, setStateValue) {
    this.data = data;
    this.notify = setStateValue;
    const [shapes, picture] = await Promise.all([
      loadShapes(new URL(data.shapes, document.baseURI)),
      this.packed === data.picture ? this.sentPicture : paint.unpack(data.picture),
    ]);
    if (this.removed || this.data !== data) return; // a later call draws
    this.frame.setAttribute("aria-label", data.alt);
    this.svg.setAttribute("aria-label", data.alt);
    this.svg.style.maxHeight = `min(${data.height}px, max(15rem, 100vh - 29rem))`;
    const first = !this.shapes;
    if (first) this.build(shapes);
    [this.sentPicture, this.packed] = [picture, data.picture];
    this.colour();
    this.lookAt(data.focus);
    // A county of the address is shown as one found by its name, unless the reader moved the map.
    const near = first && this.view.fresh && !data.focus.length ? NEAR : 1;
    if (data.seen >= this.sent) this.choose(this.places.get(data.selected) ?? null, near);
  }

  // Zoom to the counties of some states, where they are others than before.
  lookAt(states) {
    if ((this.view.at.states ?? "") === `${states}`) return;
    const { fips, x, y } = this.shapes;
    const inside = fips.flatMap((code, i) => (states.includes(code.slice(0, 2)) ? [i] : []));
    this.view.fit(...[x, y].map((all) => inside.map((i) => all[i])));
    this.view.at.states = `${states}`; // a map drawn again stays where it was moved to
  }

  remove() {
    this.removed = true;
    this.view?.remove();
    maps.delete(this.frame);
  }

  build(shapes) {
    this.shapes = shapes;
    this.places = new Map(shapes.fips.map((code, i) => [code, i]));
    const { svg } = this;
    svg.setAttribute("viewBox", `0 0 ${shapes.width} ${shapes.height}`);
    svg.replaceChildren(element("defs"));
    this.world = svg.appendChild(element("g", { class: "world", "stroke-linejoin": "round" }));
    this.counties = element("g", { class: "counties", fill: "none", "fill-rule": "evenodd" });
    this.paths = shapes.paths.map((d, i) => {
      const path = element("path", { d, "data-fips": shapes.fips[i] });
      path.county = i;
      return path;
    });
    this.counties.append(...this.paths);
    const layer = (name, more) =>
      element("path", { class: name, fill: "none", "pointer-events": "none", ...more });
    this.layers = {
      hatch: layer("hatch", { "fill-rule": "evenodd", "stroke-opacity": 0.4 }),
      dots: layer("dots", { "fill-rule": "evenodd" }),
      borders: layer("borders", { d: shapes.borders, "stroke-opacity": 0.55 }),
      halo: layer("halo"),
      chosen: layer("chosen"),
      box: layer("box"),
    };
    this.world.append(this.counties, ...Object.values(this.layers));
    this.find(".wait").hidden = true;
    this.view = new View(svg, this.world, this.data.key, shapes, {
      onMove: (unit) => {
        this.scaled(unit);
        this.tip.hidden = true;
      },
      onClick: (event) => this.clicked(event),
      onBox: this.data.boxes ? (...box) => this.boxed(...box) : null,
    });
    this.search = new Search(this.find(".search"), shapes, {
      id: this.data.key,
      onChoose: (i) => this.pick(i, { near: NEAR }),
      onClear: () => this.pick(null),
    });
    svg.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch") this.point(event.target.county, event);
    });
    svg.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.find(".in").onclick = () => this.view.zoom(ZOOM);
    this.find(".out").onclick = () => this.view.zoom(1 / ZOOM);
    this.find(".whole").onclick = () => this.view.reset();
    this.find(".png").onclick = () => savePng(svg, this.picture, paint, this.colors(), "county-map");
  }

  colors() {
    const style = getComputedStyle(this.frame);
    const value = (name, other) => style.getPropertyValue(name).trim() || other;
    return {
      text: value("--st-text-color", "#222"),
      paper: value("--st-background-color", "#fff"),
    };
  }

  // Give every county its colour, in the theme of the page.
  colour() {
    const { text, paper } = this.colors();
    const shown = `${this.packed} ${text} ${paper}`;
    if (shown === this.shown) return;
    this.shown = shown;
    const sent = this.sentPicture;
    const picture = (this.picture = { ...sent, colors: paint.aboveGround(sent.colors, paper) });
    const ramp = paint.ramp(picture.colors);
    this.paths.forEach((path, i) => {
      const number = picture.numbers[i];
      const fill = number === null ? "transparent" : ramp[paint.levelOf(number, picture)];
      if (path.getAttribute("fill") !== fill) path.setAttribute("fill", fill);
    });
    this.tip.hidden = true;
    this.search.people = picture.people;
    this.find(".legend").innerHTML = paint.legend(picture);
    this.find(".remark").textContent = picture.remark;
    this.find(".remark").hidden = !picture.remark;
    const outlines = (counties) => counties.map((i) => this.shapes.paths[i]).join("");
    const without = picture.numbers.flatMap((number, i) => (number === null ? [i] : []));
    const { hatch, dots, borders, halo, chosen } = this.layers;
    hatch.setAttribute("d", outlines(without));
    dots.setAttribute("d", outlines(picture.uncertain));
    hatch.setAttribute("fill", "url(#hatch)");
    dots.setAttribute("fill", "url(#dots)");
    for (const lines of [hatch, borders, chosen, this.layers.box]) lines.setAttribute("stroke", text);
    for (const lines of [this.counties, halo]) lines.setAttribute("stroke", paper);
    this.unit = null; // patterns are in the colour of text
    this.view.apply();
  }

  // Keep lines and patterns as wide on the screen as they are; `unit` is map units per pixel.
  scaled(unit) {
    if (unit === this.unit) return;
    this.unit = unit;
    this.svg.querySelector("defs").innerHTML = paint.patterns(6 * unit, this.colors().text);
    const widths = { borders: 0.9, hatch: 0.5, halo: 5, chosen: 2.5, box: 1.5 };
    for (const [name, width] of Object.entries(widths))
      this.layers[name].setAttribute("stroke-width", width * unit);
    this.counties.setAttribute("stroke-width", 0.35 * unit);
  }

  // Show a county's name and numbers beside the pointer.
  point(i, { clientX, clientY }) {
    const { tip, svg } = this;
    tip.hidden = i === undefined;
    if (tip.hidden) return;
    const [name, ...lines] = paint.describe(this.picture, this.shapes, i);
    tip.replaceChildren(textIn("b", name), ...lines.map((line) => textIn("div", line)));
    const { left, top } = svg.getBoundingClientRect();
    const [x, y] = [clientX - left, clientY - top];
    const beyond = (at, size, room) => (at + AWAY + size > room ? at - AWAY - size : at + AWAY);
    tip.style.left = `${Math.max(beyond(x, tip.offsetWidth, svg.clientWidth), 0)}px`;
    tip.style.top = `${Math.max(beyond(y, tip.offsetHeight, svg.clientHeight), 0)}px`;
  }

  clicked(event) {
    const i = event.target.county;
    if (i === undefined) return;
    this.pick(i);
    this.point(i, event);
  }

  // The reader draws a box from one corner to another, and the counties inside are chosen.
  boxed([x, y], [right, bottom], done) {
    const d = done ? "" : `M${x} ${y}H${right}V${bottom}H${x}z`;
    this.layers.box.setAttribute("d", d);
    this.tip.hidden = true;
    if (!done) return;
    const box = [Math.min(x, right), Math.min(y, bottom), Math.max(x, right), Math.max(y, bottom)];
    this.notify("box", { box, at: Date.now() });
  }

  // The reader chooses a county, or none.
  pick(i, { near } = {}) {
    if (i !== null && near) this.view.show(this.shapes.x[i], this.shapes.y[i], near);
    if (i === this.chosen) return;
    this.choose(i);
    this.find(".live").textContent =
      i === null ? "" : paint.describe(this.picture, this.shapes, i).join(". ");
    this.sent = Date.now();
    this.notify("chosen", { fips: i === null ? null : this.shapes.fips[i], at: this.sent });
  }

  choose(i, near = 0) {
    const changed = i !== this.chosen;
    this.chosen = i;
    this.search.name(i);
    const d = i === null ? "" : this.shapes.paths[i];
    this.layers.halo.setAttribute("d", d);
    this.layers.chosen.setAttribute("d", d);
    this.layers.chosen.setAttribute("data-fips", i === null ? "" : this.shapes.fips[i]);
    if (near && changed && i !== null) this.view.show(this.shapes.x[i], this.shapes.y[i], near);
  }
}

function element(name, attributes = {}) {
  const found = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  return found;
}

function textIn(name, text) {
  return Object.assign(document.createElement(name), { textContent: text });
}
