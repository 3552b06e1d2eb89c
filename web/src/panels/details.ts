// Details of a value or a Service: what whois says, what it holds, commands, and its past.

import type { Details } from "../api";
import { h } from "../dom";
import type { Child } from "../dom";
import { timeElement, withTimes } from "../time";
import { plural } from "../values";
import { mapLink, routeLink, serviceLink, valueLink } from "../views/links";
import { commandElement, section } from "./parts";

export function detailsBody(details: Details): Child[] {
  return [
    details.value && verdict(details.value),
    factList(details.facts),
    ...details.services.map((service) => serviceSection(service, details)),
    details.value && places(details.value),
    details.value && details.value.safeNear.length > 0 && section(details.value.safe ? "Safe too" : "Safe to hard-code, near",
      h("p", { class: "chips" }, ...details.value.safeNear.map(valueLink))),
    details.commands.length > 0 && section("Commands", ...details.commands.map(({ title, command }) => commandElement(title, command))),
    details.history && historySection(details.history),
  ];
}

function verdict(value: NonNullable<Details["value"]>): HTMLElement | null {
  if (value.verdict === "") return null;
  return h("p", { class: `verdict ${value.safe ? "good" : "plain"}` }, h("span", {}, "Safe to hard-code? "), value.verdict);
}

// What the page shows by itself, with links.
const SHOWN_ELSEWHERE = new Set(["Hard-code", "Neighbours", "Safe near", "Safe too", "Safe"]);

function factList(facts: Details["facts"]): HTMLElement | null {
  const shown = facts.filter(({ label }) => !SHOWN_ELSEWHERE.has(label));
  if (shown.length === 0) return null;
  return h("dl", { class: "fact-list" }, ...shown.map(({ label, text, tone }) =>
    h("div", { class: tone }, h("dt", {}, label), h("dd", {}, ...withTimes(text)))));
}

function serviceSection(service: Details["services"][number], details: Details): HTMLElement {
  const named = details.value !== null;
  const labels = Object.entries(service.labels);
  const told = new Set(details.facts.map(({ label }) => label));
  const facts: [string, Child][] = [["Type", service.type]];
  if (service.created !== null && !told.has("Since")) facts.push(["Created", timeElement(service.created)]);
  if (service.managedBy !== null && !told.has("Managed by")) facts.push(["Managed by", service.managedBy]);
  return section(named ? "Service" : "What it holds",
    named && h("p", { class: "service-name" }, serviceLink(service.service)),
    h("dl", { class: "fact-list" }, ...facts.map(([label, text]) => h("div", {}, h("dt", {}, label), h("dd", {}, text)))),
    holdsList(service),
    labels.length > 0 && h("ul", { class: "labels", "aria-label": "Labels" }, ...labels.map(([key, text]) =>
      h("li", {}, routeLink({ page: "map", find: `${key}=${text}` }, `${key}=${text}`, `label ${key}`)))));
}

function holdsList(service: Details["services"][number]): HTMLElement {
  if (service.holds.length === 0) return h("p", { class: "note" }, "It holds no value.");
  return h("ul", { class: "plain holders" }, ...service.holds.map((hold) => h("li", {},
    valueLink(hold.value),
    hold.origin !== "unknown" && h("span", { class: "tag" }, hold.origin),
    h("p", { class: "note" }, hold.serves, hold.serves !== "" && hold.range !== null && ", ",
      hold.key === null ? "in no range" : "in ", hold.key !== null && mapLink(hold.key, hold.value, hold.range ?? "its range")))));
}

function places(value: NonNullable<Details["value"]>): HTMLElement | null {
  const { ranges, below, above } = value;
  if (ranges.length === 0 && !below && !above) return null;
  const near = (name: string, neighbour: typeof below): HTMLElement | null => neighbour && h("li", {},
    `${name}: `, valueLink(neighbour.value), neighbour.service !== "" && ` (${neighbour.service})`);
  return section("Where it is", h("ul", { class: "lines" },
    ...ranges.map((range) => h("li", {}, mapLink(range.key, value.value, range.label), range.band && `, ${range.band} band`)),
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
    earliest === null ? ["at ", timeElement(time)] : ["between ", timeElement(earliest), " and ", timeElement(time)];
  return h("li", { class: span.to === null ? "now" : "" },
    h("p", {}, span.owner.includes("/") ? serviceLink(span.owner) : span.owner, span.to === null && h("span", { class: "tag" }, "now")),
    h("p", { class: "note" }, "Taken ", ...between(span.fromEarliest, span.from)),
    span.to !== null && h("p", { class: "note" }, "Released ", ...between(span.toEarliest, span.to)));
}
