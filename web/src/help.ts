// The keys and how to read the map, in a dialog.

import { button, h, icon } from "./dom";

const KEYS: [string, [string, string][]][] = [
  ["Anywhere", [
    ["/", "Search"], ["O  M  F", "Overview, map, findings"], ["P", "Pause and resume live changes"],
    ["T", "Show the map as a table, and back"], ["W", "What if this range had another size"], ["Esc", "Close the panel"],
    ["?", "This help"],
  ]],
  ["On the map", [
    ["← ↑ → ↓", "Move the cursor"], ["Enter", "Open what the cursor is on"], ["+  −", "Zoom in and out"], ["0", "Show the whole range"],
    ["Shift + arrows", "Move the map"], ["Page up, Page down", "Move by a screen"], ["Home, End", "First and last value"],
  ]],
  ["With a pointer", [
    ["Wheel, pinch", "Zoom"], ["Drag", "Move the map"], ["Shift + wheel", "Move the map"],
    ["Click", "Open a value, or a part of the range"], ["Double click", "Zoom in"],
  ]],
  ["On an edge in a what-if", [
    ["← →", "Make the range smaller or larger"], ["Page up, Page down", "In larger steps"], ["Home, End", "Smallest and largest"],
  ]],
];

const dialog = h("dialog", { class: "dialog", "aria-labelledby": "help-title" });

export function startHelp(host: HTMLElement): void {
  const close = button(icon("close"), () => dialog.close(), { class: "button icon-only", "aria-label": "Close", autofocus: true });
  dialog.append(
    h("div", { class: "dialog-head" }, h("h2", { id: "help-title" }, "Keys, and how to read the map"), close),
    h("p", {}, "In blocks, the range is a square that is folded: values that are near each other in the range are near each other "
      + "on the map, and every aligned part, such as a /24, is a square or two. In rows, values run from left to right, and from top to bottom."),
    h("div", { class: "key-groups" }, ...KEYS.map(([name, keys]) => h("section", {}, h("h3", {}, name),
      h("dl", { class: "keys" }, ...keys.map(([key, text]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, text))))))));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  host.append(dialog);
}

export function toggleHelp(): void {
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

export function isHelpOpen(): boolean {
  return dialog.open;
}
