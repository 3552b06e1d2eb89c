// Where the values of a range are on the screen. There are two layouts, which the map uses alike. All
// results are in CSS pixels of the canvas; offsets count from the first value of the range.

import type { RangeDetail } from "../api";
import type { LayoutName } from "../route";
import type { Orientation } from "./hilbert";
import type { Rect } from "./outline";

/** Where a tile is drawn. */
export interface TilePlace extends Rect {
  index: bigint;
  columns: number; // cells in a row of the tile's image
  orientation: Orientation | null; // null for rows
}

export interface Label {
  x: number;
  y: number;
  text: string;
  align: "left" | "right";
}

export interface Look {
  offset: bigint;
  zoom: number;
}

export interface Projection {
  readonly name: LayoutName;
  /** The bits of a cell: it stands for 2^level values. */
  readonly level: number;
  readonly cell: { w: number; h: number };
  /** True while the whole range is shown. */
  readonly whole: boolean;
  setSize(width: number, height: number): void;
  tiles(): TilePlace[];
  /** Returns the first value of the cell at a point, or null outside of the range. */
  offsetAt(x: number, y: number): bigint | null;
  /** Returns where the cell of a value is; it may be far from the screen. */
  rectOf(offset: bigint): Rect;
  /** Returns the middle of a value, which is in the cell of many values that it is shown by. */
  pointOf(offset: bigint): { x: number; y: number };
  /** Returns the outline of the visible part of from..to as lines [x1, y1, x2, y2, ...]. */
  outline(from: bigint, to: bigint): number[];
  panBy(dx: number, dy: number): void;
  /** Goes closer by a number of doublings, and keeps what is at the point where it is. */
  zoomAt(steps: number, x: number, y: number): void;
  fit(): void;
  look(): Look;
  /** Shows a value in the middle; without a zoom so close that it can be told from its neighbours. */
  lookAt(offset: bigint, zoom: number | null): void;
  /** Shows all of from..to. */
  lookAtPart(from: bigint, to: bigint): void;
  /** Returns the value that is dx cells right and dy cells below. */
  step(offset: bigint, dx: number, dy: number): bigint;
  labels(): Label[];
}

/** The map of a tiny range still has a tile of its own. */
export function mapBits(detail: RangeDetail): number {
  return Math.max(12, detail.bits + (detail.bits % 2));
}

export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}

export function clampBig(value: bigint, low: bigint, high: bigint): bigint {
  if (value < low) return low;
  return value > high ? high : value;
}
