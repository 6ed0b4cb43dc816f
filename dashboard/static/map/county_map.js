// A map of US counties: colours, selection, keyboard, tip. Zoom, search, playing and saving are
// in the files beside this one, which are asked for under this file's own version.

const version = new URL(import.meta.url).search;
const load = (name) => import(`./${name}.js${version}`);
const [paint, save] = await Promise.all(["paint", "save"].map(load));
const [{ View }, { Search }, { Play, levelsFrom }, { Tip }, { neighbour, nearest }] =
  await Promise.all(["view", "search", "play", "tip", "neighbour"].map(load));
const NS = "http://www.w3.org/2000/svg";
const maps = new WeakMap(); // by the element that a map stands in
let loading; // the shapes, once for all maps

// Called by Streamlit at first and whenever something changed; returns what to do at the end.
export default function show({ parentElement, data, setStateValue }) {
  const frame = parentElement.querySelector(".map");
  if (!maps.has(frame)) maps.set(frame, new CountyMap(frame));
  const map = maps.get(frame);
  map.update(data, setStateValue).catch((error) => map.fail(error));
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
    this.tip = new Tip(this.find(".tip"), this.svg);
    this.sent = 0; // when the reader last chose
    this.chosen = this.cursor = null;
  }

  find(selector) {
    return this.frame.querySelector(selector);
  }

  // One drawing at a time, and then the last one asked for: a page may ask faster than it goes.
  update(data, setStateValue) {
    this.data = data;
    this.notify = setStateValue;
    this.waiting = true;
    this.work ??= this.drawAll().finally(() => (this.work = null));
    return this.work;
  }

  async drawAll() {
    while (this.waiting && !this.removed) {
      this.waiting = false;
      await this.draw(this.data);
    }
  }

  async draw(data) {
    const [shapes, picture, frames] = await Promise.all([
      loadShapes(new URL(data.shapes, document.baseURI)),
      this.packed === data.picture ? this.picture : paint.unpack(data.picture),
      data.play?.frames ? this.unpackFrames(data.play.frames) : null,
    ]);
    if (this.removed) return;
    this.frame.ariaLabel = this.svg.ariaLabel = data.alt;
    this.svg.style.maxHeight = `min(${data.height}px, max(15rem, 100vh - 29rem))`;
    if (!this.shapes) this.build(shapes);
    const { paper } = this.colors();
    if (this.packed !== data.picture || this.paper !== paper)
      this.setPicture({ ...picture, colors: paint.aboveGround(picture.colors, paper) }, data.picture);
    this.paper = paper;
    if (data.seen >= this.sent) this.choose(this.index(data.selected), { show: true });
    this.play.update(data.play, frames);
    this.colour();
  }

  async unpackFrames(packed) {
    if (packed !== this.packedFrames) {
      const frames = await paint.unpack(packed);
      const changes = new Uint8Array(await paint.inflate(frames.changes).arrayBuffer());
      this.frames = { ...frames, levels: levelsFrom(changes, frames.length) };
      this.packedFrames = packed;
    }
    return this.frames;
  }

  fail(error) {
    this.find(".wait").hidden = false;
    this.find(".wait").textContent = `The map cannot be drawn (${error.message}). Reload the page.`;
  }

  remove() {
    this.removed = true;
    this.view?.remove();
    this.play?.halt();
    maps.delete(this.frame);
  }

  index(fips) {
    return fips === null ? null : (this.places.get(fips) ?? null);
  }

  build(shapes) {
    this.shapes = shapes;
    this.places = new Map(shapes.fips.map((code, i) => [code, i]));
    const { svg } = this;
    svg.setAttribute("viewBox", `0 0 ${shapes.width} ${shapes.height}`);
    svg.replaceChildren(element("defs"));
    this.world = svg.appendChild(element("g", { class: "world", "stroke-linejoin": "round" }));
    const counties = element("g", { class: "counties", fill: "none", "fill-rule": "evenodd" });
    this.paths = shapes.paths.map((d, i) => {
      const path = element("path", { d, "data-fips": shapes.fips[i] });
      path.county = i;
      return path;
    });
    counties.append(...this.paths);
    const layer = (name, more) =>
      element("path", { class: name, fill: "none", "pointer-events": "none", ...more });
    this.layers = {
      hatch: layer("hatch", { "fill-rule": "evenodd" }),
      dots: layer("dots", { "fill-rule": "evenodd" }),
      borders: layer("borders", { d: shapes.borders }),
      halo: layer("halo"),
      chosen: layer("chosen"),
      cursor: layer("cursor"),
    };
    this.world.append(counties, ...Object.values(this.layers));
    this.find(".wait").hidden = true;
    this.view = new View(svg, this.world, this.data.key, shapes, {
      onMove: (unit) => {
        this.scaled(unit);
        this.tip.hide();
      },
      onClick: (event) => this.clicked(event),
    });
    this.search = new Search(this.find(".search"), shapes, {
      id: this.data.key,
      onChoose: (i) => this.pick(i, { near: 4 }),
      onClear: () => this.pick(null),
    });
    this.play = new Play(this.find(".steps"), {
      onStep: () => this.colour(),
      onAsk: (step) => this.notify("play", { on: true, step }),
      onPause: (step) => this.notify("play", { on: false, step }),
    });
    this.listen();
  }

  listen() {
    const { svg } = this;
    svg.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch") this.point(event.target.county, event);
    });
    svg.addEventListener("pointerleave", () => this.tip.hide());
    svg.addEventListener("keydown", (event) => this.press(event));
    svg.addEventListener("blur", () => {
      this.move(null);
      this.tip.hide();
    });
    this.find(".in").onclick = () => this.view.zoom(1.6);
    this.find(".out").onclick = () => this.view.zoom(1 / 1.6);
    this.find(".whole").onclick = () => this.view.reset();
    const drawn = () =>
      save.picture(svg, { ...this.picture, heading: this.heading() }, paint, this.colors());
    this.find(".svg").onclick = () => save.saveSvg(drawn(), "county-map");
    this.find(".png").onclick = () => save.savePng(drawn(), "county-map");
  }

  heading() {
    const { play, picture } = this;
    return play.playing ? `${picture.title}, ${play.steps.labels[play.step]}` : picture.title;
  }

  colors() {
    const style = getComputedStyle(this.frame);
    const value = (name, other) => style.getPropertyValue(name).trim() || other;
    return {
      text: value("--st-text-color", "#222"),
      paper: value("--st-background-color", "#fff"),
    };
  }

  setPicture(picture, packed) {
    this.picture = picture;
    this.packed = packed;
    this.search.people = picture.people;
    this.tip.hide();
    this.ramp = paint.ramp(picture.colors);
    this.ramp[paint.NONE] = "transparent";
    this.find(".legend").innerHTML = paint.legend(picture);
    this.find(".remark").textContent = picture.remark;
    this.find(".remark").hidden = !picture.remark;
    const outlines = (counties) => counties.map((i) => this.shapes.paths[i]).join("");
    const without = picture.numbers.flatMap((number, i) => (number === null ? [i] : []));
    this.layers.hatch.setAttribute("d", outlines(without));
    this.layers.dots.setAttribute("d", outlines(picture.uncertain));
  }

  // Give every county its colour: of the step that is played, or of its number.
  colour() {
    const { picture, play, paths } = this;
    const levels = play.playing
      ? play.levels()
      : picture.numbers.map((n) => (n === null ? paint.NONE : paint.levelOf(n, picture)));
    levels.forEach((level, i) => {
      if (paths[i].level === level && paths[i].ramp === this.ramp) return;
      paths[i].level = level;
      paths[i].ramp = this.ramp;
      paths[i].setAttribute("fill", this.ramp[level]);
    });
    this.layers.dots.style.display = play.playing ? "none" : "";
    const { text, paper } = this.colors();
    this.ink = text;
    this.world.querySelector(".counties").setAttribute("stroke", paper);
    this.layers.hatch.setAttribute("fill", "url(#hatch)");
    this.layers.hatch.setAttribute("stroke", text);
    this.layers.hatch.setAttribute("stroke-opacity", 0.4);
    this.layers.dots.setAttribute("fill", "url(#dots)");
    this.layers.borders.setAttribute("stroke", text);
    this.layers.borders.setAttribute("stroke-opacity", 0.55);
    this.layers.halo.setAttribute("stroke", paper);
    this.layers.chosen.setAttribute("stroke", text);
    this.layers.cursor.setAttribute("stroke", text);
    this.scaled(this.view.unit / this.view.at.k);
  }

  // Keep lines and patterns as wide on the screen as they are; `unit` is map units per pixel.
  scaled(unit) {
    const step = 6 * unit;
    const drawn = `${step} ${this.ink}`;
    if (this.drawn !== drawn)
      this.svg.querySelector("defs").innerHTML = paint.patterns(step, this.ink ?? "gray");
    this.drawn = drawn;
    const widths = { borders: 0.9, hatch: 0.5, halo: 5, chosen: 2.5, cursor: 2.5 };
    for (const [name, width] of Object.entries(widths))
      this.layers[name].setAttribute("stroke-width", width * unit);
    this.layers.cursor.setAttribute("stroke-dasharray", `${4 * unit} ${3 * unit}`);
    this.world.querySelector(".counties").setAttribute("stroke-width", 0.35 * unit);
  }

  point(i, { clientX, clientY }) {
    if (i === undefined) return this.tip.hide();
    const { left, top } = this.svg.getBoundingClientRect();
    return this.tip.show(this.describe(i), clientX - left, clientY - top);
  }

  describe(i) {
    return paint.describe(this.picture, this.shapes, i, this.play.playing ? this.paths[i].level : undefined);
  }

  clicked(event) {
    const i = event.target.county;
    if (i === undefined) return;
    this.pick(i);
    this.point(i, event);
  }

  // The reader chooses a county, or none.
  pick(i, { near } = {}) {
    if (i !== null && near) this.view.show(this.shapes.x[i], this.shapes.y[i], near);
    if (i === this.chosen) return;
    this.choose(i);
    this.sent = Date.now();
    this.notify("chosen", { fips: i === null ? null : this.shapes.fips[i], at: this.sent });
  }

  choose(i, { show } = {}) {
    const changed = i !== this.chosen;
    this.chosen = i;
    this.search.name(i);
    const d = i === null ? "" : this.shapes.paths[i];
    this.layers.halo.setAttribute("d", d);
    this.layers.chosen.setAttribute("d", d);
    this.layers.chosen.setAttribute("data-fips", i === null ? "" : this.shapes.fips[i]);
    if (show && changed && i !== null) this.view.show(this.shapes.x[i], this.shapes.y[i]);
  }

  press(event) {
    const towards = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const zooms = { "+": 1.6, "=": 1.6, "-": 1 / 1.6 };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (towards[event.key]) this.move(this.towards(towards[event.key]));
    else if (event.key === "Enter" || event.key === " ") this.enter();
    else if (event.key === "Escape") this.clear();
    else if (zooms[event.key]) this.view.zoom(zooms[event.key]);
    else if (event.key === "0") this.view.reset();
    else return;
    event.preventDefault();
  }

  enter() {
    if (this.cursor === null) return;
    this.pick(this.cursor);
    this.say(`${this.name(this.cursor)} is chosen.`);
  }

  clear() {
    this.move(null);
    this.tip.hide();
    this.pick(null);
    this.say("No county is chosen.");
  }

  // Where the keys go at first: to the chosen county, or the one in the middle.
  towards(direction) {
    if (this.cursor !== null) return neighbour(this.shapes, this.cursor, direction);
    return this.chosen ?? nearest(this.shapes, this.view.middle);
  }

  move(i) {
    this.cursor = i;
    this.layers.cursor.setAttribute("d", i === null ? "" : this.shapes.paths[i]);
    this.layers.cursor.setAttribute("data-fips", i === null ? "" : this.shapes.fips[i]);
    if (i === null) return;
    this.view.show(this.shapes.x[i], this.shapes.y[i]);
    this.tip.show(this.describe(i), ...this.view.pixels(this.shapes.x[i], this.shapes.y[i]));
    this.say(this.describe(i).join(". "));
  }

  name(i) {
    return `${this.shapes.county[i]}, ${this.shapes.state[i]}`;
  }

  say(text) {
    this.find(".live").textContent = text;
  }
}

function element(name, attributes = {}) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
