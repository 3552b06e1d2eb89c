// The elements of the map page.

import { button, fill, h, icon, setShown } from "../dom";
import type { ColourName, LayoutName } from "../route";

const COLOUR_TEXT: Record<ColourName, string> = {
  state: "State", namespace: "Namespace", type: "Type of Service", age: "Age", origin: "Named or drawn",
};

export type MapFrame = ReturnType<typeof mapFrame>;

export function mapFrame() {
  const range = h("select", { id: "map-range" });
  const colour = h("select", { id: "map-colour" });
  for (const [name, text] of Object.entries(COLOUR_TEXT)) colour.append(h("option", { value: name }, text));
  const find = h("input", {
    id: "map-find", type: "search", placeholder: "Name, label or type", autocomplete: "off", spellcheck: "false",
    "aria-describedby": "map-find-hint",
  });
  const layouts = layoutSwitch();
  const table = button("Table", () => undefined, { "aria-pressed": "false", title: "Show the values as a table (T)" });
  const whatIf = button("What if", () => undefined, { title: "Try another size of this range (W)" });
  const stageParts = stage();
  const legend = h("ul", { class: "legend", "aria-label": "Legend" });
  const scale = h("p", { class: "scale" });
  const pointed = h("p", { class: "pointed" });
  const tableHost = h("div", { class: "table-host", hidden: true });
  const status = h("div", { class: "status-line" }, scale, pointed);
  const message = h("p", { class: "map-message", role: "status", hidden: true });
  const element = h("section", { class: "map-page", "aria-label": "Map" },
    h("h1", { class: "visually-hidden" }, "Map"),
    h("div", { class: "toolbar" },
      field("Range", range), layouts.element, field("Colour by", colour),
      field("Filter", find), h("span", { id: "map-find-hint", class: "visually-hidden" },
        "Dims everything on the map that does not match."),
      h("span", { class: "toolbar-end" }, whatIf, table)),
    message,
    stageParts.element, tableHost,
    status, legend);
  return {
    ...stageParts, element, range, colour, find, layouts, table, whatIf, legend, scale, pointed,
    tableHost, stage: stageParts.element,
    /** Shows the table or the map. */
    setTable(on: boolean): void {
      setShown(stageParts.element, !on);
      setShown(status, !on);
      setShown(legend, !on);
      setShown(tableHost, on);
      table.setAttribute("aria-pressed", String(on));
    },
    setMessage(text: string): void {
      message.textContent = text;
      setShown(message, text !== "");
    },
  };
}

function field(label: string, control: HTMLElement): HTMLElement {
  return h("label", { class: "field", for: control.id }, h("span", {}, label), control);
}

function layoutSwitch() {
  const make = (layout: LayoutName, text: string, title: string): HTMLButtonElement =>
    h("button", { type: "button", "data-layout": layout, "aria-pressed": "false", title }, text);
  const buttons = [
    make("hilbert", "Blocks", "Hilbert order: neighbours stay near, and every aligned part is a square"),
    make("rows", "Rows", "Plain rows, from left to right"),
  ];
  const element = h("div", { class: "switch", role: "group", "aria-label": "Layout" }, ...buttons);
  return {
    element,
    set(layout: LayoutName): void {
      for (const each of buttons) each.setAttribute("aria-pressed", String(each.dataset["layout"] === layout));
    },
    listen(choose: (layout: LayoutName) => void): void {
      for (const each of buttons) each.addEventListener("click", () => choose(each.dataset["layout"] as LayoutName));
    },
  };
}

function stage() {
  const canvas = h("canvas", {
    id: "map", tabindex: 0, role: "application", "aria-roledescription": "map", "aria-label": "Map",
    "aria-describedby": "map-help",
  });
  const help = h("span", { id: "map-help", class: "visually-hidden" },
    "Arrow keys move the cursor, Enter opens what it is on, plus and minus zoom, 0 shows the whole range. "
    + "The button Table shows the same values as a table.");
  const tip = h("div", { class: "tip", "aria-hidden": "true", hidden: true });
  const zoomIn = button(icon("plus"), () => undefined, { "aria-label": "Zoom in", title: "Zoom in (+)" });
  const zoomOut = button(icon("minus"), () => undefined, { "aria-label": "Zoom out", title: "Zoom out (-)" });
  const fit = button(icon("fit"), () => undefined, { "aria-label": "Show the whole range", title: "Show the whole range (0)" });
  const busy = h("span", { class: "busy", "aria-hidden": "true" });
  const element = h("div", { class: "stage" }, canvas, help, tip, busy, h("div", { class: "zoom-buttons" }, zoomIn, zoomOut, fit));
  return {
    element, canvas, zoomIn, zoomOut, fit,
    setBusy(on: boolean): void {
      busy.classList.toggle("on", on);
    },
    hideTip(): void {
      setShown(tip, false);
    },
    /** Shows words beside a point, on the side that has room. */
    showTip(x: number, y: number, title: string, lines: string[]): void {
      fill(tip, h("strong", {}, title), ...lines.map((line) => h("span", {}, line)));
      setShown(tip, true);
      const { offsetWidth, offsetHeight } = tip;
      const right = x + 16 + offsetWidth > element.clientWidth;
      const low = y + 16 + offsetHeight > element.clientHeight;
      tip.style.transform = `translate(${right ? Math.max(4, x - offsetWidth - 12) : x + 16}px, ${low ? Math.max(4, y - offsetHeight - 12) : y + 16}px)`;
    },
  };
}
