// Turns pointers, the wheel and keys into movements of the map.

import { isStill } from "../dom";
import type { MapCanvas } from "./canvas";

export interface InputHandlers {
  hover(x: number, y: number): void;
  leave(): void;
  open(offset: bigint): void;
  /** The cursor was moved by keys. */
  moved(offset: bigint): void;
  /** Returns true if a drag from this point moves the edge of a what-if range. */
  grabs(x: number, y: number): boolean;
  drag(x: number, y: number): void;
  released(): void;
}

const CLICK = 5; // pixels that a click may move

export class MapInput {
  private readonly points = new Map<number, { x: number; y: number }>();
  private travelled = 0;
  private grabbed = false;
  private glide = 0; // the animation under way
  private left = 0; // steps that it has not made yet
  private readonly listeners = new AbortController();

  constructor(private readonly map: MapCanvas, private readonly handlers: InputHandlers) {
    const { element } = map;
    const { signal } = this.listeners;
    const on = <K extends keyof HTMLElementEventMap>(
      name: K, handle: (event: HTMLElementEventMap[K]) => void, passive = true,
    ): void => element.addEventListener(name, handle, { signal, passive });
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.cancel(event));
    on("pointerleave", () => this.points.size === 0 && handlers.leave());
    on("dblclick", (event) => this.zoom(1.5, ...at(event)));
    on("wheel", (event) => this.wheel(event), false);
    on("keydown", (event) => this.key(event), false);
    on("focus", () => this.setFocus(element.matches(":focus-visible")));
    on("blur", () => this.setFocus(false));
  }

  close(): void {
    this.stop();
    this.listeners.abort();
  }

  private setFocus(focused: boolean): void {
    this.map.focused = focused;
    if (focused) this.map.cursor ??= this.visibleOffset();
    this.map.refresh();
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.stop();
    const [x, y] = at(event);
    this.map.element.setPointerCapture(event.pointerId);
    this.points.set(event.pointerId, { x, y });
    this.travelled = this.points.size > 1 ? CLICK + 1 : 0;
    this.grabbed = this.points.size === 1 && this.handlers.grabs(x, y);
  }

  private move(event: PointerEvent): void {
    const [x, y] = at(event);
    const before = this.points.get(event.pointerId);
    if (!before) return this.handlers.hover(x, y);
    this.travelled += Math.hypot(x - before.x, y - before.y);
    if (this.grabbed) {
      this.points.set(event.pointerId, { x, y });
      return this.handlers.drag(x, y);
    }
    if (this.points.size === 2) this.pinch(event.pointerId, x, y);
    else if (this.travelled > CLICK) {
      this.handlers.leave();
      this.map.projection.panBy(x - before.x, y - before.y);
      this.map.refresh();
    }
    this.points.set(event.pointerId, { x, y });
  }

  /** Zooms by how the distance of two fingers changes, and moves with their middle. */
  private pinch(id: number, x: number, y: number): void {
    const other = [...this.points].find(([key]) => key !== id)?.[1];
    const before = this.points.get(id);
    if (!other || !before) return;
    const distance = (px: number, py: number): number => Math.max(8, Math.hypot(px - other.x, py - other.y));
    const { projection } = this.map;
    projection.panBy((x - before.x) / 2, (y - before.y) / 2);
    projection.zoomAt(Math.log2(distance(x, y) / distance(before.x, before.y)), (x + other.x) / 2, (y + other.y) / 2);
    this.map.refresh();
  }

  private up(event: PointerEvent): void {
    if (!this.points.delete(event.pointerId)) return;
    if (this.grabbed) {
      this.grabbed = false;
      return this.handlers.released();
    }
    if (this.travelled > CLICK || this.points.size > 0) return;
    const offset = this.map.projection.offsetAt(...at(event));
    if (offset === null) return;
    this.map.cursor = offset;
    this.handlers.open(offset);
  }

  private cancel(event: PointerEvent): void {
    this.points.delete(event.pointerId);
    this.grabbed = false;
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    this.stop();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    const { projection } = this.map;
    // A pinch on a touchpad comes as a wheel with Ctrl and small steps.
    const speed = event.ctrlKey && Math.abs(dy) < 40 ? 0.02 : 0.005;
    if (!event.shiftKey) projection.zoomAt(-dy * speed, ...at(event));
    else if (projection.name === "rows") projection.panBy(0, -(dy || dx));
    else projection.panBy(-(dx || dy), 0);
    this.map.refresh();
  }

  /** Zooms smoothly around a point; without one, around the cursor if it is seen. */
  zoom(steps: number, x?: number, y?: number): void {
    const all = steps + this.stop();
    const { width, height } = this.map.size;
    const point = this.map.cursor !== null && this.map.focused ? this.map.projection.pointOf(this.map.cursor) : null;
    const seen = point && point.x > 0 && point.y > 0 && point.x < width && point.y < height;
    const px = x ?? (seen ? point.x : width / 2);
    const py = y ?? (seen ? point.y : height / 2);
    if (isStill() || this.map.projection.name === "rows") {
      this.map.projection.zoomAt(all, px, py);
      return this.map.refresh();
    }
    const begin = performance.now();
    let done = 0;
    this.left = all;
    const frame = (now: number): void => {
      const part = Math.min(1, Math.max(0, (now - begin) / 180));
      const eased = 1 - (1 - part) ** 3;
      this.map.projection.zoomAt(all * (eased - done), px, py);
      done = eased;
      this.left = all * (1 - done);
      this.map.refresh();
      if (part < 1) this.glide = requestAnimationFrame(frame);
      else if (seen && this.map.cursor !== null) this.reveal(this.map.cursor);
    };
    this.glide = requestAnimationFrame(frame);
  }

  /** Ends the glide. Returns the steps that it has not made, for a zoom that follows quickly. */
  private stop(): number {
    cancelAnimationFrame(this.glide);
    const { left } = this;
    this.left = 0;
    return left;
  }

  fit(): void {
    this.stop();
    this.map.projection.fit();
    this.map.refresh();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!this.act(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  private act(event: KeyboardEvent): boolean {
    const arrow = ARROWS[event.key];
    if (arrow && event.shiftKey) return this.pan(-120 * arrow[0], -120 * arrow[1]);
    if (arrow) return this.moveCursor((offset) => this.map.projection.step(offset, arrow[0], arrow[1]));
    const { height } = this.map.size;
    switch (event.key) {
      case "+": case "=": this.zoom(1); return true;
      case "-": case "_": this.zoom(-1); return true;
      case "0": this.fit(); return true;
      case "PageDown": return this.pan(0, -0.8 * height);
      case "PageUp": return this.pan(0, 0.8 * height);
      case "Home": return this.moveCursor(() => 0n);
      case "End": return this.moveCursor(() => {
        const { level } = this.map.projection;
        return ((BigInt(this.map.detail.size) - 1n) >> BigInt(level)) << BigInt(level);
      });
      case "Enter": case " ":
        if (this.map.cursor !== null) this.handlers.open(this.aligned(this.map.cursor));
        return true;
      default: return false;
    }
  }

  private pan(dx: number, dy: number): boolean {
    this.map.projection.panBy(dx, dy);
    this.map.refresh();
    return true;
  }

  private moveCursor(next: (offset: bigint) => bigint): boolean {
    const from = this.map.cursor === null ? this.visibleOffset() : this.aligned(this.map.cursor);
    this.map.focused = true;
    const offset = next(from);
    this.map.cursor = offset;
    this.reveal(offset);
    this.handlers.moved(offset);
    this.map.refresh();
    return true;
  }

  private aligned(offset: bigint): bigint {
    const level = BigInt(this.map.projection.level);
    return (offset >> level) << level;
  }

  private visibleOffset(): bigint {
    const { width, height } = this.map.size;
    const middle = this.map.projection.offsetAt(width / 2, height / 2) ?? 0n;
    return this.map.projection.whole ? 0n : middle;
  }

  /** Moves the map so that a value is on the screen, with some room around it. */
  private reveal(offset: bigint): void {
    const { projection, size } = this.map;
    const { x, y, w, h } = projection.rectOf(offset);
    const room = 24;
    const need = (at: number, length: number, all: number): number =>
      at < room ? room - at : at + length > all - room ? all - room - at - length : 0;
    const [dx, dy] = [need(x, w, size.width), need(y, h, size.height)];
    if (projection.whole && Math.hypot(dx, dy) < 40) return;
    if (dx !== 0 || dy !== 0) projection.panBy(projection.name === "rows" ? 0 : dx, dy);
  }
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
};

function at(event: MouseEvent): [number, number] {
  return [event.offsetX, event.offsetY];
}
