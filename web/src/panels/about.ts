// What is drawn on the map of a range beside its cells, as a list: its bands, what it never gives out,
// and the ranges that share values with it.

import type { RangeDetail, Span } from "../api";
import { button, h } from "../dom";
import type { Child } from "../dom";
import { formatCount } from "../values";
import { rangeLink } from "../views/links";
import { showPart } from "../views/map_view";
import { section } from "./parts";

const MOST = 12;

export function aboutRange(detail: RangeDetail): Child[] {
  const { staticPart, dynamicPart, exclusions, overlaps } = detail;
  const rest = exclusions.length - MOST;
  return [
    section("Bands", h("ul", { class: "lines" },
      staticPart && spanItem(detail, "Static", staticPart), dynamicPart && spanItem(detail, "Dynamic", dynamicPart))),
    overlaps.length > 0 && section("Shares values with", h("ul", { class: "lines" },
      ...overlaps.map((overlap) => h("li", {}, rangeLink(overlap.key, overlap.label))))),
    exclusions.length > 0 && section("Never given out", h("ul", { class: "lines" },
      ...exclusions.slice(0, MOST).map((span) => spanItem(detail, "", span)),
      rest > 0 && h("li", { class: "note" }, `${formatCount(rest)} more`))),
  ];
}

function spanItem(detail: RangeDetail, name: string, span: Span): HTMLElement {
  const text = span.first === span.last ? span.first : `${span.first} – ${span.last}`;
  const show = button(text, () => showPart(detail.key, span.first, span.last), {
    class: "link value", title: "Show it on the map", "data-focus": `part ${span.first} ${span.last}`,
  });
  return h("li", {}, name !== "" && `${name}: `, show, name === "" && h("span", { class: "note" }, ` ${span.why}`));
}
