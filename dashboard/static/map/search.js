// A box that finds a county by its name.

const MOST = 8; // names offered at once
const plain = (text) =>
  text
    .normalize("NFD")
    .replace(/[\u0300-\u036f.,]/g, "")
    .toLowerCase();

// A county's name without what kind of county it is.
const bare = (county) =>
  plain(county).replace(/ (county|parish|borough|census area|municipality|city and borough)$/, "");

// 0: the name itself; 1: a name that begins with it; 2: all others.
function rankOf(name, word, tokens) {
  const typed = tokens.join(" ");
  if (name === typed || typed.startsWith(`${name} `)) return 0;
  return word.startsWith(tokens[0]) ? 1 : 2;
}

export class Search {
  constructor(box, shapes, { id, onChoose, onClear }) {
    this.input = box.querySelector("input");
    this.list = box.querySelector("ul");
    this.clear = box.querySelector(".clear");
    this.onChoose = onChoose;
    this.shapes = shapes;
    this.words = shapes.county.map((county, i) =>
      plain(`${county} ${shapes.state[i]} ${shapes.states[shapes.state[i]]} ${shapes.fips[i]}`),
    );
    this.names = shapes.county.map(bare);
    this.people = []; // how many live in each county, where the page says so
    this.found = [];
    this.list.id = `${id}-list`;
    this.input.setAttribute("aria-controls", this.list.id);
    this.input.oninput = () => this.find();
    this.input.onfocus = () => this.input.select();
    this.input.onblur = () => this.close();
    this.input.onkeydown = (event) => this.press(event);
    this.list.onpointerdown = (event) => {
      event.preventDefault(); // keep the focus until the click is through
      const item = event.target.closest("li[data-i]");
      if (item) this.choose(Number(item.dataset.i));
    };
    this.clear.onclick = onClear;
    if (this.input.value) this.find(); // typed before the shapes were here
  }

  // Show which county is chosen, unless the reader is typing.
  name(i) {
    this.clear.hidden = i === null;
    this.chosen = i === null ? "" : `${this.shapes.county[i]}, ${this.shapes.state[i]}`;
    if (this.list.hidden) this.input.value = this.chosen;
  }

  find() {
    const tokens = plain(this.input.value).split(/\s+/).filter(Boolean);
    const hits = [];
    if (tokens.length)
      this.words.forEach((word, i) => {
        if (tokens.every((token) => word.includes(token)))
          hits.push([rankOf(this.names[i], word, tokens), i]);
      });
    const { people } = this;
    hits.sort((a, b) => a[0] - b[0] || (people[b[1]] ?? 0) - (people[a[1]] ?? 0) || a[1] - b[1]);
    this.found = hits.slice(0, MOST).map(([, i]) => i);
    this.active = 0;
    this.draw(tokens.length > 0, hits.length);
  }

  draw(open, all) {
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
    this.list.replaceChildren(
      ...this.found.map((i, at) => {
        const item = document.createElement("li");
        item.role = "option";
        item.id = `${this.list.id}-${i}`;
        item.dataset.i = i;
        item.ariaSelected = String(at === this.active);
        item.textContent = `${this.shapes.county[i]}, ${this.shapes.state[i]}`;
        return item;
      }),
    );
    if (open && !this.found.length) this.list.append(note("No county with this name"));
    if (all > MOST) this.list.append(note(`… ${all - MOST} more: keep typing`));
    const now = open && this.found.length ? `${this.list.id}-${this.found[this.active]}` : "";
    this.input.setAttribute("aria-activedescendant", now);
  }

  press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.found.length) {
      event.preventDefault();
      this.active = (this.active + step + this.found.length) % this.found.length;
      this.draw(true, this.found.length);
    } else if (event.key === "Enter" && this.found.length) {
      this.choose(this.found[this.active]);
    } else if (event.key === "Escape") {
      this.close();
    }
  }

  choose(i) {
    this.close();
    this.input.value = `${this.shapes.county[i]}, ${this.shapes.state[i]}`;
    this.onChoose(i);
  }

  close() {
    this.found = [];
    this.draw(false, 0);
    this.input.value = this.chosen ?? "";
  }
}

function note(text) {
  const given = { role: "presentation", style: "opacity: 0.7", textContent: text };
  return Object.assign(document.createElement("li"), given);
}
