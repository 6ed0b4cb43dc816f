// The map as a PNG file, made here in the browser.

const WIDTH = 1000; // pixels of the drawing; the file has twice as many
const NS = "http://www.w3.org/2000/svg";

// What is seen of the map now, with title, colour bar and remark, as the text of an SVG.
function drawing(svg, drawn, { escaped, keys, patterns }, style) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const mapHeight = (WIDTH * height) / width;
  const foot = drawn.remark ? 24 : 0;
  const all = mapHeight + 96 + foot;
  const copy = svg.cloneNode(true);
  copy.removeAttribute("class");
  for (const [name, value] of Object.entries({ x: 0, y: 40, width: WIDTH, height: mapHeight }))
    copy.setAttribute(name, value);
  const text = (x, y, words, more = "") => `<text x="${x}" y="${y}" ${more}>${escaped(words)}</text>`;
  const bar = { x: 24, y: mapHeight + 46, width: 400 };
  const stops = drawn.colors
    .map((color, i) => `<stop offset="${i / (drawn.colors.length - 1)}" stop-color="${color}"/>`)
    .join("");
  const ticks = drawn.ticks
    .map(([at, words]) => text(bar.x + at * bar.width, bar.y + 30, words, 'text-anchor="middle"'))
    .join("");
  const marks = keys(drawn)
    .map(([fill, words], i) => {
      const [x, y] = [480, bar.y + 22 * i];
      const ground = fill === "dots" ? "#808080" : "none";
      return `<rect x="${x}" y="${y}" width="22" height="14" fill="${ground}"/>
        <rect x="${x}" y="${y}" width="22" height="14" fill="url(#key-${fill})"
          stroke="${style.text}"/>${text(x + 30, y + 12, words)}`;
    })
    .join("");
  return `<svg xmlns="${NS}" width="${WIDTH}" height="${all}" viewBox="0 0 ${WIDTH} ${all}"
    font-family="sans-serif" font-size="14" fill="${style.text}">
    <defs><linearGradient id="bar">${stops}</linearGradient>
      ${patterns(7, style.text).replace(/id="/g, 'id="key-')}</defs>
    <rect width="100%" height="100%" fill="${style.paper}"/>
    ${text(24, 28, drawn.title, 'font-size="18"')}
    ${new XMLSerializer().serializeToString(copy)}
    <rect x="${bar.x}" y="${bar.y}" width="${bar.width}" height="14" fill="url(#bar)"/>
    ${ticks}${marks}${text(24, all - 12, drawn.remark)}</svg>`;
}

export async function savePng(svg, picture, words, style, name) {
  const text = drawing(svg, picture, words, style);
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  const link = document.createElement("a");
  link.href = canvas.toDataURL("image/png");
  link.download = `${name}.png`;
  link.click();
}
