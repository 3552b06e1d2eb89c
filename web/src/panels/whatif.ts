// What if a range had another size: its bands, what stands in the way, and the commands that would
// change it. Nothing is changed from here.

import type { Future, RangeCard, WhatIf } from "../api";
import { marked, navigate, route } from "../app";
import { fill, h, onChange, setShown } from "../dom";
import { getWhatIf, isAbort, messageOf, sentence } from "../net";
import { withPanel } from "../route";
import { formatCount, formatPercent, plural, poolBits } from "../values";
import { serviceLink, valueLink } from "../views/links";
import { draggedTo, formatInterval, ghostRange, parseInterval, withEnd, withPrefix, withStart } from "./edge";
import type { Interval } from "./edge";
import { commandElement, section } from "./parts";
import { Slider } from "./slider";

export class WhatIfPanel {
  readonly element = h("div", { class: "whatif" });
  private readonly text = h("input", {
    id: "whatif-to", type: "text", class: "value", autocomplete: "off", spellcheck: "false", "aria-describedby": "whatif-hint",
  });
  private readonly error = h("p", { class: "error", role: "alert", hidden: true });
  private readonly answer = h("div", { class: "whatif-answer" });
  private readonly live = h("p", { class: "visually-hidden", role: "status" });
  private readonly cidr = new Slider(1, (_, prefixBits) => this.slideCidr(prefixBits));
  private readonly ports = new Slider(2, (handle, port) => this.slidePorts(handle, port));
  private card: RangeCard | null = null;
  private to = "";
  private request: AbortController | null = null;
  private timer = 0;

  constructor() {
    this.element.append(
      h("p", { class: "note", id: "whatif-hint" }, "Drag the edge here or on the map, use the arrow keys, or type. Nothing is changed from here."),
      h("label", { class: "stacked", for: "whatif-to" }, "New range", this.text),
      this.cidr.element, this.ports.element, this.error, this.live, this.answer);
    this.text.addEventListener("input", () => this.ask(this.text.value.trim(), false));
    draggedTo.on((value) => value !== null && this.dragged(value));
  }

  /** Shows a range and the one asked for; the same question is asked again only if told so. */
  show(card: RangeCard, to: string, again: boolean): void {
    const known = this.card?.key === card.key && this.to === to;
    if (this.card?.key !== card.key) this.drawAnswer(null);
    this.card = card;
    setShown(this.cidr.element, card.pool !== "NodePort");
    setShown(this.ports.element, card.pool === "NodePort");
    if (known && !again) return;
    this.set(to === "" ? card.range : to, document.activeElement !== this.text);
    void this.load();
  }

  hide(): void {
    this.request?.abort();
    clearTimeout(this.timer);
    this.to = "";
    ghostRange.set(null);
  }

  private set(to: string, write: boolean): void {
    this.to = to;
    if (write) this.text.value = to;
    if (!this.card) return;
    ghostRange.set({ key: this.card.key, to });
    const interval = parseInterval(to);
    if (interval && interval.pool === this.card.pool) this.showSlider(this.card, interval);
  }

  private showSlider(card: RangeCard, now: Interval): void {
    const original = parseInterval(card.range);
    if (!original) return;
    if (now.prefix !== null && original.prefix !== null) this.showCidr(card, original.prefix, now);
    else if (now.prefix === null) this.showPorts(original, now);
  }

  /** The track is the size as a power of two, so that each step doubles the range. */
  private showCidr(card: RangeCard, prefix: number, now: Interval): void {
    const all = poolBits(card.pool);
    const at = now.prefix ?? prefix;
    const [low, high] = [Math.max(0, Math.min(all - prefix - 8, all - at)), Math.min(all, Math.max(all - prefix + 5, all - at))];
    const size = formatCount(now.last - now.first + 1n);
    const ticks: [number, string][] = [];
    for (let bits = low; bits <= high; bits++) if ((bits - (all - prefix)) % 2 === 0) ticks.push([bits, `/${all - bits}`]);
    this.cidr.show([{
      label: "End of the range", min: low, max: high, value: all - at, big: 4, text: `${formatInterval(now)}, ${size} addresses`,
    }], low, ticks);
  }

  private showPorts(original: Interval, now: Interval): void {
    const size = original.last - original.first + 1n;
    const low = Number(original.first - 2n * size < 1n ? 1n : original.first - 2n * size);
    const high = Number(original.last + 2n * size > 65535n ? 65535n : original.last + 2n * size);
    const [first, last] = [Number(now.first), Number(now.last)];
    this.ports.show([
      { label: "First port", min: Math.min(low, first), max: Math.max(high, last), value: first, big: 100, text: String(first) },
      { label: "Last port", min: Math.min(low, first), max: Math.max(high, last), value: last, big: 100, text: String(last) },
    ], null, [[low, String(low)], [Math.round((low + high) / 2), String(Math.round((low + high) / 2))], [high, String(high)]]);
  }

  private slideCidr(hostBits: number): void {
    if (!this.card) return;
    const original = parseInterval(this.card.range);
    if (original) this.ask(formatInterval(withPrefix(original, poolBits(this.card.pool) - hostBits)), true);
  }

  private slidePorts(handle: number, port: number): void {
    const now = parseInterval(this.to) ?? (this.card && parseInterval(this.card.range));
    if (!now) return;
    this.ask(formatInterval(handle === 0 ? withStart(now, BigInt(port)) : withEnd(now, BigInt(port))), true);
  }

  private dragged(value: string): void {
    const original = this.card && route.value.whatIf !== null ? parseInterval(this.card.range) : null;
    const end = parseInterval(`${value}/128`) ?? parseInterval(`${value}/32`) ?? parseInterval(`${value}-${value}`);
    if (original && end) this.ask(formatInterval(withEnd(original, end.first)), true);
  }

  private ask(to: string, write: boolean): void {
    if (to === this.to) return;
    this.set(to, write);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      navigate(withPanel({ whatIf: to }), "replace");
      void this.load();
    }, 120);
  }

  private async load(): Promise<void> {
    if (!this.card || this.to === "") return;
    this.request?.abort();
    if (this.to === this.card.range) return this.clear();
    const request = new AbortController();
    this.request = request;
    try {
      this.draw(await getWhatIf(this.card.key, this.to, request.signal));
    } catch (error) {
      if (!isAbort(error)) this.fail(messageOf(error));
    }
  }

  /** Shows no answer: the range is asked for as it is now. */
  private clear(): void {
    setShown(this.error, false);
    this.text.removeAttribute("aria-invalid");
    marked.set([]);
    this.drawAnswer(null);
  }

  private fail(message: string): void {
    this.error.textContent = sentence(message);
    setShown(this.error, true);
    this.text.setAttribute("aria-invalid", "true");
    this.answer.classList.add("old");
  }

  private readonly draw = (answer: WhatIf): void => {
    if (answer.error !== null) return this.fail(answer.error);
    setShown(this.error, false);
    this.text.removeAttribute("aria-invalid");
    this.answer.classList.remove("old");
    if (!answer.then) return;
    marked.set(answer.blockers.map((blocker) => blocker.value));
    this.live.textContent = `${answer.then.range}: ${plural(answer.blockerCount, "blocker")}, ${formatCount(answer.then.free)} free.`;
    this.drawAnswer({ ...answer, seq: 0 });
  };

  private readonly drawAnswer = onChange<WhatIf | null>((answer) => {
    if (!answer?.then) return fill(this.answer, h("p", { class: "note" }, "This is its size now."));
    const { now, then } = answer;
    fill(this.answer,
      h("div", { class: "futures" }, futureBar("Now", now, then), futureBar("Then", then, now)),
      comparison(now, then),
      answer.outcome !== "" && h("p", { class: `verdict ${answer.blockerCount > 0 ? "warn" : "good"}` }, sentence(answer.outcome)),
      blockers(answer),
      answer.notes.length > 0 && h("ul", { class: "plain notes" }, ...answer.notes.map((note) => h("li", {}, sentence(note)))),
      answer.commands.length > 0 && section("Commands that would do it",
        ...answer.commands.map(({ title, command }) => commandElement(title, command))));
  });
}

/** Draws a range as long as it is large: the longer of the two fills the line. */
function futureBar(name: string, one: Future, other: Future): HTMLElement {
  const [size, most] = [Number(one.size), Math.max(Number(one.size), Number(other.size))];
  const bar = h("span", { class: "future-bar", role: "img", "aria-label": `${name}: ${one.range}, ${formatPercent(one.percentUsed)} not free` });
  bar.style.width = `${Math.max(2, (100 * size) / most).toFixed(2)}%`;
  const used = h("span", { class: "taken" });
  used.style.width = `${Math.min(100, one.percentUsed).toFixed(1)}%`;
  bar.append(used);
  return h("div", { class: "future" }, h("p", {}, h("span", {}, name), h("span", { class: "value" }, one.range)), bar);
}

function comparison(now: Future, then: Future): HTMLElement {
  const span = (first: string | null, last: string | null): string => (first === null ? "empty" : `${first} – ${last ?? ""}`);
  const rows: [string, string, string][] = [
    ["Usable", formatCount(now.usable), formatCount(then.usable)],
    ["Free", formatCount(now.free), formatCount(then.free)],
    ["Free, dynamic", formatCount(now.dynamicFree), formatCount(then.dynamicFree)],
    ["Not free", formatPercent(now.percentUsed), formatPercent(then.percentUsed)],
    ["Full in", known(now.fullIn), known(then.fullIn)],
    ["Static band", span(now.staticFirst, now.staticLast), span(then.staticFirst, then.staticLast)],
    ["Dynamic band", span(now.dynamicFirst, now.dynamicLast), span(then.dynamicFirst, then.dynamicLast)],
  ];
  return h("table", { class: "data small compare" },
    h("caption", { class: "visually-hidden" }, "Now and then"),
    h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, "Now"), h("th", { scope: "col" }, "Then"))),
    h("tbody", {}, ...rows.map(([label, a, b]) =>
      h("tr", { class: a === b ? "" : "differs" }, h("th", { scope: "row" }, label), h("td", {}, a), h("td", {}, b)))));
}

function known(fullIn: string): string {
  return fullIn === "?" || fullIn === "" ? "not known" : fullIn;
}

function blockers(answer: WhatIf): HTMLElement | null {
  if (answer.blockerCount === 0) return null;
  const rest = answer.blockerCount - answer.blockers.length;
  return section(`${plural(answer.blockerCount, "value")} in the way`,
    h("ul", { class: "plain blockers" }, ...answer.blockers.slice(0, 50).map((blocker) => h("li", {},
      h("p", {}, h("span", { class: `effort ${blocker.effort}` }, blocker.effort), valueLink(blocker.value), " ",
        blocker.service !== null && serviceLink(blocker.service)),
      h("p", { class: "note" }, sentence(blocker.why), " ", sentence(blocker.advice))))),
    (rest > 0 || answer.blockers.length > 50) && h("p", { class: "note" },
      `${formatCount(answer.blockerCount - Math.min(50, answer.blockers.length))} more are not listed.`));
}

