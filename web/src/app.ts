// What all parts of the page share: the session, the overview, the route, and the changes that come.

import type { Overview, RangeCard, RangeDetail, Session, View } from "./api";
import { emptyRoute, formatRoute, parseRoute, withPanel } from "./route";
import type { Route } from "./route";
import { Signal } from "./signal";

export type Connection = "starting" | "live" | "file" | "paused" | "lost" | "ended";

export const session = new Signal<Session | null>(null);
export const overview = new Signal<Overview | null>(null);
export const connection = new Signal<Connection>("starting");
/** Why the connection or the cluster is lost; empty if it is not. */
export const problem = new Signal("");
/** The last change that came while the page was live. */
export const view = new Signal<View | null>(null);
/** Grows when everything has to be loaded anew, because changes were missed. */
export const generation = new Signal(0);
/** The range on the map. */
export const detail = new Signal<RangeDetail | null>(null);
/** The values that the panel is about, which the map marks. */
export const marked = new Signal<readonly string[]>([]);
export const route = new Signal<Route>(emptyRoute());

/** Changes what is shown. A push can be gone back from; a replacement cannot. */
export function navigate(change: Partial<Route>, how: "push" | "replace" = "push"): void {
  const next = { ...route.value, ...change };
  const hash = formatRoute(next);
  if (hash !== formatRoute(route.value)) {
    if (how === "push") history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  }
  route.set(next);
}

/** Returns the address that navigate would show, for links. */
export function linkTo(change: Partial<Route>): string {
  return formatRoute({ ...route.value, ...change });
}

export function startRoute(): void {
  const read = (): void => route.set(parseRoute(location.hash));
  addEventListener("popstate", read);
  addEventListener("hashchange", read);
  read();
}

export const openValue = (value: string): void => navigate(withPanel({ value }));
export const openService = (service: string): void => navigate(withPanel({ service }));
export const closePanel = (): void => navigate(withPanel({}));

/** Shows a value on the map of a range, and its details. */
export function showOnMap(range: string, value: string): void {
  navigate({ page: "map", range, at: value, zoom: null, table: false, ...withPanel({ value }) });
}

export function rangeOf(key: string | null): RangeCard | null {
  return overview.value?.ranges.find((card) => card.key === key) ?? null;
}

/** Returns the range to show if none is chosen. */
export function firstRange(): RangeCard | null {
  return overview.value?.ranges[0] ?? null;
}
