// Says in words what a cell of the map shows, for the tooltip, the status line and screen readers.

import type { RangeDetail } from "../api";
import { MARK_TEXT, MARKS } from "../colour";
import { duration } from "../time";
import { formatCount, formatValue, parseValue } from "../values";
import type { Cells } from "./cells";

export interface Words {
  title: string;
  lines: string[];
}

/** Returns the text of the value at an offset of a range. */
export function valueAt(detail: RangeDetail, offset: bigint): string {
  return formatValue(detail.pool, (parseValue(detail.first)?.number ?? 0n) + offset);
}

/** Returns the offset of a value in a range, or null if it has none. */
export function offsetOf(detail: RangeDetail, value: string): bigint | null {
  const read = parseValue(value);
  const first = parseValue(detail.first);
  if (!read || !first || read.pool !== first.pool) return null;
  const offset = read.number - first.number;
  return offset >= 0n && offset < BigInt(detail.size) ? offset : null;
}

/** Returns the last offset of the cell that begins at an offset. */
export function cellEnd(detail: RangeDetail, offset: bigint, level: number): bigint {
  const end = offset + (1n << BigInt(level)) - 1n;
  const last = BigInt(detail.size) - 1n;
  return end < last ? end : last;
}

export function describe(detail: RangeDetail, cells: Cells | null, offset: bigint, level: number): Words {
  const first = valueAt(detail, offset);
  const last = valueAt(detail, cellEnd(detail, offset, level));
  const title = first === last ? first : `${first} – ${last}`;
  if (!cells) return { title, lines: ["Loading"] };
  const cell = Number((offset >> BigInt(level)) - cells.index * 4096n);
  const row = cells.rows.get(cell);
  const mark = MARKS[cells.mark[cell] ?? 0] ?? "outside";
  if (!row) return { title, lines: [withSpan(detail, offset, MARK_TEXT[mark])] };
  const [, , used, usable, named, drawn, namespace, type, newest, owner] = row;
  const lines: string[] = [];
  if (first === last) {
    if (owner !== "") lines.push(owner);
    lines.push(withSpan(detail, offset, MARK_TEXT[mark]) + originText(named, drawn));
  } else {
    lines.push(`${formatCount(used)} of ${formatCount(usable)} not free`);
    if (mark !== "taken") lines.push("Most of note: " + MARK_TEXT[mark].toLowerCase());
    if (named + drawn > 0) lines.push(`${formatCount(named)} named, ${formatCount(drawn)} drawn`);
  }
  const names = [cells.namespaces[namespace], cells.types[type]].filter((name) => name !== undefined);
  if (first !== last && names.length > 0) lines.push("Mostly " + names.join(", "));
  else if (cells.types[type] !== undefined) lines.push(cells.types[type] ?? "");
  if (newest > 0) lines.push(`${first === last ? "Created" : "Newest"} ${duration(Date.now() / 1000 - newest)} ago`);
  return { title, lines };
}

function originText(named: number, drawn: number): string {
  if (named > 0 && drawn === 0) return ", named by a client";
  return drawn > 0 && named === 0 ? ", drawn by the allocator" : "";
}

/** Adds the part of the range that the server named: a band, an exclusion, another range. */
function withSpan(detail: RangeDetail, offset: bigint, text: string): string {
  const covers = (from: string, to: string): boolean => BigInt(from) <= offset && offset <= BigInt(to);
  const also = detail.overlaps.filter((span) => covers(span.from, span.to)).map((span) => span.label);
  const why = detail.exclusions.find((span) => covers(span.from, span.to))?.why;
  const parts = [text];
  if (why) parts.push(why);
  if (also.length > 0) parts.push("also in " + also.slice(0, 2).join(" and "));
  return parts.join(", ");
}
