// Tiles of one range: fetched as needed, a bounded number kept. While a tile is on its way, its cells
// are taken from a coarser one, so nothing is blank.

import { inkOn } from "../colour";
import { ApiError, getTile, isAbort } from "../net";
import { coarseCell, decodeTile, TILE_CELLS } from "./cells";
import type { Cells } from "./cells";
import { tileTable } from "./hilbert";
import { paintCells } from "./paint";
import type { Colouring } from "./paint";
import type { TilePlace } from "./projection";

const KEPT = 320; // tiles; each has about 100 KB with its image
const AT_ONCE = 4; // requests; a browser has six connections, and one is the stream

interface Entry {
  key: string;
  cells: Cells;
  stale: boolean;
  used: number;
  colours: Uint32Array | null;
  painted: number; // the version of the colouring
}

interface Image {
  canvas: HTMLCanvasElement;
  from: Cells;
  version: number;
  columns: number;
  orientation: number | null;
  used: number;
}

interface Wish {
  level: number;
  index: bigint;
}

export class Tiles {
  private readonly entries = new Map<string, Entry>();
  private readonly images = new Map<string, Image>();
  private readonly underWay = new Map<string, AbortController>();
  private readonly inks = new Map<number, string>();
  private wishes: Wish[] = [];
  private clock = 0;
  private version = 1;
  private failed = 0; // until when no request is made, after a failure
  private readonly scratch = new Uint32Array(TILE_CELLS);

  constructor(
    private readonly range: string, private readonly rootLevel: number, private find: string,
    private colouring: Colouring, private readonly changed: () => void, private readonly fault: (message: string) => void,
  ) {}

  /** Ends all requests; the tiles are not used any more. */
  close(): void {
    this.wishes = [];
    for (const request of this.underWay.values()) request.abort();
    this.underWay.clear();
  }

  /** The name of the colouring that is painted. */
  painted = "";

  recolour(colouring: Colouring, name: string): void {
    this.colouring = colouring;
    this.painted = name;
    this.version++;
  }

  /** Asks for the same tiles with other matches; the old ones are shown until then. */
  filter(find: string): void {
    if (find === this.find) return;
    this.find = find;
    this.close();
    for (const entry of this.entries.values()) entry.stale = true;
  }

  /** Notes that a value has changed; its tiles are asked for again when they are seen. */
  touch(offset: bigint): void {
    for (const entry of this.entries.values()) {
      const { bits, index } = entry.cells;
      if (offset >> BigInt(bits + 12) === index) entry.stale = true;
    }
  }

  touchAll(): void {
    for (const entry of this.entries.values()) entry.stale = true;
  }

  get(level: number, index: bigint): Cells | null {
    return this.entries.get(`${level}/${index}`)?.cells ?? null;
  }

  /** Says which tiles are seen. Others that are on their way are not waited for. */
  want(level: number, places: readonly TilePlace[]): void {
    this.clock++;
    const wishes: Wish[] = [{ level: this.rootLevel, index: 0n }];
    const parent = level + 2;
    for (const { index } of places) {
      if (parent < this.rootLevel) wishes.push({ level: parent, index: index >> 2n });
    }
    for (const { index } of places) wishes.push({ level, index });
    this.wishes = wishes.filter((wish, i) => this.isMissing(wish) && isFirst(wishes, wish, i));
    const wanted = new Set(this.wishes.map(keyOf));
    for (const [key, request] of this.underWay) {
      if (!wanted.has(key)) {
        request.abort();
        this.underWay.delete(key);
      }
    }
    this.pump();
  }

  get busy(): boolean {
    return this.underWay.size > 0;
  }

  private isMissing(wish: Wish): boolean {
    const entry = this.entries.get(keyOf(wish));
    if (entry) entry.used = this.clock;
    return !entry || entry.stale;
  }

  private pump(): void {
    if (performance.now() < this.failed) return;
    for (const wish of this.wishes) {
      if (this.underWay.size >= AT_ONCE) return;
      if (!this.underWay.has(keyOf(wish))) void this.load(wish);
    }
  }

  private async load(wish: Wish): Promise<void> {
    const key = keyOf(wish);
    const request = new AbortController();
    this.underWay.set(key, request);
    try {
      const tile = await getTile(this.range, wish.level, wish.index, this.find, request.signal);
      this.store(key, decodeTile(tile));
      this.wishes = this.wishes.filter((other) => keyOf(other) !== key);
    } catch (error) {
      if (isAbort(error)) return;
      this.failed = performance.now() + 1500;
      setTimeout(this.changed, 1600);
      if (error instanceof ApiError && error.status !== 401 && error.status !== 0) this.fault(error.message);
    } finally {
      if (this.underWay.get(key) === request) this.underWay.delete(key);
      if (!request.signal.aborted) {
        this.changed();
        this.pump();
      }
    }
  }

  private store(key: string, cells: Cells): void {
    this.entries.set(key, { key, cells, stale: false, used: this.clock, colours: null, painted: 0 });
    if (this.entries.size <= KEPT) return;
    const oldest = [...this.entries.values()].sort((a, b) => a.used - b.used);
    for (const entry of oldest.slice(0, KEPT / 8)) {
      if (!entry.key.startsWith(`${this.rootLevel}/`)) this.entries.delete(entry.key);
    }
  }

  /** Returns the image of a tile, from a coarser one if need be; null if nothing is known yet. */
  image(level: number, place: TilePlace): HTMLCanvasElement | null {
    const from = this.nearest(level, place.index);
    if (!from) return null;
    const key = `${level}/${place.index}`;
    let image = this.images.get(key);
    if (image && image.from === from.cells && image.version === this.version
      && image.columns === place.columns && image.orientation === place.orientation) {
      image.used = this.clock;
      return image.canvas;
    }
    if (!image || image.columns !== place.columns) {
      image = { canvas: document.createElement("canvas"), from: from.cells, version: 0, columns: place.columns, orientation: null, used: 0 };
      image.canvas.width = place.columns;
      image.canvas.height = TILE_CELLS / place.columns;
      this.images.set(key, image);
    }
    Object.assign(image, {
      from: from.cells, version: this.version, orientation: place.orientation, used: this.clock,
    });
    this.draw(image.canvas, from, level, place);
    this.trim();
    return image.canvas;
  }

  private nearest(level: number, index: bigint): Entry | null {
    for (let up = level; up <= this.rootLevel; up += 2) {
      const entry = this.entries.get(`${up}/${index >> BigInt(up - level)}`);
      if (entry) return entry;
    }
    return null;
  }

  private draw(canvas: HTMLCanvasElement, from: Entry, level: number, place: TilePlace): void {
    const context = canvas.getContext("2d");
    if (!context) return;
    const colours = this.coloursOf(from, level, place.index);
    const image = context.createImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    if (place.orientation === null) pixels.set(colours);
    else {
      const table = tileTable(place.orientation);
      for (let i = 0; i < TILE_CELLS; i++) pixels[table[i] ?? 0] = colours[i] ?? 0;
    }
    context.putImageData(image, 0, 0);
  }

  private coloursOf(from: Entry, level: number, index: bigint): Uint32Array {
    if (!from.colours || from.painted !== this.version) {
      from.colours ??= new Uint32Array(TILE_CELLS);
      paintCells(from.cells, this.colouring, from.colours);
      from.painted = this.version;
    }
    if (from.cells.bits === level) return from.colours;
    const first = coarseCell(from.cells, level, index, 0);
    const shift = from.cells.bits - level;
    for (let i = 0; i < TILE_CELLS; i++) {
      const cell = shift >= 12 ? first : first + (i >> shift);
      this.scratch[i] = from.colours[cell] ?? 0;
    }
    return this.scratch;
  }

  /** Returns a colour in which text can be read on a cell. */
  inkOf(cells: Cells, cell: number): string {
    const entry = this.entries.get(`${cells.bits}/${cells.index}`);
    const value = entry?.colours?.[cell] ?? 0;
    let ink = this.inks.get(value);
    if (ink === undefined) {
      ink = inkOn(((value & 255) << 16) | (value & 0xff00) | ((value >> 16) & 255));
      if (this.inks.size > 2000) this.inks.clear();
      this.inks.set(value, ink);
    }
    return ink;
  }

  private trim(): void {
    if (this.images.size <= KEPT) return;
    const oldest = [...this.images.entries()].sort((a, b) => a[1].used - b[1].used);
    for (const [key] of oldest.slice(0, KEPT / 4)) this.images.delete(key);
  }
}

function keyOf(wish: Wish): string {
  return `${wish.level}/${wish.index}`;
}

function isFirst(all: readonly Wish[], wish: Wish, at: number): boolean {
  return all.findIndex((other) => other.level === wish.level && other.index === wish.index) === at;
}
