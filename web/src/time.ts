// Shows times in the reader's zone, with UTC in the title.

import { h } from "./dom";

const FULL = new Intl.DateTimeFormat(undefined, {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short",
});
const SHORT = new Intl.DateTimeFormat(undefined, {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit",
});
const MINUTE = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** Returns a <time> element such as "18 Nov 2026, 10:30 CET". */
export function timeElement(text: string, style: "full" | "short" | "clock" | "minute" = "full"): HTMLElement {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return h("span", {}, text);
  const shown = { full: FULL, short: SHORT, clock: CLOCK, minute: MINUTE }[style].format(date);
  return h("time", { datetime: text, title: utc(date) }, shown);
}

function utc(date: Date): string {
  return date.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
}

/** Returns a text in which each time in UTC is shown in the reader's zone. */
export function withTimes(text: string): (string | HTMLElement)[] {
  const parts = text.split(/(\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)/);
  return parts.map((part, i) => (i % 2 === 1 ? timeElement(part) : part)).filter((part) => part !== "");
}

/** Returns "3 days" for a number of seconds, in the largest unit that has at least one. */
export function duration(seconds: number): string {
  const units: [number, string][] = [
    [31557600, "year"], [2629800, "month"], [604800, "week"], [86400, "day"], [3600, "hour"], [60, "minute"],
  ];
  for (const [length, name] of units) {
    const count = Math.floor(seconds / length);
    if (count >= 1) return `${count} ${name}${count === 1 ? "" : "s"}`;
  }
  return "less than a minute";
}
