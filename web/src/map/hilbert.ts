// The Hilbert curve of a map. It is followed from the largest square to the smallest, so a part of a
// range is the same square at every zoom. That is what makes tiles possible.
//
// A map has 2^bits places in a square of 2^(bits/2) by 2^(bits/2). Two bits of an offset choose one
// of four quarters, and the quarter's orientation.

/** The orientation of a square: which way the curve runs through its quarters. */
export type Orientation = 0 | 1 | 2 | 3;

// For each orientation and each two bits: the quarter (x + 2 * y), and its orientation. Orientation 0
// enters at the top left and leaves at the top right; 1 is 0 mirrored at the main diagonal.
const QUARTER = [[0, 2, 3, 1], [0, 1, 3, 2], [3, 1, 0, 2], [3, 2, 0, 1]] as const;
const NEXT = [[1, 0, 0, 3], [0, 1, 1, 2], [3, 2, 2, 1], [2, 3, 3, 0]] as const;
// A map begins with orientation 1, so that half of a map is wide and not tall, as most screens are.
export const ROOT: Orientation = 1;
// The inverse of QUARTER.
const STEP = QUARTER.map((row) => [0, 1, 2, 3].map((quarter) => row.indexOf(quarter as 0)));

export interface Square {
  x: bigint;
  y: bigint;
  orientation: Orientation;
}

/** Returns where the index-th of 4^order equal squares is, and its orientation. */
export function squareAt(index: bigint, order: number): Square {
  let x = 0n;
  let y = 0n;
  let orientation: Orientation = ROOT;
  for (let level = order - 1; level >= 0; level--) {
    const step = Number((index >> BigInt(2 * level)) & 3n);
    const quarter = quarterOf(orientation, step);
    x = (x << 1n) | BigInt(quarter & 1);
    y = (y << 1n) | BigInt(quarter >> 1);
    orientation = nextOf(orientation, step);
  }
  return { x, y, orientation };
}

/** Returns the index on the curve of the square at (x, y). */
export function indexAt(x: bigint, y: bigint, order: number): bigint {
  let index = 0n;
  let orientation: Orientation = ROOT;
  for (let level = BigInt(order - 1); level >= 0n; level--) {
    const quarter = Number((x >> level) & 1n) + 2 * Number((y >> level) & 1n);
    const step = stepOf(orientation, quarter);
    index = (index << 2n) | BigInt(step);
    orientation = nextOf(orientation, step);
  }
  return index;
}

export function quarterOf(orientation: Orientation, step: number): number {
  return QUARTER[orientation]?.[step] ?? 0;
}

export function nextOf(orientation: Orientation, step: number): Orientation {
  return NEXT[orientation]?.[step] ?? 0;
}

export function stepOf(orientation: Orientation, quarter: number): number {
  return STEP[orientation]?.[quarter] ?? 0;
}

const tables: (Uint16Array | undefined)[] = [];

/** Returns for each of the 4096 cells of a tile its pixel, x + 64 * y. */
export function tileTable(orientation: Orientation): Uint16Array {
  const known = tables[orientation];
  if (known) return known;
  const table = new Uint16Array(4096);
  fillTable(table, orientation, 0, 0, 0, 64);
  tables[orientation] = table;
  return table;
}

function fillTable(
  table: Uint16Array, orientation: Orientation, first: number, x: number, y: number, side: number,
): void {
  if (side === 1) {
    table[first] = x + 64 * y;
    return;
  }
  const half = side / 2;
  for (let step = 0; step < 4; step++) {
    const quarter = quarterOf(orientation, step);
    fillTable(table, nextOf(orientation, step), first + step * half * half,
      x + (quarter & 1) * half, y + (quarter >> 1) * half, half);
  }
}

/** A part of the map, in places; right and bottom are not in it. */
export interface Window {
  left: bigint;
  top: bigint;
  right: bigint;
  bottom: bigint;
}

/**
 * Calls emit with squares that together cover the values from..to inside of the window. A square is
 * never smaller than 2^smallest places on a side; one that is covered in part counts if its first
 * value is covered. So neighbouring parts meet without a gap.
 */
export function coverSquares(
  order: number, from: bigint, to: bigint, window: Window, smallest: number,
  emit: (x: bigint, y: bigint, level: number) => void,
): void {
  const visit = (x: bigint, y: bigint, level: number, first: bigint, orientation: Orientation): void => {
    const size = 1n << BigInt(level);
    if (x >= window.right || y >= window.bottom || x + size <= window.left || y + size <= window.top) return;
    const last = first + (1n << BigInt(2 * level)) - 1n;
    if (last < from || first > to) return;
    if (first >= from && last <= to) return emit(x, y, level);
    if (level <= smallest) {
      if (first >= from) emit(x, y, level);
      return;
    }
    const half = size >> 1n;
    for (let step = 0; step < 4; step++) {
      const quarter = quarterOf(orientation, step);
      visit(x + (quarter & 1 ? half : 0n), y + (quarter >> 1 ? half : 0n), level - 1,
        first + (BigInt(step) << BigInt(2 * (level - 1))), nextOf(orientation, step));
    }
  };
  visit(0n, 0n, order, 0n, ROOT);
}
