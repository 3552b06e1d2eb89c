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
  large: string;
}

const FONTS = {
  mono: "11px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  small: "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif",
  large: "13px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif",
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

export interface Tag {
  lines: readonly number[];
  text: string;
}

/**
 * Writes what outlines are, above their upper left corners, as far as there is room. Tags do not cover
 * each other. In the first 22 pixels they keep clear of what is written at the left of them.
 */
export function drawTags(
  context: CanvasRenderingContext2D, tags: readonly Tag[], inks: Inks, size: { width: number; height: number },
  indent: number,
): void {
  context.font = inks.small;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const taken: Rect[] = [];
  for (const { lines, text } of tags) {
    const box = boundsOf(lines);
    if (!box || Math.max(box.w, box.h) < 24) continue;
    const w = context.measureText(text).width + 10;
    const y = Math.max(2, Math.min(box.y - 20, size.height - 22));
    const left = box.x + (y < 22 ? indent : 0);
    const rect = { x: Math.max(2 + (y < 22 ? indent : 0), Math.min(left, size.width - w - 2)), y, w, h: 18 };
    while (taken.some((other) => meets(rect, other))) rect.y += 19;
    if (rect.y > box.y + box.h || rect.y > size.height - 18) continue;
    taken.push(rect);
    context.fillStyle = inks.tag;
    context.globalAlpha = 0.9;
    context.fillRect(rect.x, rect.y, rect.w, rect.h);
    context.globalAlpha = 1;
    context.fillStyle = inks.text;
    context.fillText(text, rect.x + 5, rect.y + 9.5);
  }
}

function meets(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
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
