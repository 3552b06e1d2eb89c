// Gives each cell of a tile its colour.

import { AGES, ageColour, ageStep, markColour, MARKS, mix, nameColour, ORIGINS, originColour, otherColour, pixel, strength } from "../colour";
import type { ColourName } from "../route";
import type { Theme } from "../theme";
import { TILE_CELLS } from "./cells";
import type { Cells } from "./cells";

export interface Colouring {
  colour: ColourName;
  theme: Theme;
  /** The names that have a colour of their own, in the order of their colours. */
  namespaces: readonly string[];
  types: readonly string[];
  filtered: boolean;
  now: number; // seconds since 1970
}

const OUTSIDE = MARKS.indexOf("outside");
const FREE = MARKS.indexOf("free");
const FREE_STATIC = MARKS.indexOf("freeStatic");
const RESERVED = MARKS.indexOf("reserved");
const COOLING = MARKS.indexOf("cooling");
const EXCLUDED = MARKS.indexOf("excluded");
const DIM = 0.82;

/** Writes the pixels of all cells, in the order of their values. */
export function paintCells(cells: Cells, colouring: Colouring, out: Uint32Array): void {
  const ground = markColour("outside", colouring.theme);
  const free = markColour("free", colouring.theme);
  const marks = MARKS.map((mark) => markColour(mark, colouring.theme));
  const choose = chooser(cells, colouring, marks);
  const mixed = new Map<number, number>();
  for (let i = 0; i < TILE_CELLS; i++) {
    const mark = cells.mark[i] ?? OUTSIDE;
    if (mark === OUTSIDE) {
      out[i] = 0;
      continue;
    }
    const dim = colouring.filtered && cells.found[i] === 0;
    const share = isPlain(mark) ? 255 : cells.share[i] ?? 255;
    const colour = isPlain(mark) ? marks[mark] ?? free : choose(i, mark);
    const key = colour * 512 + share * 2 + (dim ? 1 : 0);
    let value = mixed.get(key);
    if (value === undefined) {
      const full = isPlain(mark) ? colour : mix(free, colour, strength(share / 255));
      value = pixel(dim ? mix(full, ground, DIM) : full);
      mixed.set(key, value);
    }
    out[i] = value;
  }
}

function isPlain(mark: number): boolean {
  return mark === FREE || mark === FREE_STATIC || mark === EXCLUDED;
}

/** Returns the function that chooses the colour of a cell that is not free. */
function chooser(cells: Cells, c: Colouring, marks: number[]): (cell: number, mark: number) => number {
  const other = otherColour(c.theme);
  const byMark = (mark: number): number => marks[mark] ?? other;
  const held = (mark: number): boolean => mark !== RESERVED && mark !== COOLING;
  const byIndex = (list: Int16Array | Int8Array, colours: number[]) => (cell: number, mark: number) =>
    held(mark) ? colours[list[cell] ?? -1] ?? other : byMark(mark);
  const coloursOf = (names: string[], known: readonly string[]): number[] =>
    names.map((name) => nameColour(known.indexOf(name), c.theme));
  switch (c.colour) {
    case "namespace":
      return byIndex(cells.namespace, coloursOf(cells.namespaces, c.namespaces));
    case "type":
      return byIndex(cells.type, coloursOf(cells.types, c.types));
    case "age": {
      const steps = AGES.map((_, step) => ageColour(step, c.theme));
      return (cell, mark) => {
        const newest = cells.newest[cell] ?? 0;
        if (!held(mark)) return byMark(mark);
        return newest > 0 ? steps[ageStep(c.now - newest)] ?? other : other;
      };
    }
    case "origin": {
      const colours = ORIGINS.map((origin) => originColour(origin, c.theme));
      return (cell, mark) => (held(mark) ? colours[cells.origin[cell] ?? 0] ?? other : byMark(mark));
    }
    default:
      return (_, mark) => byMark(mark);
  }
}
