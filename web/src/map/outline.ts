// Finds the outline of rectangles that do not overlap: the edges that only one of them has.

export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Lines [x1, y1, x2, y2, ...], each horizontal or vertical. */
export function outlineOf(rects: readonly Rect[]): number[] {
  const rows = new Map<number, number[]>();
  const columns = new Map<number, number[]>();
  for (const { x, y, w, h } of rects) {
    push(rows, y, x, x + w);
    push(rows, y + h, x, x + w);
    push(columns, x, y, y + h);
    push(columns, x + w, y, y + h);
  }
  const lines: number[] = [];
  for (const [y, ends] of rows) {
    forEachOdd(ends, (begin, end) => lines.push(begin, y, end, y));
  }
  for (const [x, ends] of columns) {
    forEachOdd(ends, (begin, end) => lines.push(x, begin, x, end));
  }
  return lines;
}

function push(lines: Map<number, number[]>, at: number, begin: number, end: number): void {
  const ends = lines.get(at);
  if (ends) ends.push(begin, end);
  else lines.set(at, [begin, end]);
}

/** Calls back for each stretch that an odd number of edges covers, which is one edge. */
function forEachOdd(ends: number[], emit: (begin: number, end: number) => void): void {
  ends.sort((a, b) => a - b);
  for (let i = 0; i + 1 < ends.length; i += 2) {
    const begin = ends[i] ?? 0;
    let end = ends[i + 1] ?? 0;
    while (i + 3 < ends.length && ends[i + 2] === end) {
      end = ends[i + 3] ?? 0;
      i += 2;
    }
    if (end > begin) emit(begin, end);
  }
}
