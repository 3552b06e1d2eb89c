import type { RangeDetail, Tile } from "../src/api";
import { coarseCell, decodeTile } from "../src/map/cells";
import { HilbertView } from "../src/map/hilbert_view";
import type { Projection } from "../src/map/projection";
import { RowsView } from "../src/map/rows_view";
import { equal, test } from "./check";

const range = (first: string, size: string, bits: number, pool: RangeDetail["pool"]): RangeDetail =>
  ({ first, size, bits, pool } as unknown as RangeDetail);
const RANGES = [
  range("10.0.0.0", "16", 4, "IPv4"), range("10.96.0.0", "65536", 16, "IPv4"), range("10.96.0.0", "1048576", 20, "IPv4"),
  range("10.96.0.0", "131072", 18, "IPv4"), range("30000", "2768", 12, "NodePort"),
  range("fd00::", "18446744073709551616", 64, "IPv6"), range("::", (1n << 128n).toString(), 128, "IPv6"),
];

const each = (body: (view: Projection, size: bigint) => void): void => {
  for (const detail of RANGES) {
    for (const view of [new HilbertView(detail), new RowsView(detail)]) {
      view.setSize(900, 600);
      body(view, BigInt(detail.size));
    }
  }
};

test("a value is where the map says that it is, at every zoom", () => {
  each((view, size) => {
    for (const offset of [0n, size / 3n, size - 1n]) {
      view.lookAt(offset, null);
      for (let i = 0; i < 30; i++) {
        const { x, y } = view.pointOf(offset);
        const cell = view.offsetAt(x, y);
        equal(cell, (offset >> BigInt(view.level)) << BigInt(view.level));
        view.zoomAt(i < 12 ? 1 : -3, x, y);
      }
    }
  });
});

test("a look can be sent: another map goes to the same place", () => {
  for (const detail of RANGES) {
    const [one, other] = [new HilbertView(detail), new HilbertView(detail)];
    one.setSize(900, 600);
    other.setSize(900, 600);
    one.lookAt(BigInt(detail.size) / 2n, 2);
    const { offset, zoom } = one.look();
    other.lookAt(offset, zoom);
    equal(other.look(), one.look());
  }
});

test("the number of tiles on a screen is bounded", () => {
  each((view) => {
    for (let i = 0; i < 80; i++) {
      equal(view.tiles().length <= 40, true);
      view.zoomAt(1, 300, 200);
    }
  });
});

test("the whole range is shown at first, and again after going back", () => {
  each((view) => {
    view.fit();
    equal(view.whole, true);
    view.zoomAt(2, 300, 300);
    for (let i = 0; i < 20; i++) view.zoomAt(-2, 300, 300);
    equal(view.whole, true);
  });
});

test("keys move by one cell and stay in the range", () => {
  each((view, size) => {
    equal(view.step(0n, -1, 0), 0n);
    let offset = 0n;
    for (const [dx, dy] of [[1, 0], [0, 1], [1, 0], [-1, 0], [0, 1]] as const) {
      offset = view.step(offset, dx, dy);
      equal(offset >= 0n && offset < size, true);
    }
  });
});

test("a coarse tile stands for a finer one", () => {
  const tile = (bits: number, index: string): Tile =>
    ({ seq: 1, bits, index, runs: [], cells: [], namespaces: [], types: [] });
  const coarse = decodeTile(tile(4, "1"));
  equal(coarseCell(coarse, 2, 4n, 0), 0);
  equal(coarseCell(coarse, 2, 7n, 4095), 4095);
  equal(coarseCell(coarse, 0, 16n, 17), 1);
});

test("a tile may hold nonsense without harm", () => {
  const cells = decodeTile({
    seq: 1, bits: 0, index: "0", runs: [[0, 99999, "free"], [-5, 2, "odd" as "free"]],
    cells: [[9999, "taken", 1, 1, 1, 0, 0, 0, 0, "a/b", 0], [3, "taken", 5, 0, 0, 0, -1, -1, 0, "", 1]],
    namespaces: [], types: [],
  });
  equal([cells.mark.length, cells.rows.size, cells.share[3], cells.found[3]], [4096, 1, 255, 1]);
});
