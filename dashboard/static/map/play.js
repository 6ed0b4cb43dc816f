// Plays a map through the steps of a mode, such as days, without asking the server for each.

// Milliseconds a step is shown; five times as long for readers who asked for less motion.
const PAUSE = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1500 : 300;
const FINER = 2; // levels of a still map to one of these
const [NONE_HERE, NONE] = [127, 255]; // what stands for no number, here and there

// From changes at each step to levels; see `Steps.frames` in `maps_play.py`.
export function levelsFrom(changes, length) {
  let level = 0;
  return changes.map((change, i) => {
    level = i % length ? (level + change) & 255 : change;
    return level;
  });
}

export class Play {
  constructor(box, { onStep, onAsk, onPause }) {
    this.box = box;
    this.button = box.querySelector(".play");
    this.label = box.querySelector(".step");
    this.slider = box.querySelector(".at");
    Object.assign(this, { onStep, onAsk, onPause, frames: null, timer: null });
    this.button.onclick = () => (this.timer || this.wanted ? this.pause() : this.ask());
    this.slider.oninput = () => this.slide(Number(this.slider.value));
    this.slider.onchange = () => this.pause();
  }

  // Whether the map shows a step of its own, and not the picture that the server drew.
  get playing() {
    return this.timer !== null || (this.sliding && this.frames !== null);
  }

  // What the server says: no steps, the labels of the steps, or their colours as well.
  update(steps, frames) {
    this.box.hidden = steps === null;
    if (steps === null) {
      if (this.timer !== null || this.wanted) this.onPause(this.step);
      this.halt();
      return;
    }
    this.steps = steps;
    this.frames = frames;
    this.slider.max = steps.labels.length - 1;
    if (this.timer === null && !this.sliding) this.step = steps.now;
    if (this.wanted && frames) this.start();
    this.write();
  }

  ask() {
    this.wanted = true;
    if (this.step >= this.steps.labels.length - 1) this.step = 0;
    if (this.frames) this.start();
    else this.onAsk(this.step);
    this.write();
  }

  start() {
    this.wanted = false;
    clearInterval(this.timer);
    this.timer = setInterval(() => {
      if (this.step >= this.steps.labels.length - 1) this.pause();
      else this.show(this.step + 1);
    }, PAUSE);
    this.show(this.step);
  }

  slide(step) {
    this.halt();
    this.sliding = true;
    this.show(step);
  }

  show(step) {
    this.step = step;
    this.write();
    this.onStep();
  }

  pause() {
    this.halt();
    this.write();
    this.onPause(this.step);
  }

  halt() {
    clearInterval(this.timer);
    this.timer = null;
    this.wanted = this.sliding = false;
  }

  write() {
    this.button.textContent = this.timer !== null ? "❚❚ Pause" : this.wanted ? "…" : "▶ Play";
    const { labels } = this.steps;
    this.slider.value = this.step;
    this.slider.ariaValueText = labels[this.step];
    this.label.textContent = `${labels[this.step]} (${this.step + 1} of ${labels.length})`;
  }

  // The level of every county at this step.
  levels() {
    const { rows, levels, length } = this.frames;
    return rows.map((row) => {
      const level = row < 0 ? NONE_HERE : levels[row * length + this.step];
      return level === NONE_HERE ? NONE : FINER * level;
    });
  }
}
