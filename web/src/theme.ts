// Light or dark: what the system prefers, until the reader chooses.

import { Signal } from "./signal";

export type Theme = "light" | "dark";
export type Choice = Theme | "auto";

const KEY = "berth-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

export const choice = new Signal<Choice>(stored());
export const theme = new Signal<Theme>(resolve());

function stored(): Choice {
  try {
    const text = localStorage.getItem(KEY);
    return text === "light" || text === "dark" ? text : "auto";
  } catch {
    return "auto";
  }
}

function resolve(): Theme {
  if (choice.value !== "auto") return choice.value;
  return system.matches ? "dark" : "light";
}

function apply(next: Theme): void {
  document.documentElement.dataset["theme"] = next;
  if (next !== theme.value) theme.set(next);
}

export function choose(next: Choice): void {
  choice.set(next);
  try {
    if (next === "auto") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  apply(resolve());
}

export function startTheme(): void {
  apply(resolve());
  system.addEventListener("change", () => apply(resolve()));
  // Paper is white: a dark map would waste ink.
  addEventListener("beforeprint", () => apply("light"));
  addEventListener("afterprint", () => apply(resolve()));
}
