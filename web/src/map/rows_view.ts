// The layout in plain rows: values from left to right and from top to bottom. A row has 64 or 128
// cells (fewer on a phone, and when single values are shown large). A zoom changes how many values a
// row has, so it goes in steps.

import type { Pool, RangeDetail } from "../api";
import { formatCount, formatValue, parseValue } from "../values";
import { outlineOf } from "./outline";
import type { Rect } from "./outline";
import { clamp, clampBig, mapBits } from "./projection";
import type { Label, Look, Projection, TilePlace } from "./projection";

const HEAD = 22; // pixels above the first row
const POINT = 16n;
const ONE = 65536;
const LEAST_ROW = 7; // pixels
const NAME_ROW = 22;

export class RowsView implements Projection {
  readonly name = "rows";
  private readonly pool: Pool;
  private readonly first: bigint;
  private readonly size: bigint;
  private readonly bits: number;
  private width = 1;
  private height = 1;
  private rowBits = 0; // a row has 2^rowBits values
  private top = 0n; // the row at the upper edge
  private pending = 0; // zoom that is not yet a whole step
  private fitted = true;

  constructor(detail: RangeDetail) {
    this.pool = detail.pool;
    this.first = parseValue(detail.first)?.number ?? 0n;
    this.size = BigInt(detail.size);
    this.bits = mapBits(detail);
  }

  get level(): number {
    return clamp(2 * Math.floor((this.rowBits - this.base()) / 2), 0, this.bits - 12);
  }

  get cell(): { w: number; h: number } {
    const w = Math.max(1, (this.width - this.gutter() - 12) / this.columns());
    return { w, h: this.rowHeight(this.rowBits, w) };
  }

  get whole(): boolean {
    return this.fitted;
  }

  setSize(width: number, height: number): void {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    if (this.fitted) return this.fit();
    this.rowBits = clamp(this.rowBits, this.least(), this.most());
    this.settle();
  }

  tiles(): TilePlace[] {
    const columns = this.columns();
    const rows = BigInt(4096 / columns);
    const { w, h } = this.cell;
    const total = this.rows();
    const last = clampBig((this.rowAt(this.height)) / rows, 0n, (total - 1n) / rows);
    const places: TilePlace[] = [];
    for (let index = clampBig(this.rowAt(HEAD) / rows, 0n, last); index <= last; index++) {
      places.push({
        index, columns, orientation: null, x: this.gutter(), y: this.screenY(index * rows),
        w: w * columns, h: h * Number(rows),
      });
    }
    return places;
  }

  offsetAt(x: number, y: number): bigint | null {
    const column = Math.floor((x - this.gutter()) / this.cell.w);
    const row = this.rowAt(y);
    if (column < 0 || column >= this.columns() || row < 0n || y < HEAD) return null;
    const offset = (row << BigInt(this.rowBits)) + (BigInt(column) << BigInt(this.level));
    return offset < this.size ? offset : null;
  }

  rectOf(offset: bigint): Rect {
    const { w, h } = this.cell;
    return { x: this.gutter() + this.columnOf(offset) * w, y: this.screenY(offset >> BigInt(this.rowBits)), w, h };
  }

  pointOf(offset: bigint): { x: number; y: number } {
    const { x, y, w, h } = this.rectOf(offset);
    return { x: x + w / 2, y: y + h / 2 };
  }

  outline(from: bigint, to: bigint): number[] {
    const anchor = this.rowAt(0) - 2n;
    const end = this.rowAt(this.height) + 2n;
    const rowBits = BigInt(this.rowBits);
    const [firstRow, lastRow] = [from >> rowBits, to >> rowBits];
    const columns = this.columns();
    const rects: Rect[] = [];
    const add = (row: bigint, count: bigint, x: number, w: number): void => {
      const [a, b] = [clampBig(row, anchor, end), clampBig(row + count, anchor, end)];
      if (b > a && w > 0) rects.push({ x, y: Number(a - anchor), w, h: Number(b - a) });
    };
    const [begin, stop] = [this.columnOf(from), this.columnOf(to) + 1];
    if (firstRow === lastRow) add(firstRow, 1n, begin, stop - begin);
    else {
      add(firstRow, 1n, begin, columns - begin);
      add(firstRow + 1n, lastRow - firstRow - 1n, 0, columns);
      add(lastRow, 1n, 0, stop);
    }
    const { w, h } = this.cell;
    const lines = outlineOf(rects);
    for (let i = 0; i < lines.length; i += 2) {
      lines[i] = (lines[i] ?? 0) * w + this.gutter();
      lines[i + 1] = (lines[i + 1] ?? 0) * h + this.screenY(anchor);
    }
    return lines;
  }

  panBy(_dx: number, dy: number): void {
    this.fitted = false;
    this.top -= this.toRows(dy);
    this.settle();
  }

  zoomAt(steps: number, x: number, y: number): void {
    this.pending += steps;
    const whole = Math.trunc(this.pending / 0.9);
    if (whole === 0) return;
    this.pending = 0;
    const next = clamp(this.rowBits - Math.sign(whole), this.least(), this.most());
    if (next === this.rowBits) return;
    if (next === this.most()) return this.fit();
    const anchor = this.offsetAt(clamp(x, this.gutter() + 1, this.width - 13), Math.max(y, HEAD + 1)) ?? this.size - 1n;
    this.rowBits = next;
    this.fitted = false;
    this.place(anchor, Math.max(y, HEAD));
  }

  fit(): void {
    this.fitted = true;
    this.rowBits = this.most();
    this.top = 0n;
    this.settle();
  }

  look(): Look {
    const middle = clampBig(this.rowAt(this.height / 2), 0n, this.rows() - 1n);
    return { offset: clampBig(middle << BigInt(this.rowBits), 0n, this.size - 1n), zoom: -this.rowBits };
  }

  lookAt(offset: bigint, zoom: number | null): void {
    this.fitted = false;
    this.rowBits = clamp(zoom === null ? this.base() - 1 : -Math.round(zoom), this.least(), this.most());
    this.place(offset, this.height / 2);
  }

  lookAtPart(from: bigint, to: bigint): void {
    this.fitted = false;
    this.rowBits = this.least();
    const fits = (): boolean => this.cell.h * Number(((to - from) >> BigInt(this.rowBits)) + 2n) <= this.height - HEAD;
    while (this.rowBits < this.most() && !fits()) this.rowBits++;
    this.place((from + to) / 2n, this.height / 2);
  }

  step(offset: bigint, dx: number, dy: number): bigint {
    const moved = offset + (BigInt(dx) << BigInt(this.level)) + (BigInt(dy) << BigInt(this.rowBits));
    return moved >= 0n && moved < this.size ? moved : offset;
  }

  labels(): Label[] {
    return [...this.rowLabels(), ...this.columnLabels()];
  }

  private rowLabels(): Label[] {
    const { h } = this.cell;
    let every = 1n;
    while (Number(every) * h < 16) every <<= 1n;
    const labels: Label[] = [];
    const end = clampBig(this.rowAt(this.height), -1n, this.rows() - 1n);
    for (let row = clampBig((this.rowAt(HEAD) / every) * every, 0n, end + 1n); row <= end; row += every) {
      const y = this.screenY(row) + h / 2;
      if (y < HEAD) continue;
      const value = formatValue(this.pool, this.first + (row << BigInt(this.rowBits)));
      labels.push({ x: this.gutter() - 8, y, text: this.shorten(value), align: "right" });
    }
    return labels;
  }

  private columnLabels(): Label[] {
    const columns = this.columns();
    const count = Math.min(columns, this.width < 600 ? 2 : 4);
    return Array.from({ length: count }, (_, i) => {
      const column = (i * columns) / count;
      const text = "+" + formatCount(BigInt(column) << BigInt(this.level));
      return { x: this.gutter() + column * this.cell.w + 2, y: HEAD / 2, text, align: "left" as const };
    });
  }

  /** Returns the height of a row: the whole range fills the height if it fits. */
  private rowHeight(rowBits: number, cellWidth: number): number {
    const rows = Number(((this.size - 1n) >> BigInt(rowBits)) + 1n);
    const fits = (this.height - HEAD - 10) / rows;
    const most = rowBits <= 4 ? 34 : 26;
    return fits >= LEAST_ROW ? Math.min(most, fits) : clamp(cellWidth, LEAST_ROW, most);
  }

  private shorten(value: string): string {
    const room = Math.floor((this.gutter() - 14) / 6.7);
    return value.length <= room ? value : "…" + value.slice(value.length - room + 1);
  }

  private gutter(): number {
    if (this.pool === "NodePort") return 56;
    if (this.pool === "IPv4") return 112;
    return this.width < 600 ? 104 : 196;
  }

  /** Returns the bits of the cells of a row. */
  private base(): number {
    return this.width < 600 ? 5 : 6;
  }

  private columns(): number {
    return 2 ** (this.rowBits - this.level);
  }

  private columnOf(offset: bigint): number {
    return Number((offset & ((1n << BigInt(this.rowBits)) - 1n)) >> BigInt(this.level));
  }

  private least(): number {
    return Math.min(this.base() - 3, this.most());
  }

  private most(): number {
    const widest = this.bits - 12 + this.base() + 1;
    const used = (this.size - 1n).toString(2).length;
    for (let bits = Math.min(this.base() - 3, used); bits < widest; bits++) {
      // Rows of few cells are worth it if names fit into them.
      const least = bits < this.base() ? NAME_ROW : LEAST_ROW;
      if (2 ** (used - bits) * least <= this.height - HEAD - 10) return bits;
    }
    return Math.min(widest, used);
  }

  private rows(): bigint {
    return ((this.size - 1n) >> BigInt(this.rowBits)) + 1n;
  }

  private rowAt(y: number): bigint {
    return (this.top + this.toRows(y - HEAD)) >> POINT;
  }

  private toRows(pixels: number): bigint {
    return BigInt(Math.round((pixels / this.cell.h) * ONE));
  }

  private screenY(row: bigint): number {
    return HEAD + (Number((row << POINT) - this.top) / ONE) * this.cell.h;
  }

  /** Scrolls so that the row of a value is at a height. */
  private place(offset: bigint, y: number): void {
    this.top = ((clampBig(offset, 0n, this.size - 1n) >> BigInt(this.rowBits)) << POINT)
      - this.toRows(y - HEAD) + BigInt(ONE / 2);
    this.settle();
  }

  private settle(): void {
    const shown = this.toRows(this.height - HEAD - 8);
    const most = (this.rows() << POINT) - shown;
    this.top = clampBig(this.top, 0n, most < 0n ? 0n : most);
  }
}
