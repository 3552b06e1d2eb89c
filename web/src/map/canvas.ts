// Draws the map: the images of its tiles, and on them borders, names, the cursor and what changes.
// A frame is drawn only when something differs.

import type { RangeDetail } from "../api";
import { isStill } from "../dom";
import type { LayoutName } from "../route";
import { theme } from "../theme";
import type { Cells } from "./cells";
import { cellEnd } from "./describe";
import { recordFrame } from "./frames";
import { HilbertView } from "./hilbert_view";
import { drawNames } from "./names";
import { drawOutline, drawTags, inksOf } from "./strokes";
import type { Inks, Tag } from "./strokes";
import { RowsView } from "./rows_view";
import type { Rect } from "./outline";
import type { Projection, TilePlace } from "./projection";
import { Tiles } from "./tiles";

/** A part of the range that is drawn on the map. */
export interface Ghost {
  from: bigint;
  to: bigint;
  label: string;
}

interface Flash {
  offset: bigint;
  since: number;
  released: boolean;
}

const FLASH = 2600; // milliseconds

export class MapCanvas {
  projection: Projection;
  tiles: Tiles | null = null;
  selection: { from: bigint; to: bigint } | null = null;
  /** What the panel is about: what a Service holds, or what is in the way of a what-if. */
  marked: readonly bigint[] = [];
  hover: bigint | null = null;
  cursor: bigint | null = null;
  /** The cursor is drawn while the map has the focus. */
  focused = false;
  ghost: Ghost | null = null;
  private flashes: Flash[] = [];
  private tags: Tag[] = [];
  private spans: Spans;
  private width = 1;
  private height = 1;
  private asked = 0;
  private readonly context: CanvasRenderingContext2D;
  private inks: Inks;

  constructor(
    readonly element: HTMLCanvasElement, readonly detail: RangeDetail, layout: LayoutName,
    private readonly drawn: () => void,
  ) {
    const context = element.getContext("2d", { alpha: false });
    if (!context) throw new Error("This browser cannot draw a canvas.");
    this.context = context;
    this.projection = makeProjection(detail, layout);
    this.inks = inksOf(theme.value);
    this.spans = spansOf(detail);
  }

  /** Takes over what has changed in the range: its bands, exclusions and overlaps. */
  setDetail(next: RangeDetail): void {
    Object.assign(this.detail, next);
    this.spans = spansOf(next);
    this.refresh();
  }

  setLayout(layout: LayoutName): void {
    if (layout === this.projection.name) return;
    const { offset } = this.projection.look();
    const { whole } = this.projection;
    this.projection = makeProjection(this.detail, layout);
    this.projection.setSize(this.width, this.height);
    if (!whole) this.projection.lookAt(this.cursor ?? offset, null);
    this.refresh();
  }

  resize(width: number, height: number): void {
    const ratio = Math.min(3, devicePixelRatio || 1);
    this.width = width;
    this.height = height;
    this.element.width = Math.max(1, Math.round(width * ratio));
    this.element.height = Math.max(1, Math.round(height * ratio));
    this.projection.setSize(width, height);
    this.drawNow();
  }

  get size(): { width: number; height: number } {
    return { width: this.width, height: this.height };
  }

  setTheme(): void {
    this.inks = inksOf(theme.value);
    this.drawNow();
  }

  flash(offset: bigint, released: boolean): void {
    this.flashes = this.flashes.filter((flash) => flash.offset !== offset).slice(-199);
    this.flashes.push({ offset, since: performance.now(), released });
    this.refresh();
  }

  refresh(): void {
    if (this.asked === 0) this.asked = requestAnimationFrame(() => this.drawNow());
  }

  close(): void {
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    this.tiles?.close();
    this.tiles = null;
  }

  /** Returns what is known of the cell at an offset. */
  cellsAt(offset: bigint): Cells | null {
    const level = this.projection.level;
    return this.tiles?.get(level, offset >> BigInt(level + 12)) ?? null;
  }

  /** Draws at once; printing cannot wait for a frame. */
  drawNow(): void {
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    const begin = performance.now();
    const { context } = this;
    const ratio = this.element.width / this.width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.inks.ground;
    context.fillRect(0, 0, this.width, this.height);
    const places = this.projection.tiles();
    this.drawTiles(places, ratio);
    this.drawSpans();
    if (this.projection.level === 0) drawNames(context, this, places, this.inks);
    this.drawLabels();
    drawTags(context, this.tags, this.inks, this.size, this.projection.name === "rows" ? 40 : 0);
    this.drawHandle();
    this.drawMarks();
    const again = this.drawFlashes(begin);
    recordFrame(performance.now() - begin);
    this.tiles?.want(this.projection.level, places);
    this.drawn();
    if (again) this.refresh();
  }

  private drawTiles(places: readonly TilePlace[], ratio: number): void {
    const { context } = this;
    const snap = (at: number): number => Math.round(at * ratio) / ratio;
    context.imageSmoothingEnabled = false;
    for (const place of places) {
      const image = this.tiles?.image(this.projection.level, place);
      if (!image) continue;
      const [x, y] = [snap(place.x), snap(place.y)];
      context.drawImage(image, x, y, snap(place.x + place.w) - x, snap(place.y + place.h) - y);
    }
    const { w, h } = this.projection.cell;
    if (Math.min(w, h) < 6.5) return;
    context.beginPath();
    for (const place of places) this.gridOf(place, w, h);
    context.strokeStyle = this.inks.ground;
    context.lineWidth = Math.min(w, h) > 14 ? 2 : 1;
    context.stroke();
  }

  private gridOf(place: TilePlace, w: number, h: number): void {
    const [right, bottom] = [Math.min(this.width, place.x + place.w), Math.min(this.height, place.y + place.h)];
    const [left, top] = [Math.max(0, place.x), Math.max(0, place.y)];
    for (let i = Math.max(0, Math.floor((left - place.x) / w)); place.x + i * w <= right; i++) {
      this.context.moveTo(place.x + i * w, top);
      this.context.lineTo(place.x + i * w, bottom);
    }
    for (let i = Math.max(0, Math.floor((top - place.y) / h)); place.y + i * h <= bottom; i++) {
      this.context.moveTo(left, place.y + i * h);
      this.context.lineTo(right, place.y + i * h);
    }
  }

  /** Draws the borders of the range, its bands, exclusions, and the ranges that share its values. */
  private drawSpans(): void {
    const { context, detail, inks, projection } = this;
    const { exclusions, staticPart, overlaps } = this.spans;
    drawOutline(context, projection.outline(0n, BigInt(detail.size) - 1n), inks.border, 1);
    for (const { from, to } of exclusions) drawOutline(context, projection.outline(from, to), inks.muted, 1, [3, 3]);
    const tags: Tag[] = [];
    for (const { from, to, label } of staticPart) {
      const lines = projection.outline(from, to);
      drawOutline(context, lines, inks.band, 1.5);
      tags.push({ lines, text: label });
    }
    for (const { from, to, label } of overlaps) {
      const lines = projection.outline(from, to);
      drawOutline(context, lines, inks.overlap, 1.5, [6, 3]);
      tags.push({ lines, text: label });
    }
    if (this.ghost) {
      const lines = projection.outline(this.ghost.from, this.ghost.to);
      drawOutline(context, lines, inks.accent, 3);
      tags.unshift({ lines, text: this.ghost.label });
    }
    this.tags = tags;
  }

  /** Returns where the end of the what-if range can be taken hold of. */
  handle(): { x: number; y: number } | null {
    if (!this.ghost) return null;
    const { x, y, w, h } = this.projection.rectOf(this.ghost.to);
    const end = this.projection.name === "rows" ? x + w : x + w / 2;
    return { x: Math.min(end, this.width - 8), y: Math.min(y + h / 2, this.height - 8) };
  }

  private drawHandle(): void {
    const handle = this.handle();
    if (!handle) return;
    this.context.beginPath();
    this.context.arc(handle.x, handle.y, 7, 0, 2 * Math.PI);
    this.context.fillStyle = this.inks.accent;
    this.context.fill();
    this.context.strokeStyle = this.inks.ground;
    this.context.lineWidth = 2;
    this.context.stroke();
  }

  private drawLabels(): void {
    const labels = this.projection.labels();
    if (labels.length === 0) return;
    const { context } = this;
    context.fillStyle = this.inks.ground;
    context.fillRect(0, 0, this.width, 22);
    context.font = this.inks.mono;
    context.fillStyle = this.inks.muted;
    context.textBaseline = "middle";
    for (const { x, y, text, align } of labels) {
      context.textAlign = align;
      context.fillText(text, x, y);
    }
  }

  private drawMarks(): void {
    const { context, inks } = this;
    if (this.hover !== null) this.frame(this.projection.rectOf(this.hover), inks.text, 1.5);
    for (const offset of this.marked) {
      const rect = this.projection.rectOf(offset);
      this.frame(rect, inks.ground, 5);
      this.frame(rect, this.ghost ? inks.flash : inks.text, 2.5);
    }
    if (this.selection) {
      const lines = this.projection.outline(this.selection.from, this.selection.to);
      drawOutline(context, lines, inks.ground, 6);
      drawOutline(context, lines, inks.text, 3);
    }
    if (this.cursor !== null && this.focused) {
      const rect = this.projection.rectOf(this.cursor);
      this.frame(rect, inks.ground, 5);
      this.frame(rect, inks.accent, 2.5);
    }
  }

  private frame(rect: Rect, colour: string, width: number): void {
    const grown = Math.max(0, (9 - rect.w) / 2);
    this.context.strokeStyle = colour;
    this.context.lineWidth = width;
    this.context.strokeRect(rect.x - grown, rect.y - Math.max(0, (9 - rect.h) / 2), Math.max(9, rect.w), Math.max(9, rect.h));
  }

  /** Draws a ring at what has changed; it grows and fades. Returns true while one is seen. */
  private drawFlashes(now: number): boolean {
    this.flashes = this.flashes.filter((flash) => now - flash.since < FLASH);
    if (this.flashes.length === 0) return false;
    const still = isStill();
    for (const flash of this.flashes) {
      const age = (now - flash.since) / FLASH;
      const { x, y, w, h } = this.projection.rectOf(flash.offset);
      const radius = Math.max(7, Math.hypot(w, h) / 2 + 2) + (still ? 0 : 10 * age);
      this.context.globalAlpha = still ? 1 : 1 - age;
      this.context.strokeStyle = flash.released ? this.inks.muted : this.inks.flash;
      this.context.lineWidth = 2.5;
      this.context.beginPath();
      this.context.arc(x + w / 2, y + h / 2, radius, 0, 2 * Math.PI);
      this.context.stroke();
    }
    this.context.globalAlpha = 1;
    return true;
  }

  /** Returns the last offset of the cell at an offset. */
  endOf(offset: bigint): bigint {
    return cellEnd(this.detail, offset, this.projection.level);
  }
}

interface Spans {
  exclusions: Ghost[];
  staticPart: Ghost[];
  overlaps: Ghost[];
}

function spansOf(detail: RangeDetail): Spans {
  const read = ({ from, to }: { from: string; to: string }, label: string): Ghost => ({ from: BigInt(from), to: BigInt(to), label });
  return {
    exclusions: detail.exclusions.map((span) => read(span, span.why)),
    staticPart: detail.staticPart ? [read(detail.staticPart, "static band")] : [],
    // One that has the whole range has no border on the map; the side of the map lists it.
    overlaps: detail.overlaps.map((span) => read(span, span.label))
      .filter(({ from, to }) => from > 0n || to < BigInt(detail.size) - 1n),
  };
}

function makeProjection(detail: RangeDetail, layout: LayoutName): Projection {
  return layout === "rows" ? new RowsView(detail) : new HilbertView(detail);
}
