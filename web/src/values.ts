// Reads and prints values: addresses and ports as numbers, and counts as text for people. A /64 has
// more values than a double can count, so all of them are BigInt.

import type { Pool } from "./api";

/** Returns the number of an address or a port, or null if the text is neither. */
export function parseValue(text: string): { pool: Pool; number: bigint } | null {
  if (/^\d{1,5}$/.test(text)) {
    const port = Number(text);
    return port <= 65535 ? { pool: "NodePort", number: BigInt(port) } : null;
  }
  if (text.includes(":")) {
    const number = parseIPv6(text);
    return number === null ? null : { pool: "IPv6", number };
  }
  const number = parseIPv4(text);
  return number === null ? null : { pool: "IPv4", number };
}

export function formatValue(pool: Pool, number: bigint): string {
  if (pool === "NodePort") return number.toString();
  return pool === "IPv4" ? formatIPv4(number) : formatIPv6(number);
}

/** Returns the number of bits that a value of the pool has. */
export function poolBits(pool: Pool): number {
  if (pool === "NodePort") return 16;
  return pool === "IPv4" ? 32 : 128;
}

function parseIPv4(text: string): bigint | null {
  const parts = text.split(".");
  if (parts.length !== 4) return null;
  let number = 0n;
  for (const part of parts) {
    if (!/^\d{1,3}$/.test(part) || Number(part) > 255) return null;
    number = (number << 8n) | BigInt(part);
  }
  return number;
}

function formatIPv4(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => ((number >> shift) & 255n).toString()).join(".");
}

function parseIPv6(text: string): bigint | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const head = words(halves[0] ?? "");
  const tail = halves.length === 2 ? words(halves[1] ?? "") : [];
  if (head === null || tail === null) return null;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const all = [...head, ...new Array<bigint>(missing).fill(0n), ...tail];
  return all.reduce((number, word) => (number << 16n) | word, 0n);
}

/** Returns the 16-bit words of one side of "::". */
function words(text: string): bigint[] | null {
  if (text === "") return [];
  const result: bigint[] = [];
  for (const part of text.split(":")) {
    if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return null;
    result.push(BigInt("0x" + part));
  }
  return result;
}

/** Prints as RFC 5952 says: the longest run of zeros is left out, letters are small. */
function formatIPv6(number: bigint): string {
  const parts: bigint[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n) parts.push((number >> shift) & 0xffffn);
  let best = 0;
  let bestAt = -1;
  for (let i = 0, run = 0; i < 8; i++) {
    run = parts[i] === 0n ? run + 1 : 0;
    if (run > best && run > 1) {
      best = run;
      bestAt = i - run + 1;
    }
  }
  const print = (list: bigint[]): string => list.map((part) => part.toString(16)).join(":");
  if (bestAt < 0) return print(parts);
  return print(parts.slice(0, bestAt)) + "::" + print(parts.slice(bestAt + best));
}

/** Prints a count with groups of digits; a very large one as a power of ten. */
export function formatCount(count: string | number | bigint): string {
  const digits = count.toString();
  if (!/^-?\d+$/.test(digits)) return digits;
  if (digits.length > 15) {
    const power = digits.length - 1;
    const raised = [...power.toString()].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)] ?? "").join("");
    return `${digits[0] ?? ""}.${digits.slice(1, 3)} × 10${raised}`;
  }
  return groupDigits(digits);
}

/** Prints all digits of a count, in groups. */
export function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function formatPercent(percent: number): string {
  if (percent > 0 && percent < 0.1) return "<0.1%";
  if (percent > 99.9 && percent < 100) return "99.9%";
  return percent.toFixed(1) + "%";
}

/** Returns part / whole between 0 and 1, also for counts that no double can hold. */
export function share(part: string, whole: string): number {
  const all = Number(whole);
  return all > 0 ? Math.min(1, Math.max(0, Number(part) / all)) : 0;
}

/** Returns "1 Service", "2 Services". */
export function plural(count: number | string, one: string, many = one + "s"): string {
  return `${formatCount(count)} ${count.toString() === "1" ? one : many}`;
}
