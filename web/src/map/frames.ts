// Records how long the script works for each frame of the map. Tests and curious readers find it as
// window.berthFrames.

export interface Frames {
  /** Milliseconds of the last frames, the oldest first. */
  times: number[];
  count: number;
  percentile(part: number): number;
  /** Bytes of JavaScript objects, or null if the browser does not say. */
  heap(): number | null;
  reset(): void;
}

declare global {
  interface Window {
    berthFrames: Frames;
  }
}

const KEPT = 1000;

export const frames: Frames = {
  times: [],
  count: 0,
  percentile(part) {
    const sorted = [...this.times].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
  },
  heap() {
    const memory = (performance as { memory?: { usedJSHeapSize: number } }).memory;
    return memory ? memory.usedJSHeapSize : null;
  },
  reset() {
    this.times = [];
    this.count = 0;
  },
};

window.berthFrames = frames;

export function recordFrame(milliseconds: number): void {
  frames.count++;
  frames.times.push(milliseconds);
  if (frames.times.length > KEPT) frames.times.splice(0, KEPT / 10);
}
