// The edge of a range in a what-if: which ranges it can be moved to, and how the map and the panel
// tell each other. Whether a range is possible, and what follows, only the server says.

import type { Pool } from "../api";
import { Signal } from "../signal";
import { formatValue, parseValue, poolBits } from "../values";

/** The range that is asked about, for the map to draw; null if there is no what-if. */
export const ghostRange = new Signal<{ key: string; to: string } | null>(null);
/** The value to which the map drags the end of that range. */
export const draggedTo = new Signal<string | null>(null);

export interface Interval {
  pool: Pool;
  first: bigint;
  last: bigint;
  prefix: number | null; // null for ports
}

/** Reads "10.96.0.0/16" or "30000-32767"; returns null if it is neither. */
export function parseInterval(text: string): Interval | null {
  const [left = "", right, more] = text.trim().split(text.includes("/") ? "/" : "-");
  if (right === undefined || more !== undefined) return null;
  const start = parseValue(left.trim());
  if (!start) return null;
  if (start.pool === "NodePort") {
    const end = parseValue(right.trim());
    if (!end || end.pool !== "NodePort" || text.includes("/") || end.number < start.number) return null;
    return { pool: "NodePort", first: start.number, last: end.number, prefix: null };
  }
  const prefix = /^\d{1,3}$/.test(right) ? Number(right) : 999;
  return text.includes("/") && prefix <= poolBits(start.pool) ? block(start.pool, start.number, prefix) : null;
}

/** Returns the block of a prefix length that a value is in. */
function block(pool: Pool, value: bigint, prefix: number): Interval {
  const rest = BigInt(poolBits(pool) - prefix);
  const first = (value >> rest) << rest;
  return { pool, first, last: first + (1n << rest) - 1n, prefix };
}

export function formatInterval({ pool, first, last, prefix }: Interval): string {
  const text = formatValue(pool, first);
  return prefix === null ? `${text}-${formatValue(pool, last)}` : `${text}/${prefix}`;
}

/** Returns the range with its end at a value, or as near to it as a CIDR can be. */
export function withEnd(range: Interval, end: bigint): Interval {
  if (range.prefix === null) {
    const last = end < range.first ? range.first : end > 65535n ? 65535n : end;
    return { ...range, last };
  }
  const size = end >= range.first ? end - range.first + 1n : 1n;
  const bits = poolBits(range.pool);
  const digits = size.toString(2).length - 1; // size is at least 2^digits
  const nearer = size * 2n > 3n * (1n << BigInt(digits)) ? digits + 1 : digits;
  return block(range.pool, range.first, Math.max(0, Math.min(bits, bits - nearer)));
}

/** Returns the block with another prefix length that holds the first value of the range. */
export function withPrefix(range: Interval, prefix: number): Interval {
  return block(range.pool, range.first, Math.max(0, Math.min(poolBits(range.pool), prefix)));
}

/** Returns the ports with another start. */
export function withStart(range: Interval, start: bigint): Interval {
  return { ...range, first: start < 0n ? 0n : start > range.last ? range.last : start };
}
