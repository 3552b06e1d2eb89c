// Explains the colours of the map.

import type { RangeDetail } from "../api";
import { AGES, ageColour, css, MARK_TEXT, markColour, nameColour, ORIGIN_TEXT, originColour, otherColour } from "../colour";
import type { Rgb } from "../colour";
import { h } from "../dom";
import type { ColourName } from "../route";
import type { Theme } from "../theme";
import { formatCount } from "../values";

export interface LegendData {
  colour: ColourName;
  theme: Theme;
  namespaces: readonly string[];
  types: readonly string[];
  detail: RangeDetail;
}

interface Entry {
  colour: Rgb;
  text: string;
  count?: string;
}

export function legendItems(data: LegendData): HTMLElement[] {
  return [...coloursOf(data), ...groundOf(data)].map(item);
}

function item({ colour, text, count }: Entry): HTMLElement {
  const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
  swatch.style.background = css(colour);
  return h("li", {}, swatch, h("span", {}, text), count !== undefined && h("span", { class: "count" }, formatCount(count)));
}

function coloursOf({ colour, theme, namespaces, types, detail }: LegendData): Entry[] {
  const named = (names: readonly string[], other: string): Entry[] => [
    ...names.map((text, i) => ({ colour: nameColour(i, theme), text })),
    { colour: otherColour(theme), text: other },
  ];
  switch (colour) {
    case "namespace":
      return named(namespaces, "Other namespaces");
    case "type":
      return named(types, "Other types");
    case "age":
      return AGES.map((age, step) => ({ colour: ageColour(step, theme), text: age.text }))
        .concat({ colour: otherColour(theme), text: "Age not known" });
    case "origin":
      return (["drawn", "named", "both", "unknown"] as const)
        .map((origin) => ({ colour: originColour(origin, theme), text: ORIGIN_TEXT[origin] }));
    default:
      return stateEntries(detail, theme);
  }
}

function stateEntries(detail: RangeDetail, theme: Theme): Entry[] {
  const entries: Entry[] = [{ colour: markColour("taken", theme), text: MARK_TEXT.taken, count: detail.taken }];
  for (const mark of ["namedInDynamic", "spill", "twice"] as const) {
    const count = { namedInDynamic: detail.dynamicBand.named, spill: detail.spill, twice: detail.usedTwice }[mark];
    if (count !== null && count > 0) entries.push({ colour: markColour(mark, theme), text: MARK_TEXT[mark], count: String(count) });
  }
  return entries;
}

/** Returns what every colouring shows alike. */
function groundOf({ theme, detail }: LegendData): Entry[] {
  const entries: Entry[] = [];
  const add = (mark: "reserved" | "cooling" | "freeStatic" | "free" | "excluded", count: string): void => {
    if (count !== "0") entries.push({ colour: markColour(mark, theme), text: MARK_TEXT[mark], count });
  };
  add("reserved", detail.reserved);
  add("cooling", detail.cooling);
  add("freeStatic", detail.staticBand.free);
  add("free", detail.dynamicBand.free);
  add("excluded", detail.excluded);
  return entries;
}
