// What the page shows, as the part of the address after "#". A link can be sent, and back and forward
// work, because everything that chooses a view is in it.

export type Page = "overview" | "map" | "findings";
export type LayoutName = "hilbert" | "rows";
export type ColourName = "state" | "namespace" | "type" | "age" | "origin";

export interface Route {
  page: Page;
  /** The key of a range; only on the map. */
  range: string | null;
  /** The value in the middle of the map, and its zoom; null means the whole range. */
  at: string | null;
  zoom: number | null;
  layout: LayoutName;
  colour: ColourName;
  find: string;
  /** What the panel shows; at most one of the four. */
  value: string | null;
  service: string | null;
  part: [string, string] | null;
  whatIf: string | null;
  table: boolean;
}

export const LAYOUTS: readonly LayoutName[] = ["hilbert", "rows"];
export const COLOURS: readonly ColourName[] = ["state", "namespace", "type", "age", "origin"];

export function emptyRoute(): Route {
  return {
    page: "overview", range: null, at: null, zoom: null, layout: "hilbert", colour: "state", find: "",
    value: null, service: null, part: null, whatIf: null, table: false,
  };
}

/** Returns the route of a hash such as "#/map/a?at=10.96.4.0&z=3.5". Never fails. */
export function parseRoute(hash: string): Route {
  const route = emptyRoute();
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", range = ""] = path.split("/");
  if (page === "map") {
    route.page = "map";
    route.range = range === "" ? null : decode(range);
  } else if (page === "findings") {
    route.page = "findings";
  }
  const given = new URLSearchParams(query);
  const zoom = Number(given.get("z") ?? "x");
  route.at = given.get("at");
  route.zoom = Number.isFinite(zoom) && route.at !== null ? Math.min(256, Math.max(-256, zoom)) : null;
  route.layout = oneOf(LAYOUTS, given.get("layout"), route.layout);
  route.colour = oneOf(COLOURS, given.get("colour"), route.colour);
  route.find = given.get("find") ?? "";
  route.table = given.get("table") === "1";
  readPanel(route, given);
  return route;
}

function readPanel(route: Route, given: URLSearchParams): void {
  const [first, last] = (given.get("part") ?? "").split("..", 2);
  if (given.has("value")) route.value = given.get("value");
  else if (given.has("service")) route.service = given.get("service");
  else if (first && last) route.part = [first, last];
  else if (given.has("whatif")) route.whatIf = given.get("whatif");
}

export function formatRoute(route: Route): string {
  const query = new URLSearchParams();
  if (route.page === "map") {
    if (route.at !== null) query.set("at", route.at);
    if (route.at !== null && route.zoom !== null) query.set("z", String(Math.round(route.zoom * 100) / 100));
    if (route.layout !== "hilbert") query.set("layout", route.layout);
    if (route.colour !== "state") query.set("colour", route.colour);
    if (route.find !== "") query.set("find", route.find);
    if (route.table) query.set("table", "1");
  }
  if (route.value !== null) query.set("value", route.value);
  if (route.service !== null) query.set("service", route.service);
  if (route.part !== null) query.set("part", route.part.join(".."));
  if (route.whatIf !== null) query.set("whatif", route.whatIf);
  const path = route.page === "overview" ? "" : route.page;
  const key = route.page === "map" && route.range !== null ? "/" + encodeURIComponent(route.range) : "";
  const text = query.toString().replace(/%3A/g, ":").replace(/%2F/g, "/").replace(/%2C/g, ",");
  return `#/${path}${key}${text === "" ? "" : "?" + text}`;
}

/** Returns the route with another panel; the one that was open goes. */
export function withPanel(
  panel: Partial<Pick<Route, "value" | "service" | "part" | "whatIf">>,
): Pick<Route, "value" | "service" | "part" | "whatIf"> {
  return { value: null, service: null, part: null, whatIf: null, ...panel };
}

function oneOf<T extends string>(all: readonly T[], text: string | null, otherwise: T): T {
  return all.find((name) => name === text) ?? otherwise;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
