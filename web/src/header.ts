// The bar at the top: where to go, what is looked at, whether it is live, and who is signed in.

import { connection, overview, problem, route, session } from "./app";
import type { Connection } from "./app";
import { announce, button, fill, h, icon, onChange, setShown } from "./dom";
import { toggleHelp } from "./help";
import { isPaused, togglePause } from "./live";
import { signOut } from "./net";
import { withPanel } from "./route";
import type { Page } from "./route";
import { choice, choose } from "./theme";
import { timeElement } from "./time";
import { formatCount } from "./values";
import { routeLink } from "./views/links";
import { startSearch } from "./search";

const STATE_TEXT: Record<Connection, string> = {
  starting: "Connecting", live: "Live", file: "File", paused: "Paused", lost: "Not connected", ended: "Ended",
};

const source = h("p", { class: "source" });
const pages = h("nav", { class: "pages", "aria-label": "Pages" });
const state = h("button", { type: "button", class: "live", click: () => togglePause() });
const notice = h("p", { class: "notice", role: "status", hidden: true });
const user = h("div", { class: "user", hidden: true });

export function startHeader(host: HTMLElement): void {
  const search = h("div", { class: "search", role: "search" });
  startSearch(search);
  const themeButton = button("", () => choose(NEXT[choice.value]), { class: "button icon-only" });
  const showTheme = (): void => {
    fill(themeButton, icon({ auto: "auto", light: "sun", dark: "moon" }[choice.value]));
    const text = `Theme: ${choice.value === "auto" ? "as the system" : choice.value}`;
    themeButton.setAttribute("aria-label", text);
    themeButton.title = text;
  };
  showTheme();
  choice.on(showTheme);
  host.append(
    h("div", { class: "brand" }, h("img", { src: "/icon.svg", alt: "", width: 24, height: 24 }), h("strong", {}, "Berth"), source),
    pages, search,
    h("div", { class: "bar-end" }, state, themeButton,
      button(icon("help"), toggleHelp, { class: "button icon-only", "aria-label": "Keys and help", title: "Keys and help (?)" }), user));
  host.after(notice);
  route.on(drawPages);
  overview.on(drawSource);
  overview.on(drawPages);
  connection.on(drawState);
  problem.on(drawState);
  session.on(drawUser);
  drawState();
  drawUser();
}

const NEXT = { auto: "light", light: "dark", dark: "auto" } as const;

function drawPages(): void {
  renderPages({ page: route.value.page, count: overview.value?.findingCount ?? 0, severity: overview.value?.findingSeverity ?? null });
}

const renderPages = onChange<{ page: Page; count: number; severity: string | null }>(({ page, count, severity }) => {
  const all: [Page, string][] = [["overview", "Overview"], ["map", "Map"], ["findings", "Findings"]];
  fill(pages, ...all.map(([name, text]) => {
    const link = routeLink({ page: name, ...withPanel({}) }, text, "page " + name);
    if (name === page) link.setAttribute("aria-current", "page");
    if (name === "findings" && count > 0) {
      link.append(" ", h("span", { class: `bubble ${severity ?? ""}` }, formatCount(count)));
    }
    return link;
  }));
});

function drawSource(): void {
  const now = overview.value;
  if (!now) return;
  const version = now.version === null ? "" : ` ${now.version}`;
  const server = now.server === "unknown" ? "" : `${now.server}${version} · `;
  source.textContent = server + now.source.replace(/^https?:\/\//, "");
  source.title = now.source;
}

function drawState(): void {
  const now = connection.value;
  state.dataset["state"] = problem.value !== "" && now === "live" ? "trouble" : now;
  const text = problem.value !== "" && now === "live" ? "Not followed" : STATE_TEXT[now];
  fill(state, h("span", { class: "dot", "aria-hidden": "true" }), h("span", {}, text));
  const can = now === "live" || now === "paused";
  state.disabled = !can;
  state.title = can ? (isPaused() ? "Resume live changes (P)" : "Pause live changes (P)") : "";
  state.setAttribute("aria-pressed", String(now === "paused"));
  notice.textContent = problem.value;
  setShown(notice, problem.value !== "");
}

function drawUser(): void {
  const now = session.value;
  setShown(user, now?.mode === "team" && now.user !== null);
  if (!now || now.user === null) return;
  fill(user, h("span", { class: "user-name" }, now.user),
    now.expires !== null && h("span", { class: "note" }, "until ", timeElement(now.expires, "minute")),
    button("Sign out", () => void leave(), { class: "button quiet" }));
}

async function leave(): Promise<void> {
  try {
    await signOut();
  } catch {
    announce("The server did not confirm the sign-out");
  }
  location.reload();
}
