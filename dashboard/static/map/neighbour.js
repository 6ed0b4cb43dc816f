// Which county lies next in a direction.

const ASIDE = 1.5; // times as far aside as ahead still counts as that direction

// The nearest county from `from` on, by their points; itself where there is none.
export function neighbour({ x, y }, from, [dx, dy]) {
  let best = from;
  let least = Infinity;
  for (let i = 0; i < x.length; i++) {
    const ahead = (x[i] - x[from]) * dx + (y[i] - y[from]) * dy;
    const aside = Math.abs((x[i] - x[from]) * dy - (y[i] - y[from]) * dx);
    const far = ahead + 2 * aside;
    if (ahead > 0 && aside <= ASIDE * ahead && far < least) [best, least] = [i, far];
  }
  return best;
}

// The county whose point is nearest to a place.
export function nearest({ x, y }, [x0, y0]) {
  let best = 0;
  let least = Infinity;
  for (let i = 0; i < x.length; i++) {
    const far = Math.hypot(x[i] - x0, y[i] - y0);
    if (far < least) [best, least] = [i, far];
  }
  return best;
}
