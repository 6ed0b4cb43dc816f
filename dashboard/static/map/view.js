// What part of the map is seen: zoom and pan by wheel, mouse, fingers and calls; Shift draws a box.

const NEAREST = 16;
const CLICK = 4; // pixels that a click may move
const ROUND = 500; // map units of room around places that fill the picture
const EDGE = 0.08; // share of the picture on each side in which a place is not well inside
const views = new Map(); // by the map's key: kept when a page redraws its map

export class View {
  constructor(svg, world, key, { width, height }, { onMove, onClick, onBox }) {
    Object.assign(this, { svg, world, key, width, height, onMove, onClick, onBox });
    this.fresh = !views.has(key);
    this.at = views.get(key) ?? { k: 1, x: 0, y: 0 };
    this.fingers = new Map();
    this.stop = new AbortController();
    const listen = (name, heard, options) =>
      svg.addEventListener(name, heard, { signal: this.stop.signal, ...options });
    listen("wheel", (event) => this.wheel(event), { passive: false });
    listen("pointerdown", (event) => this.down(event));
    listen("pointermove", (event) => this.move(event));
    listen("pointerup", (event) => this.up(event));
    listen("pointercancel", (event) => this.lift(event));
    listen("dblclick", () => this.reset());
    this.sizes = new ResizeObserver(() => this.apply());
    this.sizes.observe(svg);
    this.apply();
  }

  remove() {
    this.stop.abort();
    this.sizes.disconnect();
  }

  // Map units per pixel of the picture.
  get unit() {
    const { clientWidth, clientHeight } = this.svg;
    return Math.max(this.width / (clientWidth || 800), this.height / (clientHeight || 500));
  }

  get near() {
    return this.at.k > 1;
  }

  apply() {
    const { at } = this;
    at.k = Math.min(Math.max(at.k, 1), NEAREST);
    at.x = Math.min(0, Math.max(at.x, this.width * (1 - at.k)));
    at.y = Math.min(0, Math.max(at.y, this.height * (1 - at.k)));
    views.set(this.key, at);
    this.world.setAttribute("transform", `translate(${at.x} ${at.y}) scale(${at.k})`);
    this.svg.classList.toggle("near", this.near);
    this.onMove(this.unit / at.k);
  }

  zoom(factor, point = [this.width / 2, this.height / 2]) {
    const { at } = this;
    const k = Math.min(Math.max(at.k * factor, 1), NEAREST);
    at.x = point[0] - ((point[0] - at.x) * k) / at.k;
    at.y = point[1] - ((point[1] - at.y) * k) / at.k;
    at.k = k;
    this.apply();
  }

  reset() {
    this.at = { ...this.at, k: 1, x: 0, y: 0 };
    this.apply();
  }

  // Bring a place to the middle, unless it is well inside the picture already.
  show(x, y, least = 1) {
    const { at } = this;
    const [left, top] = [x * at.k + at.x, y * at.k + at.y];
    const inside = (place, size) => place > EDGE * size && place < (1 - EDGE) * size;
    if (inside(left, this.width) && inside(top, this.height) && at.k >= least) return;
    at.k = Math.max(at.k, least);
    at.x = this.width / 2 - x * at.k;
    at.y = this.height / 2 - y * at.k;
    this.apply();
  }

  // Fill the picture with these places; with all of the map where there are none.
  fit(xs, ys) {
    this.reset();
    if (!xs.length) return;
    const [left, right, top, bottom] = [xs, ys].flatMap((all) => [Math.min(...all), Math.max(...all)]);
    const part = Math.max((right - left + ROUND) / this.width, (bottom - top + ROUND) / this.height);
    this.show((left + right) / 2, (top + bottom) / 2, 1 / part);
  }

  // Where on the map, before zoom and pan, an event is.
  units({ clientX, clientY }) {
    const { left, top, width, height } = this.svg.getBoundingClientRect();
    return [
      (clientX - left - width / 2) * this.unit + this.width / 2,
      (clientY - top - height / 2) * this.unit + this.height / 2,
    ];
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return; // else the wheel scrolls the page
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY / (event.deltaMode ? 10 : 200)), this.units(event));
  }

  // On the map itself, whatever part of it is seen.
  place(event) {
    const [x, y] = this.units(event);
    return [(x - this.at.x) / this.at.k, (y - this.at.y) / this.at.k].map(Math.round);
  }

  down(event) {
    if (event.button) return;
    if (event.shiftKey && this.onBox) this.corner = this.place(event);
    this.fingers.set(event.pointerId, this.units(event));
    this.from = [event.clientX, event.clientY];
    this.moved = this.fingers.size > 1;
  }

  move(event) {
    const before = this.fingers.get(event.pointerId);
    if (before === undefined) return;
    const now = this.units(event);
    if (this.corner) {
      this.onBox(this.corner, this.place(event), false);
      this.moved = true;
      return;
    }
    if (this.fingers.size === 1) {
      const away = Math.hypot(event.clientX - this.from[0], event.clientY - this.from[1]);
      if (!this.moved && away <= CLICK) return;
      this.at.x += now[0] - before[0];
      this.at.y += now[1] - before[1];
    } else {
      const [other] = [...this.fingers].filter(([id]) => id !== event.pointerId)[0].slice(1);
      const spread = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
      this.zoom(spread(now) / Math.max(spread(before), 1), other);
    }
    if (!this.moved || !this.svg.hasPointerCapture(event.pointerId))
      this.svg.setPointerCapture(event.pointerId);
    this.moved = true;
    this.svg.classList.toggle("dragged", this.near);
    this.fingers.set(event.pointerId, now);
    this.apply();
  }

  up(event) {
    if (this.corner && this.moved) this.onBox(this.corner, this.place(event), true);
    else if (this.fingers.has(event.pointerId) && !this.moved) this.onClick(event);
    this.lift(event);
  }

  lift(event) {
    this.corner = null;
    this.fingers.delete(event.pointerId);
    this.svg.classList.remove("dragged");
  }
}
