// The first page: what needs attention, a card for each range, and who holds most.

import type { Attention, Gap, Holder, Overview } from "../api";
import { overview, route, view } from "../app";
import { button, fill, h, onChange, setShown } from "../dom";
import { sentence } from "../net";
import { timeElement } from "../time";
import { formatCount, plural } from "../values";
import { badge, CardView } from "./card";
import { rangeLink, routeLink } from "./links";
import { withPanel } from "../route";

const heading = h("h1", {}, "Overview");
const summary = h("p", { class: "summary" });
const attention = h("section", { class: "panel attention", "aria-labelledby": "attention-title" });
const cards = h("ul", { class: "cards", "aria-label": "Ranges" });
const holders = h("section", { class: "panel", "aria-labelledby": "holders-title" });
const gaps = h("section", { class: "panel gaps", "aria-labelledby": "gaps-title" });
const known = new Map<string, CardView>();

export function startOverview(host: HTMLElement): void {
  const element = h("section", { class: "page", "aria-label": "Overview", hidden: true },
    h("div", { class: "page-head" }, heading, summary), attention, cards,
    h("div", { class: "two" }, holders, gaps));
  host.append(element);
  const show = (): void => setShown(element, route.value.page === "overview" && overview.value !== null);
  route.on(show);
  overview.on((next) => {
    if (next) draw(next);
    show();
  });
  view.on((next) => {
    if (!next) return;
    for (const [key, card] of known) card.light(next.changes.filter((change) => change.keys.includes(key)));
  });
}

function draw(next: Overview): void {
  drawSummary(next);
  drawAttention(next.attention);
  drawCards(next);
  drawHolders(next.namespaces);
  drawGaps(next.gaps);
}

function drawSummary(next: Overview): void {
  const types = Object.entries(next.types).sort((a, b) => b[1] - a[1]);
  const text = types.map(([type, count]) => `${formatCount(count)} ${type}`).join(", ");
  fill(summary,
    `${plural(next.serviceCount, "Service")} in ${plural(next.namespaceCount, "namespace")}${text === "" ? "" : `: ${text}`}. Read at `,
    timeElement(next.readAt, "clock"), ".");
}

let showAll = false;

function drawAttention(list: Attention[]): void {
  renderAttention({ list, showAll });
}

const renderAttention = onChange<{ list: Attention[]; showAll: boolean }>(({ list, showAll: all }) => {
  const title = h("h2", { id: "attention-title" }, "Needs attention");
  if (list.length === 0) {
    return fill(attention, title, h("p", { class: "calm" }, "Nothing needs attention."));
  }
  const shown = all ? list : list.slice(0, 4);
  const more = list.length - shown.length;
  fill(attention, title, h("ul", { class: "attention-list" }, ...shown.map(attentionItem)),
    more > 0 && button(`Show ${more} more`, () => {
      showAll = true;
      drawAttention(list);
    }, { class: "button quiet" }));
});

function attentionItem(item: Attention): HTMLElement {
  return h("li", {}, badge(item.severity), h("div", {},
    h("p", {}, sentence(item.message), item.key !== null && " ", item.key !== null && rangeLink(item.key, "Map")),
    item.advice !== null && h("p", { class: "note" }, sentence(item.advice))));
}

function drawCards(next: Overview): void {
  const keys = new Set(next.ranges.map((card) => card.key));
  for (const [key, card] of known) {
    if (keys.has(key)) continue;
    card.element.remove();
    known.delete(key);
  }
  next.ranges.forEach((range, i) => {
    let card = known.get(range.key);
    if (!card) {
      card = new CardView();
      known.set(range.key, card);
    }
    card.update(range);
    if (cards.children[i] !== card.element) cards.insertBefore(card.element, cards.children[i] ?? null);
  });
}

const drawHolders = onChange<Holder[]>((list) => {
  const most = Math.max(1, ...list.map((holder) => holder.addresses + holder.ports));
  const row = (holder: Holder): HTMLElement => {
    const bar = h("span", { class: "mini", "aria-hidden": "true" });
    bar.style.width = `${((100 * (holder.addresses + holder.ports)) / most).toFixed(1)}%`;
    const find = { page: "map" as const, find: holder.namespace + "/", colour: "state" as const, at: null, zoom: null, ...withPanel({}) };
    return h("tr", {},
      h("th", { scope: "row" }, routeLink(find, holder.namespace, "namespace " + holder.namespace), bar),
      ...[holder.services, holder.addresses, holder.ports].map((count) => h("td", { class: "number" }, formatCount(count))));
  };
  fill(holders, h("h2", { id: "holders-title" }, "Namespaces that hold most"),
    list.length === 0 ? h("p", { class: "calm" }, "No Service holds a value.") : h("table", { class: "data" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Namespace"),
        ...["Services", "Addresses", "Ports"].map((text) => h("th", { scope: "col", class: "number" }, text)))),
      h("tbody", {}, ...list.map(row))));
});

const drawGaps = onChange<Gap[]>((list) => {
  setShown(gaps, list.length > 0);
  fill(gaps, h("h2", { id: "gaps-title" }, "What the source does not show"),
    h("ul", { class: "plain" }, ...list.map((gap) =>
      h("li", {}, h("p", {}, sentence(gap.what)), gap.advice !== null && h("p", { class: "note" }, sentence(gap.advice))))));
});
