// The table that stands for the map: the same values, page by page, with the filter of the map.

import type { Table, TableRow } from "../api";
import { announce, button, fill, h, setShown } from "../dom";
import { getTable, isAbort, messageOf } from "../net";
import { timeElement } from "../time";
import { formatCount, plural } from "../values";
import { serviceLink, valueLink } from "./links";

export interface TableQuestion {
  range: string;
  name: string;
  find: string;
  first: string | null;
  last: string | null;
}

const ORIGIN = { named: "named", drawn: "drawn", unknown: "" };

export class TableView {
  readonly element = h("div", { class: "table-view" });
  private readonly caption = h("caption");
  private readonly body = h("tbody");
  private readonly count = h("p", { class: "note", role: "status" });
  private readonly previous = button("Previous", () => this.turn(-1));
  private readonly next = button("Next", () => this.turn(1));
  private question: TableQuestion | null = null;
  private pages: (string | null)[] = [null]; // where each page begins
  private page = 0;
  private following: string | null = null;
  private request: AbortController | null = null;

  constructor() {
    const heads = ["Value", "Service", "State", "Type", "Origin", "Band", "Since"];
    const table = h("table", { class: "data" }, this.caption,
      h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))), this.body);
    this.element.append(
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Values in use" }, table),
      h("div", { class: "pager" }, this.count, this.previous, this.next));
  }

  /** Shows the first page of a question; the same question keeps its page. */
  show(question: TableQuestion): void {
    if (JSON.stringify(question) === JSON.stringify(this.question)) return;
    this.question = question;
    this.pages = [null];
    this.page = 0;
    const part = question.first !== null ? `, ${question.first} to ${question.last ?? ""}` : "";
    const filter = question.find !== "" ? `, filter “${question.find}”` : "";
    this.caption.textContent = `Values in use: ${question.name}${part}${filter}`;
    void this.reload();
  }

  async reload(): Promise<void> {
    if (!this.question) return;
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    try {
      const { range, find, first, last } = this.question;
      this.draw(await getTable({ range, find, first, last, after: this.pages[this.page] ?? null }, request.signal));
    } catch (error) {
      if (!isAbort(error)) this.count.textContent = messageOf(error);
    }
  }

  private turn(by: number): void {
    if (by > 0 && this.following !== null) this.pages[this.page + 1] = this.following;
    this.page = Math.max(0, this.page + by);
    void this.reload().then(() => announce(`Page ${this.page + 1}`));
  }

  private draw(table: Table): void {
    fill(this.body, ...table.rows.map(row));
    this.following = table.next;
    const from = this.page * 200;
    this.count.textContent = table.rows.length === 0
      ? "No value in use here."
      : `${formatCount(from + 1)} to ${formatCount(from + table.rows.length)} of ${plural(table.total, "value")}`;
    this.previous.disabled = this.page === 0;
    this.next.disabled = table.next === null;
    setShown(this.element, true);
  }
}

function row(of: TableRow): HTMLElement {
  const cells = [
    valueLink(of.value), of.service === null ? "" : serviceLink(of.service), of.state, of.type ?? "",
    ORIGIN[of.origin], of.band ?? "", of.since === null ? "" : timeElement(of.since, "short"),
  ];
  return h("tr", {}, ...cells.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell))));
}
