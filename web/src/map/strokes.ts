// Lines and tags on the map, and the colours that they have in a theme.

import type { Theme } from "../theme";
import type { Rect } from "./outline";

export interface Inks {
  ground: string;
  text: string;
  muted: string;
  border: string;
  band: string;
  overlap: string;
  accent: string;
  flash: string;
  tag: string;
  mono: string;
  small: string;
}

const FONTS = {
  mono: "11px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  small: "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif",
};

const LIGHT: Inks = {
  ground: "#f6f7f9", text: "#141b24", muted: "#5a6572", border: "#8d98a5", band: "#35557c",
  overlap: "#7a3d68", accent: "#0b57a4", flash: "#d55e00", tag: "#ffffff", ...FONTS,
};
const DARK: Inks = {
  ground: "#0e1319", text: "#eef2f6", muted: "#9aa7b5", border: "#59636f", band: "#9dc0e8",
  overlap: "#e6a8cf", accent: "#7fc1ff", flash: "#ffb000", tag: "#18202a", ...FONTS,
};

export function inksOf(theme: Theme): Inks {
  return theme === "dark" ? DARK : LIGHT;
}

export function drawOutline(
  context: CanvasRenderingContext2D, lines: readonly number[], colour: string, width: number, dash: number[] = [],
): void {
  if (lines.length === 0) return;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.lineCap = "square";
  context.setLineDash(dash);
  context.beginPath();
  for (let i = 0; i < lines.length; i += 4) {
    context.moveTo(lines[i] ?? 0, lines[i + 1] ?? 0);
    context.lineTo(lines[i + 2] ?? 0, lines[i + 3] ?? 0);
  }
  context.stroke();
  context.setLineDash([]);
}

/** Writes what an outline is, inside of its upper left corner, if there is room. */
export function drawTag(
  context: CanvasRenderingContext2D, lines: readonly number[], text: string, inks: Inks,
  size: { width: number; height: number },
): void {
  const box = boundsOf(lines);
  if (!box || Math.max(box.w, box.h) < 24) return;
  context.font = inks.small;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const width = context.measureText(text).width + 10;
  const x = Math.max(2, Math.min(box.x + 2, size.width - width - 2));
  const y = Math.max(24, Math.min(box.y - 9, size.height - 22));
  if (x > box.x + box.w + 60 || y > box.y + box.h + 20) return;
  context.fillStyle = inks.tag;
  context.globalAlpha = 0.88;
  context.fillRect(x, y, width, 18);
  context.globalAlpha = 1;
  context.fillStyle = inks.text;
  context.fillText(text, x + 5, y + 9.5);
}

function boundsOf(lines: readonly number[]): Rect | null {
  if (lines.length === 0) return null;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < lines.length; i += 2) {
    left = Math.min(left, lines[i] ?? 0);
    right = Math.max(right, lines[i] ?? 0);
    top = Math.min(top, lines[i + 1] ?? 0);
    bottom = Math.max(bottom, lines[i + 1] ?? 0);
  }
  return { x: left, y: top, w: right - left, h: bottom - top };
}
