// The box beside the pointer that tells a county's name and numbers.

export class Tip {
  constructor(box, svg) {
    Object.assign(this, { box, svg });
  }

  hide() {
    this.box.hidden = true;
  }

  // Lines of text at a place of the picture, in pixels; the first is a name.
  show([name, ...lines], x, y) {
    const { box, svg } = this;
    const bold = document.createElement("b");
    bold.textContent = name;
    const rows = lines.map((line) => {
      const row = document.createElement("div");
      row.textContent = line;
      return row;
    });
    box.replaceChildren(bold, ...rows);
    box.hidden = false;
    const away = 14;
    const left = x + away + box.offsetWidth > svg.clientWidth ? x - away - box.offsetWidth : x + away;
    const low = y + away + box.offsetHeight > svg.clientHeight;
    const top = low ? y - away - box.offsetHeight : y + away;
    box.style.left = `${Math.max(left, 0)}px`;
    box.style.top = `${Math.max(top, 0)}px`;
  }
}
