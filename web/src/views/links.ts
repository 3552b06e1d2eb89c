// Links to values, Services and ranges. They are real links, so they open in a new tab too; an address
// is made when the link is used, because the rest of the view may have changed.

import { linkTo, navigate } from "../app";
import { h } from "../dom";
import type { Child } from "../dom";
import { withPanel } from "../route";
import type { Route } from "../route";

export function routeLink(change: Partial<Route>, text: Child, name: string, className = ""): HTMLAnchorElement {
  const link = h("a", { class: className, "data-focus": name, href: linkTo(change) }, text);
  const refresh = (): void => void (link.href = linkTo(change));
  link.addEventListener("pointerenter", refresh);
  link.addEventListener("focus", refresh);
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return refresh();
    event.preventDefault();
    navigate(change);
  });
  return link;
}

export function valueLink(value: string): HTMLAnchorElement {
  return routeLink(withPanel({ value }), value, "value " + value, "value");
}

export function serviceLink(service: string): HTMLAnchorElement {
  return routeLink(withPanel({ service }), service, "service " + service);
}

/** Returns a link to the whole map of a range. */
export function rangeLink(key: string, text: Child): HTMLAnchorElement {
  const change = { page: "map" as const, range: key, at: null, zoom: null, find: "", table: false, ...withPanel({}) };
  return routeLink(change, text, "range " + key);
}

/** Returns a link to a value on the map of a range. */
export function mapLink(key: string, value: string, text: Child): HTMLAnchorElement {
  const change = { page: "map" as const, range: key, at: value, zoom: null, table: false, ...withPanel({ value }) };
  return routeLink(change, text, `map ${key} ${value}`);
}
