// Makes elements. Text becomes text nodes and nothing else: what a server or a Service's author wrote
// is never read as HTML.

export type Child = Node | string | number | null | undefined | false;
type Handler = (event: never) => void;
export type Props = Record<string, string | number | boolean | Handler | null | undefined>;

/** Returns a new element. A prop that is a function listens: {click: ...}; others are attributes. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, props: Props = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setProps(element, props);
  append(element, children);
  return element;
}

export function svg(tag: string, props: Props = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setProps(element, props);
  append(element, children);
  return element;
}

function setProps(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as unknown as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
}

/** Replaces what is in an element, and keeps the focus if the same thing is there again. */
export function fill(element: Element, ...children: Child[]): void {
  const focused = document.activeElement;
  const name = focused && element.contains(focused) ? focused.getAttribute("data-focus") : null;
  element.textContent = "";
  append(element, children);
  if (name === null) return;
  for (const candidate of element.querySelectorAll<HTMLElement>("[data-focus]")) {
    if (candidate.dataset["focus"] === name) return candidate.focus({ preventScroll: true });
  }
}

/** Returns a function that draws only if what it is told differs from the last time. */
export function onChange<T>(draw: (data: T) => void): (data: T) => void {
  let last: string | undefined;
  return (data) => {
    const text = JSON.stringify(data);
    if (text === last) return;
    last = text;
    draw(data);
  };
}

/** Returns a button with a text, and a longer label for those who do not see where it is. */
export function button(text: Child, click: () => void, props: Props = {}): HTMLButtonElement {
  return h("button", { type: "button", class: "button", ...props, click }, text);
}

export function setShown(element: HTMLElement, shown: boolean): void {
  element.hidden = !shown;
}

/** Returns the element with an id that index.html has. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no #${id}`);
  return element;
}

/** Tells a screen reader something that others see. */
export function announce(text: string): void {
  const region = byId("announcer");
  region.textContent = region.textContent === text ? text + "\u00a0" : text;
}

/** Returns true if the reader asked for little movement. */
export function isStill(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

const ICONS: Record<string, string> = {
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  done: "M3 8.5l3.5 3.5L13 4.5",
  sun: "M8 5a3 3 0 100 6 3 3 0 000-6zM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8L13 13M13 3l-1.2 1.2M4.2 11.8L3 13",
  moon: "M13 9.6A5.6 5.6 0 016.4 3 5.6 5.6 0 1013 9.6z",
  auto: "M8 2a6 6 0 100 12A6 6 0 008 2zM8 2v12M10 3v10M12 4.6v6.8",
  help: "M5.8 6.2a2.2 2.2 0 114 1.2c-.6.8-1.8 1-1.8 2.2M8 12.2v.4",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3.5l7.5 4.5L5 12.5z",
  search: "M7 2.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9zM10.4 10.4L14 14",
  arrow: "M3 8h10M9 4l4 4-4 4",
};

/** Returns a small drawing, which a screen reader leaves out. */
export function icon(name: string): SVGElement {
  return svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: ICONS[name] ?? "" }));
}
