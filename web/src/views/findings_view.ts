// Findings: grouped, each group with why it matters, each finding with what to do.

import type { Findings } from "../api";
import { generation, overview, route, view } from "../app";
import { fill, h, onChange, setShown } from "../dom";
import { getFindings, messageOf, patiently, sentence } from "../net";
import { formatCount, plural } from "../values";
import { badge } from "./card";
import { mapLink, serviceLink, valueLink } from "./links";

const summary = h("p", { class: "summary", role: "status" });
const list = h("div", { class: "finding-groups" });
let shown = false;
let timer = 0;

export function startFindings(host: HTMLElement): void {
  const element = h("section", { class: "page", "aria-label": "Findings", hidden: true },
    h("div", { class: "page-head" }, h("h1", {}, "Findings"), summary), list);
  host.append(element);
  route.on(({ page }) => {
    setShown(element, page === "findings");
    if (page === "findings" && !shown) void load();
    shown = page === "findings";
  });
  const again = (): void => {
    clearTimeout(timer);
    if (shown) timer = window.setTimeout(() => void load(), 500);
  };
  view.on(again);
  generation.on(again);
  overview.on(again);
}

async function load(): Promise<void> {
  try {
    draw(await patiently(getFindings, (message) => (summary.textContent = message)));
  } catch (error) {
    summary.textContent = messageOf(error);
  }
}

const draw = (findings: Findings): void => drawGroups(findings.groups);

const drawGroups = onChange<Findings["groups"]>((groups) => {
  const found = groups.filter((group) => group.count > 0);
  const total = found.reduce((sum, group) => sum + group.count, 0);
  summary.textContent = total === 0 ? "Nothing was found." : `${plural(total, "finding")} in ${plural(found.length, "group")}.`;
  const open = new Set([...list.querySelectorAll("details[open]")].map((each) => each.getAttribute("data-kind")));
  fill(list, ...found.map((group, i) => groupElement(group, open.size === 0 ? i < 2 : open.has(group.kind))));
});

function groupElement(group: Findings["groups"][number], open: boolean): HTMLElement {
  const rest = group.count - group.items.length;
  return h("details", { class: "panel finding-group", open, "data-kind": group.kind },
    h("summary", { "data-focus": "group " + group.kind },
      badge(group.severity), h("h2", {}, group.title), h("span", { class: "count" }, formatCount(group.count))),
    h("p", { class: "why" }, sentence(group.why)),
    h("ul", { class: "plain findings" }, ...group.items.map(itemElement)),
    rest > 0 && h("p", { class: "note" }, `${formatCount(rest)} more are not listed.`));
}

function itemElement(item: Findings["groups"][number]["items"][number]): HTMLElement {
  const links = [
    item.value !== null && valueLink(item.value),
    item.service !== null && serviceLink(item.service),
    item.value !== null && item.key !== null && mapLink(item.key, item.value, "Show on the map"),
  ].filter((link): link is HTMLAnchorElement => link !== false);
  return h("li", {},
    h("p", {}, sentence(item.message)),
    item.advice !== "" && h("p", { class: "note" }, sentence(item.advice)),
    links.length > 0 && h("p", { class: "links" }, ...links));
}
