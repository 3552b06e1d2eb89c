// The panel at the side: details of a value, a Service or a part of a range, or a what-if. On a wide
// screen the map always has it, so that opening it moves nothing.

import type { RangeCard, RangeDetail } from "../api";
import { closePanel, detail, generation, marked, overview, rangeOf, route, view } from "../app";
import { announce, button, fill, h, icon, onChange, setShown } from "../dom";
import type { Child } from "../dom";
import { getDetails, getTable, isAbort, messageOf } from "../net";
import type { Route } from "../route";
import { cardSummary } from "../views/card";
import { rangeLink } from "../views/links";
import { aboutRange } from "./about";
import { detailsBody } from "./details";
import { partBody } from "./part";
import { WhatIfPanel } from "./whatif";

const title = h("h2", { id: "panel-title", tabindex: -1 });
const kind = h("p", { class: "panel-kind" });
const close = button(icon("close"), () => closePanel(), { class: "button icon-only", "aria-label": "Close the panel", title: "Close (Esc)" });
const body = h("div", { class: "panel-body" });
const whatIf = new WhatIfPanel();
const element = h("aside", { class: "side", "aria-labelledby": "panel-title", hidden: true },
  h("div", { class: "side-head" }, h("div", {}, kind, title), close), body, whatIf.element);

let shown = ""; // what the panel shows
let returnTo: HTMLElement | null = null;
let request: AbortController | null = null;
let timer = 0;

export function startDrawer(host: HTMLElement): void {
  host.append(element);
  route.on((next) => show(next, false));
  overview.on(() => show(route.value, false));
  detail.on(() => show(route.value, false));
  const again = (): void => {
    clearTimeout(timer);
    timer = window.setTimeout(() => show(route.value, true), 400);
  };
  view.on(again);
  generation.on(again);
}

/** Moves the focus into the panel. */
export function focusPanel(): void {
  if (!element.hidden) title.focus();
}

function show(next: Route, again: boolean): void {
  const card = rangeOf(next.page === "map" ? next.range ?? overview.value?.ranges[0]?.key ?? null : null);
  const name = panelName(next, card);
  const open = name !== "" || (card !== null && next.page === "map");
  document.body.dataset["panel"] = name !== "" ? "open" : open ? "idle" : "none";
  setShown(element, open);
  setShown(close, name !== "");
  if (name === "") return showIdle(card);
  const fresh = name !== shown;
  if (fresh) enter(next, name);
  setShown(whatIf.element, next.whatIf !== null);
  setShown(body, next.whatIf === null);
  if (next.whatIf !== null) return showWhatIf(card, next.whatIf, again);
  whatIf.hide();
  if (fresh || again) void load(next, card, fresh);
}

function panelName({ value, service, part, whatIf: to }: Route, card: RangeCard | null): string {
  if (value !== null) return "value " + value;
  if (service !== null) return "service " + service;
  if (part !== null && card) return `part ${card.key} ${part.join(" ")}`;
  return to !== null && card ? "whatif " + card.key : "";
}

function enter(next: Route, name: string): void {
  const wasClosed = shown === "";
  if (marked.value.length > 0) marked.set([]);
  shown = name;
  const [text, heading] = next.value !== null ? ["Value", next.value]
    : next.service !== null ? ["Service", next.service]
    : next.part !== null ? ["Part", next.part.join(" – ")] : ["What if", ""];
  kind.textContent = text;
  title.textContent = heading;
  title.className = next.service !== null ? "" : "value";
  body.scrollTop = element.scrollTop = 0;
  const active = document.activeElement;
  // On the map the focus stays, so that the arrow keys still move the cursor.
  if (active instanceof HTMLCanvasElement || active === null) return;
  if (wasClosed && active instanceof HTMLElement) returnTo = active;
  title.focus({ preventScroll: true });
}

/** Shows the range itself while nothing is chosen. */
function showIdle(card: RangeCard | null): void {
  if (marked.value.length > 0) marked.set([]);
  request?.abort();
  whatIf.hide();
  setShown(whatIf.element, false);
  setShown(body, true);
  const wasOpen = shown !== "";
  shown = "";
  if (wasOpen) {
    fill(body);
    drawIdle(null);
    if (returnTo?.isConnected && element.contains(document.activeElement)) returnTo.focus({ preventScroll: true });
    returnTo = null;
  }
  if (card) drawIdle({ card, about: detail.value?.key === card.key ? spansOf(detail.value) : null });
}

/** Returns what the list of parts is made from; the numbers of the card change more often. */
function spansOf({ key, staticPart, dynamicPart, exclusions, overlaps }: RangeDetail): RangeDetail {
  return { key, staticPart, dynamicPart, exclusions, overlaps } as RangeDetail;
}

const drawIdle = onChange<{ card: RangeCard; about: RangeDetail | null } | null>((data) => {
  if (!data) return;
  const { card, about } = data;
  kind.textContent = card.name;
  title.textContent = card.range;
  title.className = "value";
  fill(body, ...cardSummary(card), ...(about ? aboutRange(about) : []), h("p", { class: "note screen" },
    "Choose a cell to see who has it. The arrow keys move a cursor, and ? shows all keys."));
});

function showWhatIf(card: RangeCard | null, to: string, again: boolean): void {
  if (!card) return;
  fill(title, rangeLink(card.key, card.range));
  whatIf.show(card, to, again);
}

async function load(next: Route, card: RangeCard | null, fresh: boolean): Promise<void> {
  request?.abort();
  const current = new AbortController();
  request = current;
  const slow = setTimeout(() => fresh && fill(body, h("p", { class: "note" }, "Loading")), 250);
  try {
    const children = await content(next, card, current.signal);
    if (current.signal.aborted) return;
    draw(children);
    if (fresh) announce(`${title.textContent ?? ""}: details are shown`);
  } catch (error) {
    if (!isAbort(error)) fill(body, h("p", { class: "error" }, messageOf(error)));
  } finally {
    clearTimeout(slow);
  }
}

async function content(next: Route, card: RangeCard | null, signal: AbortSignal): Promise<Child[]> {
  if (next.part !== null && card) {
    const [first, last] = next.part;
    return partBody(card.key, first, last, await getTable({ range: card.key, first, last }, signal));
  }
  const of = next.value !== null ? { value: next.value } : { service: next.service ?? "" };
  const details = await getDetails(of, signal);
  if (!signal.aborted) marked.set(details.services.flatMap((service) => service.holds.map((hold) => hold.value)));
  return detailsBody(details);
}

/** Puts the new content in, unless it looks the same: then nothing moves and no focus is lost. */
function draw(children: Child[]): void {
  const fresh = h("div");
  fill(fresh, ...children);
  const [next, before] = [[...fresh.childNodes], [...body.childNodes]];
  if (next.length === before.length && next.every((node, i) => node.isEqualNode(before[i] ?? null))) return;
  const { scrollTop } = element;
  const [focused, opened] = [document.activeElement, body.contains(document.activeElement)];
  const name = opened ? focused?.getAttribute("data-focus") : null;
  body.replaceChildren(...fresh.childNodes);
  element.scrollTop = scrollTop;
  if (name === null || name === undefined) return;
  for (const candidate of body.querySelectorAll<HTMLElement>("[data-focus]")) {
    if (candidate.dataset["focus"] === name) return candidate.focus({ preventScroll: true });
  }
}
