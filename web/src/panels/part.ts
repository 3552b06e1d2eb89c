// A cell of many values: who holds which of them.

import type { Table } from "../api";
import { h } from "../dom";
import type { Child } from "../dom";
import { navigate } from "../app";
import { plural } from "../values";
import { button } from "../dom";
import { showPart } from "../views/map_view";
import { serviceLink, valueLink } from "../views/links";
import { section } from "./parts";

export function partBody(range: string, first: string, last: string, table: Table): Child[] {
  const rest = table.total - table.rows.length;
  return [
    h("p", {}, table.total === 0 ? "All of its values are free, or are never given out." : `${plural(table.total, "value")} not free.`),
    h("p", { class: "buttons" },
      button("Zoom to it", () => showPart(range, first, last)),
      button("As a table", () => navigate({ table: true }), { class: "button quiet" })),
    table.rows.length > 0 && section("Values",
      h("ul", { class: "plain holders" }, ...table.rows.map((row) => h("li", {},
        valueLink(row.value), row.service === null ? h("span", { class: "note" }, row.state) : serviceLink(row.service))))),
    rest > 0 && h("p", { class: "note" }, `${plural(rest, "more value")}: zoom in, or open the table.`),
  ];
}
