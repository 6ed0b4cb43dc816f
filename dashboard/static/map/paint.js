// Numbers to colours and words.

export function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

const LEVELS = 250; // colours of a scale

// The colours from the lowest level to the highest, between evenly spaced ones.
export function ramp(colors) {
  const parts = colors.map(rgb);
  return Array.from({ length: LEVELS + 1 }, (_, level) => {
    const at = (level / LEVELS) * (parts.length - 1);
    const left = Math.min(Math.floor(at), parts.length - 2);
    const mixed = parts[left].map((from, i) =>
      Math.round(from + (parts[left + 1][i] - from) * (at - left)),
    );
    return `rgb(${mixed.join(",")})`;
  });
}

// Viridis, from where it stands out from a dark page: 3 to 1, as of any mark.
const ON_DARK = ["#2d718e", "#248a8d", "#24a385", "#3ebb74", "#76d053", "#b9de2b", "#fde725"];

// On a dark page another rising scale for one that begins dark; any other scale as it is.
export function aboveGround(colors, paper) {
  const light = colors.map(luminance);
  const rises = light.every((value, i) => i === 0 || value > light[i - 1]);
  return rises && luminance(paper) <= 0.2 ? ON_DARK : colors;
}

function luminance(color) {
  const [red, green, blue] = rgb(color).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function rgb(color) {
  if (color.startsWith("#"))
    return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return color.match(/\d+/g).map(Number);
}

export function levelOf(number, { limits: [low, high], log }) {
  const share = log
    ? Math.log(Math.max(number, low) / low) / Math.log(high / low)
    : (number - low) / (high - low);
  return Math.round(LEVELS * Math.min(Math.max(share, 0), 1));
}

const FORMATS = {
  ".3g": { maximumSignificantDigits: 3 },
  "+.2f": { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: "exceptZero" },
};
const write = (number, format) => number.toLocaleString("en", FORMATS[format]).replace("-", "−");

// What a county's tip and the spoken text say, line by line; the name comes first.
export function describe(picture, shapes, i) {
  const name = `${shapes.county[i]}, ${shapes.state[i]}`;
  const number = picture.numbers[i];
  let value = picture.missing;
  if (number !== null) {
    const means = picture.uncertain_means.split(":")[0];
    const unsure = picture.uncertain.includes(i) ? ` (${means})` : "";
    const shown = write(number, picture.number_format);
    value = `${picture.title}: ${shown}${picture.marks[i] ?? ""}${unsure}`;
  }
  return [name, value, ...picture.notes.map((lines) => lines[i]).filter(Boolean)];
}

export function escaped(text) {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

// Patterns of the counties without a number and of the uncertain ones, `step` units wide.
export function patterns(step, text) {
  const [half, thin] = [step / 2, step / 7];
  return `
    <pattern id="hatch" width="${step}" height="${step}" patternUnits="userSpaceOnUse"
             patternTransform="rotate(45)">
      <line x1="0" y1="0" x2="0" y2="${step}" stroke="${text}" stroke-opacity="0.45"
            stroke-width="${thin * 1.4}"/></pattern>
    <pattern id="dots" width="${step}" height="${step}" patternUnits="userSpaceOnUse">
      <circle cx="${half}" cy="${half}" r="${step / 5}" fill="white" stroke="black"
              stroke-width="${step / 12}"/></pattern>`;
}

// The colour bar and the keys below the map.
export function legend(picture) {
  const bar = picture.colors.join(",");
  const [below, above] = picture.beyond;
  const ticks = picture.ticks
    .map(([at, text]) => `<span style="left:${100 * at}%">${escaped(text)}</span>`)
    .join("");
  const some = picture.numbers.some((number) => number !== null);
  const scale = `<div class="scale"><div>${escaped(picture.title)}</div>
    <div style="display:flex;align-items:center">
      <span title="${below ? "some counties lie below the scale" : ""}">${below ? "◂" : ""}</span>
      <div style="flex:1"><div class="ramp" style="background:linear-gradient(to right,${bar})"></div>
      <div class="ticks">${ticks}</div></div>
      <span title="${above ? "some counties lie above the scale" : ""}">${above ? "▸" : ""}</span></div></div>`;
  const marks = keys(picture)
    .map(([fill, text]) => `<div class="key">${swatch(fill)}<span>${escaped(text)}</span></div>`)
    .join("");
  return (some ? scale : "") + marks;
}

export function keys(picture) {
  const found = [];
  if (picture.numbers.includes(null)) found.push(["hatch", picture.missing]);
  if (picture.uncertain.length) found.push(["dots", picture.uncertain_means]);
  return found;
}

function swatch(fill) {
  const step = 7;
  return `<svg width="22" height="16" aria-hidden="true">
    <defs>${patterns(step, "currentColor").replace(/id="/g, 'id="key-')}</defs>
    <rect x="0.5" y="0.5" width="21" height="15" fill="${fill === "dots" ? "#808080" : "none"}"/>
    <rect x="0.5" y="0.5" width="21" height="15" fill="url(#key-${fill})" stroke="currentColor"
          stroke-opacity="0.6"/></svg>`;
}
