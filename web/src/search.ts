// The search field: hits in groups, chosen by keys or pointer, shown on the map.

import type { Hit } from "./api";
import { navigate } from "./app";
import { announce, fill, h, icon, setShown } from "./dom";
import { getSearch, isAbort, messageOf } from "./net";
import { withPanel } from "./route";
import { plural } from "./values";
import { showPart } from "./views/map_view";

const KIND_TEXT: Record<Hit["kind"], string> = {
  value: "Values", service: "Services", namespace: "Namespaces", range: "Ranges", part: "Parts of ranges", label: "Labels",
};

const input = h("input", {
  id: "search", type: "search", role: "combobox", "aria-expanded": "false", "aria-controls": "search-hits",
  "aria-autocomplete": "list", "aria-label": "Search", autocomplete: "off", spellcheck: "false",
  placeholder: "Address, port, Service, label",
});
const hits = h("div", { id: "search-hits", class: "hits", role: "listbox", "aria-label": "Search results" });
const note = h("p", { class: "hits-note", role: "status" });
const popup = h("div", { class: "search-popup", hidden: true }, hits, note);

let options: { element: HTMLElement; hit: Hit }[] = [];
let chosen = -1;
let request: AbortController | null = null;
let timer = 0;
let pendingEnter = false;

export function startSearch(host: HTMLElement): void {
  host.append(icon("search"), input, h("kbd", { "aria-hidden": "true" }, "/"), popup);
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void load(), 120);
  });
  input.addEventListener("focus", () => input.value.trim() !== "" && void load());
  input.addEventListener("keydown", key);
  input.addEventListener("blur", () => setTimeout(() => {
    if (!host.contains(document.activeElement)) close();
  }, 150));
}

export function focusSearch(): void {
  input.focus();
  input.select();
}

async function load(): Promise<void> {
  request?.abort();
  const text = input.value.trim();
  if (text === "") return close();
  const current = new AbortController();
  request = current;
  try {
    const answer = await getSearch(text, current.signal);
    draw(answer.hits, answer.more);
    const first = options[0];
    if (pendingEnter && first) take(first.hit);
  } catch (error) {
    if (isAbort(error)) return;
    draw([], 0);
    note.textContent = messageOf(error);
  } finally {
    pendingEnter = false;
  }
}

function draw(list: Hit[], more: number): void {
  options = [];
  const groups = new Map<Hit["kind"], Hit[]>();
  for (const hit of list) groups.set(hit.kind, [...(groups.get(hit.kind) ?? []), hit]);
  fill(hits, ...[...groups].map(([kind, members]) => h("div", { role: "group", "aria-label": KIND_TEXT[kind] },
    h("p", { class: "hits-kind", "aria-hidden": "true" }, KIND_TEXT[kind]), ...members.map(option))));
  note.textContent = list.length === 0 ? "Nothing was found." : more > 0 ? `${plural(more, "more hit")}: type more.` : "";
  setShown(popup, true);
  input.setAttribute("aria-expanded", "true");
  choose(list.length > 0 ? 0 : -1);
  announce(list.length === 0 ? "Nothing was found" : plural(list.length + more, "hit"));
}

function option(hit: Hit): HTMLElement {
  const element = h("div", { role: "option", id: `hit-${options.length}`, class: "hit", "aria-selected": "false" },
    h("span", { class: hit.kind === "service" || hit.kind === "namespace" ? "hit-title" : "hit-title value" }, hit.title),
    h("span", { class: "hit-text" }, hit.text));
  const index = options.length;
  element.addEventListener("pointerenter", () => choose(index));
  element.addEventListener("pointerdown", (event) => event.preventDefault());
  element.addEventListener("click", () => take(hit));
  options.push({ element, hit });
  return element;
}

function choose(index: number): void {
  options[chosen]?.element.setAttribute("aria-selected", "false");
  chosen = index;
  const next = options[chosen]?.element;
  if (!next) return input.removeAttribute("aria-activedescendant");
  next.setAttribute("aria-selected", "true");
  next.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", next.id);
}

function key(event: KeyboardEvent): void {
  const open = !popup.hidden;
  if (event.key === "Escape") {
    if (open) close();
    else input.blur();
  } else if (event.key === "ArrowDown" && !open) void load();
  else if (event.key === "ArrowDown") choose(Math.min(options.length - 1, chosen + 1));
  else if (event.key === "ArrowUp") choose(Math.max(0, chosen - 1));
  else if (event.key === "Enter") enter();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Takes the chosen hit. Enter may come before the answer does. */
function enter(): void {
  const option = options[chosen];
  if (!popup.hidden && option) return take(option.hit);
  pendingEnter = true;
  clearTimeout(timer);
  void load();
}

function close(): void {
  request?.abort();
  setShown(popup, false);
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
  options = [];
  chosen = -1;
}

/** Goes to what a hit names: on the map, with its details or its matches. */
function take(hit: Hit): void {
  close();
  input.value = "";
  input.blur();
  const find = hit.kind === "namespace" || hit.kind === "label" ? hit.find ?? "" : "";
  if (hit.kind === "part" && hit.key !== null && hit.first !== null && hit.last !== null) {
    return showPart(hit.key, hit.first, hit.last);
  }
  const panel = hit.service !== null && hit.kind === "service" ? { service: hit.service } : hit.value !== null ? { value: hit.value } : {};
  if (hit.key === null && find === "") return navigate(withPanel(panel));
  navigate({
    page: "map", table: false, find, at: hit.value ?? (hit.kind === "service" ? hit.first : null), zoom: null, ...withPanel(panel), ...(hit.key === null ? {} : { range: hit.key }),
  });
}
