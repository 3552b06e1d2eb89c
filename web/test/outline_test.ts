import { outlineOf } from "../src/map/outline";
import { equal, test } from "./check";

const length = (lines: number[]): number => {
  let sum = 0;
  for (let i = 0; i < lines.length; i += 4) {
    sum += Math.abs((lines[i + 2] ?? 0) - (lines[i] ?? 0)) + Math.abs((lines[i + 3] ?? 0) - (lines[i + 1] ?? 0));
  }
  return sum;
};

test("one rectangle has four lines", () => {
  equal(outlineOf([{ x: 0, y: 0, w: 4, h: 2 }]).length, 16);
});

test("the edge between two rectangles is not drawn", () => {
  equal(length(outlineOf([{ x: 0, y: 0, w: 2, h: 2 }, { x: 2, y: 0, w: 2, h: 2 }])), 12);
});

test("edges of different lengths cancel in part", () => {
  equal(length(outlineOf([{ x: 0, y: 0, w: 4, h: 2 }, { x: 0, y: 2, w: 1, h: 1 }])), 14);
});

test("nothing has no outline", () => equal(outlineOf([]), []));
