// A card of the overview: one range, with its bands, its trend and what is wrong with it.

import type { BandCard, Change, RangeCard, Severity } from "../api";
import { fill, h, onChange, svg } from "../dom";
import { sentence } from "../net";
import { formatCount, formatPercent, groupDigits, plural, share } from "../values";
import { rangeLink, routeLink } from "./links";
import { withPanel } from "../route";

const POOL_TEXT = { IPv4: "IPv4 addresses", IPv6: "IPv6 addresses", NodePort: "Node ports" };
const UNKNOWN = "Not known";
const SEVERITY_TEXT: Record<Severity, string> = { critical: "Critical", warning: "Warning", note: "Note" };

export class CardView {
  readonly element = h("li", { class: "card" });
  private readonly head = h("div", { class: "card-head" });
  private readonly body = h("div", { class: "card-body" });
  private readonly numbers = h("div");
  private readonly draw = onChange<RangeCard>((card) => this.drawAll(card));
  private lit = 0;

  constructor() {
    const more = h("details", { class: "numbers" }, h("summary", {}, "All numbers"), this.numbers);
    this.element.append(this.head, this.body, more);
  }

  update(card: RangeCard): void {
    this.draw(card);
  }

  /** Lights up for a moment, because values of the range have changed. */
  light(changes: readonly Change[]): void {
    if (changes.length === 0) return;
    this.element.classList.add("lit");
    clearTimeout(this.lit);
    this.lit = window.setTimeout(() => this.element.classList.remove("lit"), 1600);
  }

  private drawAll(card: RangeCard): void {
    this.element.dataset["severity"] = card.severity ?? "none";
    fill(this.head,
      h("div", { class: "card-title" }, h("h2", {}, rangeLink(card.key, card.name)), badge(card.severity)),
      h("p", { class: "card-range" }, h("span", { class: "value" }, card.range), h("span", { class: "kind" }, POOL_TEXT[card.pool])),
      stateTags(card));
    fill(this.body, ...cardSummary(card), actions(card));
    fill(this.numbers, numbersTable(card), trendTable(card));
  }
}

/** Returns what the card and the side of the map say of a range. */
export function cardSummary(card: RangeCard): (Node | null)[] {
  return [figures(card), bands(card), facts(card), remarks(card), fullNote(card)];
}

export function badge(severity: Severity | null): HTMLElement | null {
  return severity === null ? null : h("span", { class: `badge ${severity}` }, SEVERITY_TEXT[severity]);
}

function stateTags(card: RangeCard): HTMLElement | null {
  const tags = [
    !card.exact && "Assumed", card.leaving && "Being deleted", !card.open && !card.leaving && "Drained",
    card.strict && "Strict",
  ].filter((tag): tag is string => tag !== false);
  return tags.length === 0 ? null : h("p", { class: "tags" }, ...tags.map((tag) => h("span", { class: "tag" }, tag)));
}

function figures(card: RangeCard): HTMLElement {
  const used = BigInt(card.usable) - BigInt(card.free);
  return h("div", { class: "figures" },
    h("p", { class: "figure" },
      h("span", { class: "figure-number" }, formatPercent(card.percentUsed)),
      h("span", { class: "figure-text" }, `${formatCount(used)} of ${formatCount(card.usable)} not free`)),
    spark(card));
}

/** Draws values in use over time; the table below the card has the same numbers. */
function spark(card: RangeCard): SVGElement | null {
  const { trend } = card;
  const [begin] = trend[0] ?? [0];
  const [end, now] = trend[trend.length - 1] ?? [0, 0];
  if (trend.length < 2 || end <= begin) return null;
  const values = trend.map(([, value]) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (time: number): number => 2 + (116 * (time - begin)) / (end - begin);
  const y = (value: number): number => (high === low ? 17 : 31 - (28 * (value - low)) / (high - low));
  const line = trend.map(([time, value], i) => `${i === 0 ? "M" : "L"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const days = Math.round((end - begin) / 86400);
  const label = `Values in use over ${days} days: from ${formatCount(values[0] ?? 0)} to ${formatCount(now)}`;
  return svg("svg", { class: "spark", viewBox: "0 0 120 34", role: "img", "aria-label": label },
    svg("title", {}, label),
    svg("path", { class: "spark-area", d: `${line}L${x(end).toFixed(1)} 34L2 34Z` }),
    svg("path", { class: "spark-line", d: line }),
    svg("circle", { class: "spark-end", cx: x(end).toFixed(1), cy: y(now).toFixed(1), r: 2.2 }));
}

/** Draws the bands side by side; each part shows how full its own band is. */
function bands(card: RangeCard): HTMLElement {
  return h("div", { class: "bands" }, bandPart("Static", card.staticBand, "static"), bandPart("Dynamic", card.dynamicBand, "dynamic"));
}

function bandPart(name: string, band: BandCard, className: string): HTMLElement | null {
  if (band.first === null) return null;
  const text = `${name} band ${band.first} to ${band.last ?? ""}: ${formatPercent(band.percentUsed)} not free`;
  const bar = h("div", { class: "gauge", role: "img", "aria-label": text, title: text });
  for (const [kind, count] of [["taken", band.taken], ["reserved", band.reserved], ["cooling", band.cooling]] as const) {
    const part = share(count, band.usable);
    if (part === 0) continue;
    const piece = h("span", { class: kind });
    piece.style.width = `${Math.max(0.6, 100 * part).toFixed(2)}%`;
    bar.append(piece);
  }
  return h("div", { class: `band ${className}` }, bar,
    h("p", {}, h("span", {}, name), h("span", { class: "number" }, formatPercent(band.percentUsed))),
    h("p", { class: "note" }, `${formatCount(band.free)} free`));
}

function facts(card: RangeCard): HTMLElement {
  const rows: [string, string, string][] = [
    ["Growth", card.growth === "" ? UNKNOWN : card.growth, card.growthBasis],
    ["Full in", card.fullIn === "?" ? UNKNOWN : card.fullIn, card.fullSentence],
    ["Spill", card.spill === null ? UNKNOWN : formatCount(card.spill), "Values of the static band that were drawn"],
    ["Reserved", formatCount(card.reserved), "Values that no Service may take, or only one"],
  ];
  return h("dl", { class: "facts" }, ...rows.map(([label, text, title]) =>
    h("div", { title: title === "" ? null : title }, h("dt", {}, label), h("dd", { class: text === UNKNOWN ? "unknown" : "" }, text))));
}

function remarks(card: RangeCard): HTMLElement | null {
  const lines: string[] = [];
  if (card.usedTwice > 0) lines.push(`${plural(card.usedTwice, "value is", "values are")} held by two Services.`);
  if (card.withoutService !== "0") {
    lines.push(`${plural(card.withoutService, "value has", "values have")} a record but no Service.`);
  }
  return lines.length === 0 ? null : h("ul", { class: "remarks" }, ...lines.map((line) => h("li", {}, line)));
}

function fullNote(card: RangeCard): HTMLElement | null {
  return card.fullSentence === "" ? null : h("p", { class: "note" }, sentence(card.fullSentence));
}

function actions(card: RangeCard): HTMLElement {
  const onMap = { page: "map" as const, range: card.key, at: null, zoom: null, find: "", table: false };
  return h("p", { class: "card-actions" },
    routeLink({ ...onMap, ...withPanel({}) }, "Open the map", "open " + card.key, "button"),
    routeLink({ ...onMap, ...withPanel({ whatIf: card.range }) }, "What if", "what if " + card.key, "button quiet"));
}

function numbersTable(card: RangeCard): HTMLElement {
  const count = (text: string): HTMLElement => h("td", { class: "number" }, groupDigits(text));
  const { staticBand: s, dynamicBand: d } = card;
  const rows: [string, string, string, string][] = [
    ["Usable", s.usable, d.usable, card.usable], ["Taken", s.taken, d.taken, card.taken],
    ["Named", String(s.named ?? "?"), String(d.named ?? "?"), ""], ["Drawn", String(s.drawn ?? "?"), String(d.drawn ?? "?"), ""],
    ["Reserved", s.reserved, d.reserved, card.reserved], ["Cooling", s.cooling, d.cooling, card.cooling],
    ["Never given out", "", "", card.excluded], ["Free", s.free, d.free, card.free],
  ];
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Numbers of ${card.name} ${card.range}` },
    h("table", { class: "data small" },
      h("caption", { class: "visually-hidden" }, `Numbers of ${card.name} ${card.range}`),
      h("thead", {}, h("tr", {}, ...["", "Static", "Dynamic", "Range"].map((text, i) =>
        i === 0 ? h("td", {}) : h("th", { scope: "col", class: "number" }, text)))),
      h("tbody", {}, ...rows.map(([label, a, b, all]) =>
        h("tr", {}, h("th", { scope: "row" }, label), count(a), count(b), count(all))))),
    h("p", { class: "note" }, `Source: ${card.source}. ${spanText("Static", s)} ${spanText("Dynamic", d)}`));
}

function spanText(name: string, band: BandCard): string {
  return band.first === null ? `${name} band: empty.` : `${name} band: ${band.first} – ${band.last ?? ""}.`;
}

function trendTable(card: RangeCard): HTMLElement | null {
  if (card.trend.length < 2) return null;
  const step = Math.max(1, Math.ceil(card.trend.length / 12));
  const points = card.trend.filter((_, i) => (card.trend.length - 1 - i) % step === 0);
  const day = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });
  return h("table", { class: "data small" },
    h("caption", {}, "Values in use over time"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Day"), h("th", { scope: "col", class: "number" }, "In use"))),
    h("tbody", {}, ...points.map(([time, value]) => h("tr", {},
      h("th", { scope: "row" }, day.format(new Date(time * 1000))), h("td", { class: "number" }, formatCount(value))))));
}
