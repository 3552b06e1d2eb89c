// The map page: brings the map of one range to what the address says, and writes back where it is.

import type { RangeDetail, View } from "../api";
import { detail, generation, marked, navigate, overview, route, view } from "../app";
import { NAMED_COLOURS } from "../colour";
import { announce, fill, h, isStill, onChange, setShown } from "../dom";
import { MapCanvas } from "../map/canvas";
import { describe, offsetOf, valueAt } from "../map/describe";
import { MapInput } from "../map/input";
import { legendItems } from "../map/legend";
import type { Colouring } from "../map/paint";
import { mapBits } from "../map/projection";
import { Tiles } from "../map/tiles";
import { getRange, messageOf, patiently } from "../net";
import { draggedTo, ghostRange, parseInterval } from "../panels/edge";
import { withPanel } from "../route";
import type { ColourName, Route } from "../route";
import { theme } from "../theme";
import { formatCount, parseValue } from "../values";
import { mapFrame } from "./map_frame";
import { TableView } from "./table_view";

const frame = mapFrame();
const table = new TableView();
let map: MapCanvas | null = null;
let input: MapInput | null = null;
let shown: Route | null = null; // the route that the map shows
let opening = ""; // the range that is being loaded
let refused = ""; // the range that the server does not have
let written = ""; // the look that the address bar has
let writer = 0;
let shape = ""; // of the ranges when the map was loaded
let wish: { first: string; last: string } | null = null; // a part to show as large as it can be

export function startMapView(host: HTMLElement): void {
  host.append(frame.element);
  frame.tableHost.append(table.element);
  listen();
  new ResizeObserver(resize).observe(frame.stage);
  route.on((next) => {
    refused = "";
    void apply(next);
  });
  overview.on(() => {
    showFrame();
    if (opening === "" && refused === "") void apply(route.value);
    if (!map) return;
    if (shape === "") shape = shapeOf(map.detail.key);
    else if (shape !== shapeOf(map.detail.key)) void reload();
  });
  theme.on(() => {
    map?.setTheme();
    recolour();
  });
  view.on((next) => next && receive(next));
  generation.on(() => void reload());
  ghostRange.on(showGhost);
  marked.on(showMarked);
}

function listen(): void {
  frame.zoomIn.addEventListener("click", () => input?.zoom(1));
  frame.zoomOut.addEventListener("click", () => input?.zoom(-1));
  frame.fit.addEventListener("click", () => input?.fit());
  frame.layouts.listen((layout) => navigate({ layout, at: null, zoom: null, ...keepPlace() }));
  frame.range.addEventListener("change", () => {
    navigate({ range: frame.range.value, at: null, zoom: null, ...withPanel({}) });
  });
  frame.colour.addEventListener("change", () => navigate({ colour: frame.colour.value as ColourName }, "replace"));
  frame.table.addEventListener("click", () => navigate({ table: !route.value.table }));
  frame.whatIf.addEventListener("click", () => toggleWhatIf());
  let typing = 0;
  frame.find.addEventListener("input", () => {
    clearTimeout(typing);
    typing = window.setTimeout(() => navigate({ find: frame.find.value.trim() }, "replace"), 250);
  });
}

/** Returns the place in the middle for the other layout, which has another zoom. */
function keepPlace(): Partial<Route> {
  if (!map || map.projection.whole) return {};
  const { offset } = map.projection.look();
  return { at: valueAt(map.detail, map.cursor ?? offset) };
}

export function toggleWhatIf(): void {
  const range = map?.detail.range ?? overview.value?.ranges[0]?.range;
  if (route.value.page !== "map" || range === undefined) return;
  navigate(withPanel(route.value.whatIf === null ? { whatIf: range } : {}));
}

/** Shows a part of a range as large as it can be. */
export function showPart(range: string, first: string, last: string): void {
  wish = { first, last };
  navigate({ page: "map", range, at: null, zoom: null, table: false, ...withPanel({ part: [first, last] }) });
}

function showFrame(): void {
  setShown(frame.element, route.value.page === "map" && overview.value !== null);
  fillRanges(overview.value?.ranges.map(({ key, name, range }) => ({ key, name, range })) ?? []);
}

async function apply(next: Route): Promise<void> {
  showFrame();
  if (next.page !== "map") return close();
  const key = next.range ?? overview.value?.ranges[0]?.key ?? null;
  if (key === null) return frame.setMessage(overview.value ? "There is no range to show." : "");
  if (map?.detail.key === key) return update(next);
  await open(key);
}

/** Returns what the ranges look like, as far as the map draws it: it is loaded again if that differs. */
function shapeOf(key: string): string {
  const ranges = overview.value?.ranges ?? [];
  const card = ranges.find((each) => each.key === key);
  const bands = [card?.staticBand, card?.dynamicBand].map((band) => [band?.first, band?.last]);
  return ranges.length === 0 ? "" : JSON.stringify([ranges.map((each) => [each.key, each.range]).sort(), bands, card?.excluded]);
}

function close(): void {
  leave();
  input?.close();
  map?.close();
  map = null;
  input = null;
  shown = null;
  clearTimeout(writer);
  writer = 0;
}

async function open(key: string): Promise<void> {
  if (opening === key) return;
  opening = key;
  try {
    const next = await patiently(() => getRange(key), (message) => frame.setMessage(message));
    if (opening !== key || route.value.page !== "map") return;
    frame.setMessage("");
    build(next);
    update(route.value);
  } catch (error) {
    refused = key;
    frame.setMessage(messageOf(error));
  } finally {
    if (opening === key) opening = "";
  }
}

function build(next: RangeDetail): void {
  close();
  written = "";
  map = new MapCanvas(frame.canvas, next, route.value.layout, drawn);
  detail.set(next);
  shape = shapeOf(next.key);
  const canvas = map;
  map.tiles = new Tiles(next.key, mapBits(next) - 12, route.value.find, colouring(), () => canvas.refresh(),
    (message) => frame.setMessage(message));
  input = new MapInput(map, {
    hover, leave, open: openOffset, moved: spoken, grabs, drag: dragEdge, released: () => draggedTo.set(null),
  });
  frame.canvas.setAttribute("aria-label", `Map of ${next.name} ${next.range}`);
  showGhost();
  showMarked();
  resize();
}

/** Loads the range again after changes were missed, and keeps what is shown until then. */
async function reload(): Promise<void> {
  refused = "";
  if (!map) return void apply(route.value);
  shape = shapeOf(map.detail.key);
  const { key } = map.detail;
  map.tiles?.touchAll();
  map.refresh();
  if (route.value.table) void table.reload();
  try {
    const next = await getRange(key);
    if (map?.detail.key !== key) return;
    if (next.size === map.detail.size && next.first === map.detail.first) map.setDetail(next);
    else build(next);
    update(route.value);
  } catch (error) {
    frame.setMessage(messageOf(error));
  }
}

function resize(): void {
  const { clientWidth, clientHeight } = frame.stage;
  if (!map || clientWidth === 0 || clientHeight === 0) return;
  if (map.size.width !== clientWidth || map.size.height !== clientHeight) map.resize(clientWidth, clientHeight);
}

/** Brings the map to a route. Only what differs is touched. */
function update(next: Route): void {
  if (!map) return;
  const before = shown;
  shown = next;
  frame.range.value = map.detail.key;
  frame.layouts.set(next.layout);
  frame.colour.value = next.colour;
  if (document.activeElement !== frame.find) frame.find.value = next.find;
  showTable(next);
  if (!next.table) resize();
  map.setLayout(next.layout);
  map.tiles?.filter(next.find);
  recolour();
  placeLook(next, before === null);
  showSelection(next);
  frame.whatIf.setAttribute("aria-pressed", String(next.whatIf !== null));
  map.refresh();
}

function showTable(next: Route): void {
  frame.setTable(next.table);
  if (!next.table || !map) return;
  const [first, last] = next.part ?? [null, null];
  table.show({ range: map.detail.key, name: `${map.detail.name} ${map.detail.range}`, find: next.find, first, last });
}

/** Goes to the place of the address, unless it is what the map has written there itself. */
function placeLook(next: Route, fresh: boolean): void {
  if (!map) return;
  const wanted = lookText(next);
  if (!fresh && wish === null && wanted === written) return;
  written = wanted;
  const at = next.at === null ? null : offsetOf(map.detail, next.at);
  const part = wish ? [wish.first, wish.last] : fresh && at === null ? next.part ?? [] : [];
  wish = null;
  const [from, to] = part.map((value) => map && offsetOf(map.detail, value));
  if (typeof from === "bigint" && typeof to === "bigint") map.projection.lookAtPart(from, to);
  else if (at !== null) map.projection.lookAt(at, next.zoom);
  else map.projection.fit();
  if (at !== null && next.zoom === null) map.cursor = at;
}

function lookText({ layout, at, zoom }: Route): string {
  return `${layout} ${at ?? ""} ${zoom === null ? "" : zoom.toFixed(2)}`;
}

/** Notes a drawn frame. The place and zoom go into the address, a few times a second at most. */
function drawn(): void {
  if (!map) return;
  frame.setBusy(map.tiles?.busy ?? false);
  const { level, name } = map.projection;
  const perRow = name === "rows" ? `, a row ${formatCount(BigInt(Math.round(rowCells())) << BigInt(level))}` : "";
  const pale = level > 0 ? " The paler it is, the more of them are free." : "";
  const filter = route.value.find !== "" ? " Bright cells match the filter." : "";
  showScale(`A cell is ${formatCount(1n << BigInt(level))} ${noun(level)}${perRow}.${filter || pale}`);
  if (writer === 0) writer = window.setTimeout(writeLook, 400);
}

function rowCells(): number {
  return map?.projection.tiles()[0]?.columns ?? 0;
}

function noun(level: number): string {
  const one = map?.detail.pool === "NodePort" ? "port" : "address";
  return level === 0 ? one : one === "port" ? "ports" : "addresses";
}

const showScale = onChange<string>((text) => {
  frame.scale.textContent = text;
});

function writeLook(): void {
  writer = 0;
  if (!map || !shown || route.value.page !== "map" || route.value.table) return;
  const { offset, zoom } = map.projection.look();
  const look = map.projection.whole
    ? { at: null, zoom: null }
    : { at: valueAt(map.detail, offset), zoom: Math.round(zoom * 100) / 100 };
  const next = { ...route.value, ...look };
  if (lookText(next) === written) return;
  written = lookText(next);
  navigate({ ...look, range: map.detail.key }, "replace");
}

function showSelection(next: Route): void {
  if (!map) return;
  const ends = next.part ?? (next.value !== null ? [next.value, next.value] : []);
  const [from, to] = ends.map((value) => map && offsetOf(map.detail, value));
  map.selection = typeof from === "bigint" && typeof to === "bigint" ? { from, to } : null;
}

const MOST_MARKED = 200;

function showMarked(): void {
  if (!map) return;
  const { detail: of } = map;
  map.marked = marked.value.slice(0, MOST_MARKED).map((value) => offsetOf(of, value))
    .filter((offset): offset is bigint => offset !== null);
  map.refresh();
}

function openOffset(offset: bigint): void {
  if (!map) return;
  const end = map.endOf(offset);
  const value = valueAt(map.detail, offset);
  navigate(withPanel(end === offset ? { value } : { part: [value, valueAt(map.detail, end)] }));
  scrollAbovePanel(offset);
}

/** On a phone the panel covers the lower half: scrolls what was opened into the upper one. */
function scrollAbovePanel(offset: bigint): void {
  if (!map || !matchMedia("(max-width: 820px)").matches) return;
  const { y } = map.projection.pointOf(offset);
  const wanted = innerHeight * 0.2;
  scrollBy({ top: frame.canvas.getBoundingClientRect().top + y - wanted, behavior: isStill() ? "auto" : "smooth" });
}

function wordsAt(offset: bigint): { title: string; lines: string[] } | null {
  if (!map) return null;
  const level = map.projection.level;
  const aligned = (offset >> BigInt(level)) << BigInt(level);
  return describe(map.detail, map.cellsAt(aligned), aligned, level);
}

function hover(x: number, y: number): void {
  if (!map) return;
  const offset = map.projection.offsetAt(x, y);
  if (offset !== map.hover) {
    map.hover = offset;
    map.refresh();
  }
  frame.canvas.classList.toggle("grab", grabs(x, y));
  const words = offset === null ? null : wordsAt(offset);
  if (!words) return leave();
  frame.showTip(x, y, words.title, words.lines);
  frame.pointed.textContent = [words.title, ...words.lines].join(" · ");
}

function leave(): void {
  frame.hideTip();
  frame.pointed.textContent = "";
  if (!map || map.hover === null) return;
  map.hover = null;
  map.refresh();
}

/** Says where the keys have moved the cursor. */
function spoken(offset: bigint): void {
  const words = wordsAt(offset);
  if (!words || !map) return;
  const text = [words.title, ...words.lines].join(", ");
  frame.hideTip();
  frame.pointed.textContent = text;
  announce(text);
}

function receive(next: View): void {
  if (!map?.tiles) return;
  if (next.more > 0) map.tiles.touchAll();
  for (const change of next.changes) {
    const at = change.keys.indexOf(map.detail.key);
    const offset = change.offsets[at];
    if (offset === undefined) continue;
    map.tiles.touch(BigInt(offset));
    map.flash(BigInt(offset), change.what === "released");
  }
  if (route.value.table) void table.reload();
}

function grabs(x: number, y: number): boolean {
  const handle = map?.handle();
  return handle !== null && handle !== undefined && Math.hypot(x - handle.x, y - handle.y) < 16;
}

function dragEdge(x: number, y: number): void {
  const offset = map?.projection.offsetAt(x, y);
  if (!map || offset === null || offset === undefined) return;
  draggedTo.set(valueAt(map.detail, map.endOf(offset)));
}

function showGhost(): void {
  if (!map) return;
  const ghost = ghostRange.value;
  const asked = ghost && ghost.key === map.detail.key ? parseInterval(ghost.to) : null;
  const first = parseValue(map.detail.first)?.number ?? 0n;
  const size = BigInt(map.detail.size);
  map.ghost = null;
  if (asked && ghost && asked.last >= first && asked.first < first + size) {
    const from = asked.first > first ? asked.first - first : 0n;
    const to = asked.last < first + size - 1n ? asked.last - first : size - 1n;
    map.ghost = { from, to, label: `what if: ${ghost.to}` };
  }
  map.refresh();
}

const fillRanges = onChange<{ key: string; name: string; range: string }[]>((ranges) => {
  fill(frame.range, ...ranges.map(({ key, name, range }) => h("option", { value: key }, name === range ? range : `${name}  ${range}`)));
  if (map) frame.range.value = map.detail.key;
});

function colouring(): Colouring {
  return {
    colour: route.value.colour, theme: theme.value, namespaces: topNamespaces(), types: topTypes(),
    filtered: route.value.find !== "", now: Date.now() / 1000,
  };
}

function topNamespaces(): string[] {
  return (overview.value?.namespaces ?? []).slice(0, NAMED_COLOURS).map((holder) => holder.namespace);
}

function topTypes(): string[] {
  const types = Object.entries(overview.value?.types ?? {});
  return types.sort((a, b) => b[1] - a[1]).slice(0, NAMED_COLOURS).map(([name]) => name).sort();
}

let painted = "";

/** Paints the tiles anew if a colour differs, and the legend. */
function recolour(): void {
  if (!map) return;
  const next = colouring();
  const text = JSON.stringify({ ...next, now: Math.floor(next.now / 60) });
  if (text !== painted || map.tiles?.painted !== text) {
    painted = text;
    map.tiles?.recolour(next, text);
    map.refresh();
  }
  const card = overview.value?.ranges.find((each) => each.key === map?.detail.key);
  fill(frame.legend, ...legendItems({ ...next, detail: card ? { ...map.detail, ...card } : map.detail }));
}
