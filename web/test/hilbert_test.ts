import { coverSquares, indexAt, squareAt, tileTable } from "../src/map/hilbert";
import type { Orientation } from "../src/map/hilbert";
import { equal, test } from "./check";

test("the curve begins at the top left and passes each place once", () => {
  equal(squareAt(0n, 5), { x: 0n, y: 0n, orientation: squareAt(0n, 5).orientation });
  const seen = new Set<string>();
  for (let i = 0n; i < 1024n; i++) {
    const { x, y } = squareAt(i, 5);
    seen.add(`${x},${y}`);
    equal(indexAt(x, y, 5), i);
  }
  equal(seen.size, 1024);
});

test("neighbours on the curve are neighbours on the map", () => {
  for (let i = 1n; i < 4096n; i++) {
    const a = squareAt(i - 1n, 6);
    const b = squareAt(i, 6);
    const distance = Math.abs(Number(a.x - b.x)) + Math.abs(Number(a.y - b.y));
    equal(distance, 1);
  }
});

test("a coarser square holds its four finer ones", () => {
  for (let i = 0n; i < 1024n; i++) {
    const fine = squareAt(i, 5);
    const coarse = squareAt(i >> 2n, 4);
    equal([fine.x >> 1n, fine.y >> 1n], [coarse.x, coarse.y]);
  }
});

test("the table of a tile agrees with the curve", () => {
  for (const index of [0n, 1n, 2n, 3n, 77n]) {
    const tile = squareAt(index, 4);
    const table = tileTable(tile.orientation as Orientation);
    for (const cell of [0, 1, 63, 64, 2048, 4095]) {
      const { x, y } = squareAt(index * 4096n + BigInt(cell), 10);
      equal(table[cell], Number(x - tile.x * 64n) + 64 * Number(y - tile.y * 64n));
    }
  }
});

test("a /64 has exact places", () => {
  const last = (1n << 64n) - 1n;
  const { x, y } = squareAt(last, 32);
  equal(indexAt(x, y, 32), last);
  equal(indexAt(4294967295n, 1n, 32) !== indexAt(4294967294n, 1n, 32), true);
});

test("squares cover exactly the values asked for", () => {
  const window = { left: 0n, top: 0n, right: 64n, bottom: 64n };
  let area = 0n;
  coverSquares(6, 100n, 2999n, window, 0, (_x, _y, level) => (area += 1n << BigInt(2 * level)));
  equal(area, 2900n);
});

test("squares outside of the window are left out", () => {
  const emitted: string[] = [];
  const window = { left: 0n, top: 0n, right: 1n, bottom: 1n };
  coverSquares(32, 1n, (1n << 63n) - 1n, window, 0, (x, y) => emitted.push(`${x},${y}`));
  equal(emitted, []);
});
