// Pieces that several panels share.

import { announce, button, fill, h, icon } from "../dom";

/** Returns a command with a button that copies it. */
export function commandElement(title: string, command: string): HTMLElement {
  const copy = button(icon("copy"), () => void copyText(command, copy), {
    class: "button icon-only", "aria-label": `Copy: ${title}`, title: "Copy", "data-focus": "copy " + title,
  });
  return h("div", { class: "command" },
    h("p", { class: "command-title" }, title),
    h("div", { class: "command-line" },
      h("pre", { tabindex: 0, role: "region", "aria-label": title }, h("code", {}, command)), copy));
}

async function copyText(text: string, from: HTMLButtonElement): Promise<void> {
  const copied = (await viaClipboard(text)) || viaSelection(text);
  announce(copied ? "Copied" : "The browser does not allow copying");
  if (!copied) return;
  fill(from, icon("done"));
  setTimeout(() => fill(from, icon("copy")), 1500);
}

async function viaClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copies where a page has no clipboard, as without https. */
function viaSelection(text: string): boolean {
  const area = h("textarea", { class: "visually-hidden", "aria-hidden": "true" });
  const before = document.activeElement;
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

export function section(title: string, ...children: (Node | string | null | false)[]): HTMLElement {
  return h("section", { class: "panel-section" }, h("h3", {}, title), ...children);
}
