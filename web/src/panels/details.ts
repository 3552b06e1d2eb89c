// Details of a value or a Service: what whois says, what it holds, commands, and its past.

import type { Details } from "../api";
import { h } from "../dom";
import type { Child } from "../dom";
import { timeElement } from "../time";
import { plural } from "../values";
import { mapLink, rangeLink, routeLink, serviceLink, valueLink } from "../views/links";
import { commandElement, section } from "./parts";

export function detailsBody(details: Details): Child[] {
  return [
    details.value && verdict(details.value),
    factList(details.facts),
    ...details.services.map((service) => serviceSection(service, details.value !== null)),
    details.value && places(details.value),
    details.value && details.value.safeNear.length > 0 && section(details.value.safe ? "Safe too" : "Safe to hard-code, near",
      h("p", { class: "chips" }, ...details.value.safeNear.map(valueLink))),
    details.commands.length > 0 && section("Commands", ...details.commands.map(({ title, command }) => commandElement(title, command))),
    details.history && historySection(details.history),
  ];
}

function verdict(value: NonNullable<Details["value"]>): HTMLElement | null {
  if (value.verdict === "") return null;
  return h("p", { class: `verdict ${value.safe ? "good" : "plain"}` }, value.verdict);
}

function factList(facts: Details["facts"]): HTMLElement | null {
  if (facts.length === 0) return null;
  return h("dl", { class: "fact-list" }, ...facts.map(({ label, text, tone }) =>
    h("div", { class: tone }, h("dt", {}, label), h("dd", {}, text))));
}

function serviceSection(service: Details["services"][number], named: boolean): HTMLElement {
  const labels = Object.entries(service.labels);
  const facts: [string, Child][] = [
    ["Type", service.type],
    ["Created", service.created === null ? null : timeElement(service.created)],
    ["Managed by", service.managedBy],
  ];
  return section(named ? "Service" : "What it holds",
    named && h("p", { class: "service-name" }, serviceLink(service.service)),
    named && h("dl", { class: "fact-list" }, ...facts.filter(([, text]) => text !== null)
      .map(([label, text]) => h("div", {}, h("dt", {}, label), h("dd", {}, text)))),
    holdsTable(service),
    labels.length > 0 && h("ul", { class: "labels", "aria-label": "Labels" }, ...labels.map(([key, text]) =>
      h("li", {}, routeLink({ page: "map", find: `${key}=${text}` }, `${key}=${text}`, `label ${key}`)))));
}

function holdsTable(service: Details["services"][number]): HTMLElement | null {
  if (service.holds.length === 0) return h("p", { class: "note" }, "It holds no value.");
  const origin = { named: "named", drawn: "drawn", unknown: "" };
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `What ${service.service} holds` },
    h("table", { class: "data small" },
      h("thead", {}, h("tr", {}, ...["Holds", "Origin", "Serves", "Map"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, ...service.holds.map((hold) => h("tr", {},
        h("th", { scope: "row" }, valueLink(hold.value)), h("td", {}, origin[hold.origin]), h("td", {}, hold.serves),
        h("td", {}, hold.key === null ? "" : mapLink(hold.key, hold.value, hold.range ?? "Show")))))));
}

function places(value: NonNullable<Details["value"]>): HTMLElement | null {
  const { ranges, below, above } = value;
  if (ranges.length === 0 && !below && !above) return null;
  const near = (name: string, neighbour: typeof below): HTMLElement | null => neighbour && h("li", {},
    `${name}: `, valueLink(neighbour.value), neighbour.service !== "" && ` (${neighbour.service})`);
  return section("Where it is", h("ul", { class: "plain" },
    ...ranges.map((range) => h("li", {},
      rangeLink(range.key, range.label), range.band && `, ${range.band} band`, ". ",
      mapLink(range.key, value.value, "Show on the map"))),
    near("Next below", below), near("Next above", above)));
}

function historySection(history: NonNullable<Details["history"]>): HTMLElement {
  const { spans, begin, gaps } = history;
  return section("Its past",
    spans.length === 0
      ? h("p", { class: "note" }, "No Service was seen to have it.")
      : h("ol", { class: "timeline", reversed: true }, ...spans.map(spanElement)),
    h("p", { class: "note" },
      begin !== null && "The history begins at ", begin !== null && timeElement(begin), begin !== null && ". ",
      gaps > 0 && `It has ${plural(gaps, "gap")}, in which changes were not seen.`));
}

function spanElement(span: NonNullable<Details["history"]>["spans"][number]): HTMLElement {
  const between = (earliest: string | null, time: string): Child[] =>
    earliest === null ? [timeElement(time)] : ["between ", timeElement(earliest), " and ", timeElement(time)];
  return h("li", { class: span.to === null ? "now" : "" },
    h("p", {}, span.owner.includes("/") ? serviceLink(span.owner) : span.owner, span.to === null && h("span", { class: "tag" }, "now")),
    h("p", { class: "note" }, "From ", ...between(span.fromEarliest, span.from)),
    span.to !== null && h("p", { class: "note" }, "To ", ...between(span.toEarliest, span.to)));
}
