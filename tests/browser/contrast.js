// Texts that stand out from their ground by less than 4.5 to 1, or 3 to 1 where they are large.
() => {
  const numbers = (text) => text.split(/[,\s/]+/).filter(Boolean).map(Number);
  const parse = (color) => {
    const eights = color.match(/rgba?\(([^)]+)\)/);
    const shares = color.match(/color\(srgb ([^)]+)\)/);
    if (!eights && !shares) return null;
    const [red, green, blue, alpha = 1] = numbers((eights ?? shares)[1]);
    const scale = eights ? 1 : 255;
    return [red * scale, green * scale, blue * scale, alpha];
  };
  const over = (top, below) =>
    [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const luminance = (color) => {
    const [red, green, blue] = color.slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const seen = new Map(); // what lies behind each node, and how opaque it is with its parents
  const behind = (node) => {
    if (!node) return { ground: [255, 255, 255, 1], opacity: 1 };
    if (!seen.has(node)) {
      const { ground, opacity } = behind(node.parentElement ?? node.getRootNode().host);
      const style = getComputedStyle(node);
      const color = parse(style.backgroundColor);
      const own = color && color[3] > 0 ? over(color, ground) : ground;
      seen.set(node, { ground: own, opacity: opacity * style.opacity });
    }
    return seen.get(node);
  };
  // Text on a bar, or beside a slider's handle, has another ground than its parents.
  const ELSEWHERE =
    "[disabled], script, style, .bartext-inside, [data-testid=stSliderThumbValue], " +
    "[data-testid=stSliderTickBar]";
  const faint = [];
  const look = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) look(node.shadowRoot);
      const own = [...node.childNodes].some((at) => at.nodeType === 3 && at.textContent.trim());
      if (!own || node.closest(ELSEWHERE)) continue;
      const { width, height } = node.getBoundingClientRect();
      if (width < 2 || height < 2) continue;
      const style = getComputedStyle(node);
      if (style.visibility === "hidden") continue;
      const color = parse(node instanceof SVGElement ? style.fill : style.color);
      if (!color) continue;
      const { ground, opacity } = behind(node);
      color[3] *= opacity;
      const [size, weight] = [parseFloat(style.fontSize), parseInt(style.fontWeight)];
      const least = size >= 24 || (size >= 18.66 && weight >= 700) ? 3 : 4.5;
      const reached = contrast(over(color, ground), ground);
      if (reached < least - 0.01)
        faint.push(`${reached.toFixed(2)}: ${node.textContent.trim().slice(0, 40)}`);
    }
  };
  look(document.body);
  return faint;
}
