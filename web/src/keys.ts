// Keys that work anywhere on the page, except where one types.

import { closePanel, navigate, route } from "./app";
import { announce } from "./dom";
import { isHelpOpen, toggleHelp } from "./help";
import { isPaused, togglePause } from "./live";
import { withPanel } from "./route";
import { focusSearch } from "./search";
import { toggleWhatIf } from "./views/map_view";

const ACTIONS: Record<string, () => void> = {
  "/": focusSearch,
  "?": toggleHelp,
  o: () => navigate({ page: "overview", ...withPanel({}) }),
  m: () => navigate({ page: "map" }),
  f: () => navigate({ page: "findings", ...withPanel({}) }),
  p: () => {
    togglePause();
    announce(isPaused() ? "Paused" : "Live");
  },
  t: () => navigate(route.value.page === "map" ? { table: !route.value.table } : { page: "map", table: true }),
  w: () => toggleWhatIf(),
};

export function startKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.body.classList.contains("gated")) return;
    if (event.key === "Escape") return escape();
    if (isHelpOpen() && event.key !== "?") return;
    if (isTyping(event.target)) return;
    const action = ACTIONS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function escape(): void {
  const { value, service, part, whatIf } = route.value;
  if (!isHelpOpen() && (value ?? service ?? part ?? whatIf) !== null) closePanel();
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.matches("input, textarea, select, [contenteditable]");
}
