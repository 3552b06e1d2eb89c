// Writes values and the names of their owners into the cells of single values, when there is room.

import type { RangeDetail } from "../api";
import { inkOn, markColour, MARKS } from "../colour";
import { theme } from "../theme";
import type { Cells } from "./cells";
import { valueAt } from "./describe";
import { tileTable } from "./hilbert";
import type { Projection, TilePlace } from "./projection";
import type { Inks } from "./strokes";
import type { Tiles } from "./tiles";

interface Source {
  projection: Projection;
  tiles: Tiles | null;
  detail: RangeDetail;
  size: { width: number; height: number };
}

const MOST = 900; // texts in a frame

export function drawNames(
  context: CanvasRenderingContext2D, source: Source, places: readonly TilePlace[], inks: Inks,
): void {
  const { w, h } = source.projection.cell;
  if (w < 34 || h < 15) return;
  const { width, height } = source.size;
  context.textBaseline = "middle";
  context.textAlign = "left";
  let left = MOST;
  for (const place of places) {
    const cells = source.tiles?.get(0, place.index);
    if (!cells) continue;
    const table = place.orientation === null ? null : tileTable(place.orientation);
    for (let cell = 0; cell < 4096 && left > 0; cell++) {
      const at = table ? table[cell] ?? 0 : cell;
      const x = place.x + (at % place.columns) * w;
      const y = place.y + Math.floor(at / place.columns) * h;
      if (x < -w || y < -h || x > width || y > height) continue;
      if (cells.mark[cell] === 0) continue;
      left--;
      drawCell(context, source, cells, cell, { x, y, w, h }, inks);
    }
  }
}

function drawCell(
  context: CanvasRenderingContext2D, source: Source, cells: Cells, cell: number,
  box: { x: number; y: number; w: number; h: number }, inks: Inks,
): void {
  const offset = cells.index * 4096n + BigInt(cell);
  const value = tail(valueAt(source.detail, offset));
  const row = cells.rows.get(cell);
  const mark = MARKS[cells.mark[cell] ?? 0] ?? "free";
  const plain = source.tiles?.inkOf(cells, cell) ?? inkOn(markColour(mark, theme.value));
  context.fillStyle = row || mark === "excluded" ? plain : inks.muted;
  context.font = inks.mono;
  const lines = [value, ...(row && box.w >= 56 ? nameLines(row[9], mark) : [])];
  const [line, font] = box.w > 120 ? [18, inks.large] : [14, inks.small];
  const fits = Math.max(1, Math.floor((box.h - 6) / line));
  if (box.h < 30 && lines.length > 1 && box.w > 90) {
    return context.fillText(cut(context, `${value} ${row?.[9] ?? ""}`, box.w - 8), box.x + 4, box.y + box.h / 2);
  }
  const shown = lines.slice(0, fits);
  const top = box.h < 30 ? box.y + box.h / 2 : box.y + 13;
  shown.forEach((text, i) => {
    context.font = i === 0 ? inks.mono : font;
    context.fillText(cut(context, text, box.w - 8), box.x + 5, top + line * i);
  });
}

function nameLines(owner: string, mark: string): string[] {
  if (owner === "") return [mark];
  const [namespace = "", name = ""] = owner.split("/", 2);
  return [name, namespace];
}

/** Returns the part of a value in which neighbours differ. */
function tail(value: string): string {
  if (value.endsWith("::")) return "::";
  const at = Math.max(value.lastIndexOf("."), value.lastIndexOf(":"));
  return at < 0 ? value : value.slice(at);
}

const known = new Map<string, string>();

/** Cuts a text so that it fits, and remembers it: to measure is slow. */
function cut(context: CanvasRenderingContext2D, text: string, room: number): string {
  const key = `${Math.floor(room / 4)} ${context.font.length} ${text}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  let shown = text;
  while (shown.length > 1 && context.measureText(shown).width > room) {
    shown = shown.slice(0, Math.max(1, shown.length - 2)).replace(/…$/, "") + "…";
    if (shown.length <= 2) break;
  }
  if (known.size > 5000) known.clear();
  known.set(key, shown);
  return shown;
}
