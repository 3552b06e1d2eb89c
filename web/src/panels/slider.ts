// A track with one or two handles that can be dragged and moved by keys.

import { h } from "../dom";

export interface Handle {
  label: string;
  min: number;
  max: number;
  value: number;
  text: string;
  big: number; // what Page up and Page down move by
}

export class Slider {
  readonly element = h("div", { class: "slider" });
  private readonly track = h("div", { class: "slider-track" });
  private readonly ticks = h("div", { class: "slider-ticks", "aria-hidden": "true" });
  private readonly filled = h("span", { class: "slider-fill" });
  private readonly handles: HTMLElement[] = [];
  private state: Handle[] = [];

  /** The listener is told which handle moves to which value. */
  constructor(count: number, private readonly moved: (handle: number, value: number) => void) {
    this.track.append(this.filled);
    for (let i = 0; i < count; i++) {
      const handle = h("div", { class: "slider-handle", role: "slider", tabindex: 0, "data-focus": `edge ${i}` });
      handle.addEventListener("keydown", (event) => this.key(event, i));
      handle.addEventListener("pointerdown", (event) => this.grab(event, i));
      this.handles.push(handle);
      this.track.append(handle);
    }
    this.element.append(this.track, this.ticks);
  }

  show(handles: Handle[], from: number | null, ticks: [number, string][]): void {
    this.state = handles;
    handles.forEach((handle, i) => this.showHandle(handle, i));
    const [first] = handles;
    if (!first) return;
    const ends = handles.map((handle) => this.part(handle.value, handle));
    const begin = from === null ? ends[0] ?? 0 : this.part(from, first);
    const end = ends[ends.length - 1] ?? 0;
    this.filled.style.left = `${100 * Math.min(begin, end)}%`;
    this.filled.style.width = `${100 * Math.abs(end - begin)}%`;
    this.ticks.textContent = "";
    for (const [value, text] of ticks) {
      const tick = h("span", {}, text);
      tick.style.left = `${100 * this.part(value, first)}%`;
      this.ticks.append(tick);
    }
  }

  private showHandle(handle: Handle, i: number): void {
    const element = this.handles[i];
    if (!element) return;
    element.style.left = `${100 * this.part(handle.value, handle)}%`;
    element.setAttribute("aria-label", handle.label);
    element.setAttribute("aria-valuemin", String(handle.min));
    element.setAttribute("aria-valuemax", String(handle.max));
    element.setAttribute("aria-valuenow", String(handle.value));
    element.setAttribute("aria-valuetext", handle.text);
  }

  private part(value: number, { min, max }: Handle): number {
    return max > min ? Math.max(0, Math.min(1, (value - min) / (max - min))) : 0;
  }

  private set(i: number, value: number): void {
    const handle = this.state[i];
    if (!handle) return;
    const next = Math.round(Math.max(handle.min, Math.min(handle.max, value)));
    if (next !== handle.value) this.moved(i, next);
  }

  private key(event: KeyboardEvent, i: number): void {
    const handle = this.state[i];
    if (!handle || event.ctrlKey || event.metaKey || event.altKey) return;
    const by: Record<string, number> = {
      ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: handle.big, PageDown: -handle.big,
      Home: handle.min - handle.value, End: handle.max - handle.value,
    };
    const step = by[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.set(i, handle.value + step);
  }

  private grab(event: PointerEvent, i: number): void {
    const element = this.handles[i];
    const handle = this.state[i];
    if (!element || !handle || event.button !== 0) return;
    event.preventDefault();
    element.focus();
    element.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent): void => {
      const { left, width } = this.track.getBoundingClientRect();
      this.set(i, handle.min + ((moved.clientX - left) / width) * (handle.max - handle.min));
    };
    const stop = new AbortController();
    element.addEventListener("pointermove", move, { signal: stop.signal });
    for (const end of ["pointerup", "pointercancel"] as const) {
      element.addEventListener(end, () => stop.abort(), { signal: stop.signal });
    }
  }
}
