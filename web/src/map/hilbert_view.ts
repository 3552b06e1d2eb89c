// The layout in Hilbert order: values that are near each other in the range are near each other on
// the map, and every aligned part is a square.
//
// Places are BigInt with 16 bits after the point, so a /64, or more, is as exact as a /24.

import type { RangeDetail } from "../api";
import { coverSquares, indexAt, squareAt } from "./hilbert";
import type { Window } from "./hilbert";
import { outlineOf } from "./outline";
import type { Rect } from "./outline";
import { clamp, clampBig, mapBits } from "./projection";
import type { Label, Look, Projection, TilePlace } from "./projection";

const POINT = 16n;
const ONE = 65536;
const LARGEST_CELL = Math.log2(176);
const MARGIN = 26; // room for a tag

/** Lines in cells, from the upper left corner of a window. */
interface Outline {
  level: number;
  window: Window;
  lines: number[];
}

export class HilbertView implements Projection {
  readonly name = "hilbert";
  private readonly order: number;
  private readonly size: bigint;
  private readonly box: { x: bigint; y: bigint; w: bigint; h: bigint };
  private width = 1;
  private height = 1;
  private cx = 0n; // the place in the middle
  private cy = 0n;
  private k = 0; // log2 of the pixels of a place
  private fitted = true;
  private readonly outlines = new Map<string, Outline>();

  constructor(detail: RangeDetail) {
    this.order = mapBits(detail) / 2;
    this.size = BigInt(detail.size);
    this.box = boxOf(this.order, 0n, this.size - 1n);
  }

  get level(): number {
    return clamp(2 * Math.ceil(2 - this.k), 0, 2 * this.order - 12);
  }

  get cell(): { w: number; h: number } {
    const side = 2 ** (this.k + this.level / 2);
    return { w: side, h: side };
  }

  get whole(): boolean {
    return this.fitted;
  }

  setSize(width: number, height: number): void {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    if (this.fitted) this.fit();
    else this.settle();
  }

  tiles(): TilePlace[] {
    const level = this.level;
    const shift = BigInt(6 + level / 2);
    const order = this.order - 6 - level / 2;
    const last = (1n << BigInt(order)) - 1n;
    const [left, top] = [this.placeX(0), this.placeY(0)];
    const [right, bottom] = [this.placeX(this.width), this.placeY(this.height)];
    const side = 2 ** this.k * 2 ** Number(shift);
    const places: TilePlace[] = [];
    for (let ty = clampBig(top >> shift, 0n, last); ty <= clampBig(bottom >> shift, -1n, last); ty++) {
      for (let tx = clampBig(left >> shift, 0n, last); tx <= clampBig(right >> shift, -1n, last); tx++) {
        const index = indexAt(tx, ty, order);
        if ((index << BigInt(12 + level)) >= this.size) continue;
        const { orientation } = squareAt(index, order);
        places.push({
          index, orientation, columns: 64, x: this.screenX(tx << shift), y: this.screenY(ty << shift),
          w: side, h: side,
        });
      }
    }
    return places;
  }

  offsetAt(x: number, y: number): bigint | null {
    const half = BigInt(this.level / 2);
    const [px, py] = [this.placeX(x) >> half, this.placeY(y) >> half];
    const last = (1n << (BigInt(this.order) - half)) - 1n;
    if (px < 0n || py < 0n || px > last || py > last) return null;
    const offset = indexAt(px, py, this.order - Number(half)) << BigInt(this.level);
    return offset < this.size ? offset : null;
  }

  rectOf(offset: bigint): Rect {
    const half = this.level / 2;
    const { x, y } = squareAt(offset >> BigInt(this.level), this.order - half);
    const side = this.cell.w;
    return { x: this.screenX(x << BigInt(half)), y: this.screenY(y << BigInt(half)), w: side, h: side };
  }

  pointOf(offset: bigint): { x: number; y: number } {
    const { x, y } = squareAt(offset, this.order);
    const half = 2 ** this.k / 2;
    return { x: this.screenX(x) + half, y: this.screenY(y) + half };
  }

  outline(from: bigint, to: bigint): number[] {
    const key = `${from} ${to}`;
    let found = this.outlines.get(key);
    if (!found || found.level !== this.level || !this.isInside(found.window)) {
      found = this.traced(from, to);
      if (this.outlines.size > 1000) this.outlines.clear();
      this.outlines.set(key, found);
    }
    const { lines, window, level } = found;
    const unit = 2 ** (this.k + level / 2);
    const [x, y] = [this.screenX(window.left), this.screenY(window.top)];
    return lines.map((at, i) => at * unit + (i % 2 === 0 ? x : y));
  }

  /** Finds an outline in the screens around this one, so that a small movement does not need another. */
  private traced(from: bigint, to: bigint): Outline {
    const level = this.level;
    const shift = BigInt(level / 2);
    const down = (place: bigint): bigint => (place >> shift) << shift;
    const window = {
      left: down(this.placeX(-this.width)), top: down(this.placeY(-this.height)),
      right: this.placeX(2 * this.width) + 1n, bottom: this.placeY(2 * this.height) + 1n,
    };
    const rects: Rect[] = [];
    coverSquares(this.order, from, to, window, level / 2, (x, y, size) => {
      const side = 2 ** (size - level / 2);
      rects.push({ x: Number((x - window.left) >> shift), y: Number((y - window.top) >> shift), w: side, h: side });
    });
    return { level, window, lines: outlineOf(rects) };
  }

  private isInside(window: Window): boolean {
    return this.placeX(-8) >= window.left && this.placeY(-8) >= window.top
      && this.placeX(this.width + 8) < window.right && this.placeY(this.height + 8) < window.bottom;
  }

  panBy(dx: number, dy: number): void {
    this.fitted = false;
    this.cx -= this.toPlaces(dx);
    this.cy -= this.toPlaces(dy);
    this.settle();
  }

  zoomAt(steps: number, x: number, y: number): void {
    const before = this.k;
    const least = this.fitZoom();
    this.k = clamp(this.k + steps, least, Math.max(least, LARGEST_CELL));
    if (this.k === least && steps < 0) return this.fit();
    if (this.k === before) return;
    this.fitted = false;
    const moved = (at: number): bigint => BigInt(Math.round((at / 2 ** before - at / 2 ** this.k) * ONE));
    this.cx += moved(x - this.width / 2);
    this.cy += moved(y - this.height / 2);
    this.settle();
  }

  fit(): void {
    this.fitted = true;
    this.k = this.fitZoom();
    this.cx = ((this.box.x << 1n) + this.box.w) << (POINT - 1n);
    this.cy = ((this.box.y << 1n) + this.box.h) << (POINT - 1n);
  }

  look(): Look {
    const limit = (1n << BigInt(this.order)) - 1n;
    const x = clampBig(this.cx >> POINT, 0n, limit);
    const y = clampBig(this.cy >> POINT, 0n, limit);
    return { offset: clampBig(indexAt(x, y, this.order), 0n, this.size - 1n), zoom: this.k };
  }

  lookAt(offset: bigint, zoom: number | null): void {
    const { x, y } = squareAt(clampBig(offset, 0n, this.size - 1n), this.order);
    this.fitted = false;
    const least = this.fitZoom();
    this.k = clamp(zoom ?? Math.log2(72), least, Math.max(least, LARGEST_CELL));
    this.cx = (x << POINT) + BigInt(ONE / 2);
    this.cy = (y << POINT) + BigInt(ONE / 2);
    this.settle();
  }

  lookAtPart(from: bigint, to: bigint): void {
    const box = boxOf(this.order, from, to);
    this.fitted = false;
    const least = this.fitZoom();
    this.k = clamp(this.zoomFor(Number(box.w), Number(box.h)), least, Math.max(least, LARGEST_CELL));
    this.cx = ((box.x << 1n) + box.w) << (POINT - 1n);
    this.cy = ((box.y << 1n) + box.h) << (POINT - 1n);
    this.settle();
  }

  step(offset: bigint, dx: number, dy: number): bigint {
    const half = this.level / 2;
    const order = this.order - half;
    const { x, y } = squareAt(offset >> BigInt(this.level), order);
    const last = (1n << BigInt(order)) - 1n;
    const next = indexAt(clampBig(x + BigInt(dx), 0n, last), clampBig(y + BigInt(dy), 0n, last), order);
    const moved = next << BigInt(this.level);
    return moved < this.size ? moved : offset;
  }

  labels(): Label[] {
    return [];
  }

  private placeX(x: number): bigint {
    return (this.cx + this.toPlaces(x - this.width / 2)) >> POINT;
  }

  private placeY(y: number): bigint {
    return (this.cy + this.toPlaces(y - this.height / 2)) >> POINT;
  }

  private toPlaces(pixels: number): bigint {
    return BigInt(Math.round((pixels / 2 ** this.k) * ONE));
  }

  private screenX(place: bigint): number {
    return (Number((place << POINT) - this.cx) / ONE) * 2 ** this.k + this.width / 2;
  }

  private screenY(place: bigint): number {
    return (Number((place << POINT) - this.cy) / ONE) * 2 ** this.k + this.height / 2;
  }

  private fitZoom(): number {
    return Math.min(LARGEST_CELL, this.zoomFor(Number(this.box.w), Number(this.box.h)));
  }

  private zoomFor(w: number, h: number): number {
    const room = (pixels: number): number => Math.max(32, pixels - 2 * MARGIN);
    return Math.log2(Math.min(room(this.width) / w, room(this.height) / h));
  }

  /** Keeps a part of the range on the screen. */
  private settle(): void {
    const { x, y, w, h } = this.box;
    this.cx = clampBig(this.cx, x << POINT, (x + w) << POINT);
    this.cy = clampBig(this.cy, y << POINT, (y + h) << POINT);
  }
}

function boxOf(order: number, from: bigint, to: bigint): { x: bigint; y: bigint; w: bigint; h: bigint } {
  const side = 1n << BigInt(order);
  let [left, top, right, bottom] = [side, side, 0n, 0n];
  // Eight levels below the size of the part are exact enough to look at.
  const smallest = Math.max(0, Math.ceil((to - from).toString(2).length / 2) - 8);
  coverSquares(order, from, to, { left: 0n, top: 0n, right: side, bottom: side }, smallest, (x, y, level) => {
    const size = 1n << BigInt(level);
    if (x < left) left = x;
    if (y < top) top = y;
    if (x + size > right) right = x + size;
    if (y + size > bottom) bottom = y + size;
  });
  return { x: left, y: top, w: right - left, h: bottom - top };
}
