// Colours of the map. They can be told apart with any common form of colour blindness: names have the
// palette of Okabe and Ito, ages one that only grows darker (or lighter, on dark).

import type { Mark } from "./api";
import type { Theme } from "./theme";

/** Red, green and blue as one number, 0xRRGGBB. */
export type Rgb = number;

export const MARKS: readonly Mark[] = [
  "outside", "free", "freeStatic", "taken", "namedInDynamic", "spill", "reserved", "cooling", "twice", "excluded",
];

export const MARK_TEXT: Record<Mark, string> = {
  outside: "Outside of the range",
  free: "Free, dynamic band",
  freeStatic: "Free, static band",
  taken: "Taken",
  namedInDynamic: "Named in the dynamic band",
  spill: "Drawn from the static band",
  reserved: "Reserved",
  cooling: "Cooling down",
  twice: "Held twice",
  excluded: "Never given out",
};

const MARK_LIGHT: Record<Mark, Rgb> = {
  outside: 0xf6f7f9, free: 0xe6ebf1, freeStatic: 0xcbd8e8, taken: 0x0072b2, namedInDynamic: 0xe69f00,
  spill: 0xcc79a7, reserved: 0x009e73, cooling: 0x56b4e9, twice: 0xd55e00, excluded: 0xa9b2bd,
};
const MARK_DARK: Record<Mark, Rgb> = {
  outside: 0x0e1319, free: 0x1d2631, freeStatic: 0x30435a, taken: 0x3d9be0, namedInDynamic: 0xe69f00,
  spill: 0xd98cb8, reserved: 0x1fb98a, cooling: 0x8fd0f5, twice: 0xf0702a, excluded: 0x59636f,
};

export function markColour(mark: Mark, theme: Theme): Rgb {
  return (theme === "dark" ? MARK_DARK : MARK_LIGHT)[mark];
}

// Okabe and Ito, without black, and with the yellow darker on light so that it is seen on white.
const NAMES_LIGHT: readonly Rgb[] = [0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0xd55e00, 0x56b4e9, 0xc9b800, 0x4b4f9a];
const NAMES_DARK: readonly Rgb[] = [0x3d9be0, 0xe69f00, 0x1fb98a, 0xd98cb8, 0xf0702a, 0x8fd0f5, 0xf0e442, 0x9c9ff0];

/** How many names have a colour of their own; the others share OTHER. */
export const NAMED_COLOURS = NAMES_LIGHT.length;

export function nameColour(index: number, theme: Theme): Rgb {
  return (theme === "dark" ? NAMES_DARK : NAMES_LIGHT)[index] ?? otherColour(theme);
}

export function otherColour(theme: Theme): Rgb {
  return theme === "dark" ? 0x8793a1 : 0x7d8794;
}

/** Steps of age: the newest first, with the seconds that each ends at. */
export const AGES: readonly { text: string; below: number }[] = [
  { text: "Less than an hour", below: 3600 },
  { text: "Less than a day", below: 86400 },
  { text: "Less than a week", below: 604800 },
  { text: "Less than a month", below: 2629800 },
  { text: "Less than a year", below: 31557600 },
  { text: "Older", below: Infinity },
];

// Steps of viridis: new values stand out from the background, which is light or dark.
const AGES_LIGHT: readonly Rgb[] = [0x440154, 0x414487, 0x2a788e, 0x22a884, 0x7ad151, 0xc8c41c];
const AGES_DARK: readonly Rgb[] = [0xfde725, 0x7ad151, 0x22a884, 0x2a9aa8, 0x5a68c0, 0x7d4a94];

/** Returns which step of AGES a number of seconds is in. */
export function ageStep(seconds: number): number {
  const step = AGES.findIndex((age) => seconds < age.below);
  return step < 0 ? AGES.length - 1 : step;
}

export function ageColour(step: number, theme: Theme): Rgb {
  return (theme === "dark" ? AGES_DARK : AGES_LIGHT)[step] ?? otherColour(theme);
}

export type OriginName = "named" | "drawn" | "both" | "unknown";
export const ORIGINS: readonly OriginName[] = ["unknown", "named", "drawn", "both"];
export const ORIGIN_TEXT: Record<OriginName, string> = {
  named: "Named by a client", drawn: "Drawn by the allocator", both: "Some named, some drawn", unknown: "Origin not known",
};

export function originColour(origin: OriginName, theme: Theme): Rgb {
  const index = { named: 1, drawn: 0, both: 3, unknown: -1 }[origin];
  return nameColour(index, theme);
}

/** Mixes two colours: 0 is the first, 1 the second. */
export function mix(from: Rgb, to: Rgb, amount: number): Rgb {
  const part = (shift: number): number => {
    const a = (from >> shift) & 255;
    const b = (to >> shift) & 255;
    return Math.round(a + (b - a) * amount) << shift;
  };
  return part(16) | part(8) | part(0);
}

/** Returns the colour as the bytes of an ImageData in memory: red first, little-endian. */
export function pixel(colour: Rgb): number {
  return (0xff000000 | ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16)) >>> 0;
}

export function css(colour: Rgb): string {
  return "#" + colour.toString(16).padStart(6, "0");
}

/** Returns how strongly a cell shows that a share of its values is not free: never too faint to see. */
export function strength(share: number): number {
  return share <= 0 ? 0 : 0.3 + 0.7 * Math.min(1, share);
}

/** Returns black or white, whichever is easier to read on a colour. */
export function inkOn(colour: Rgb): string {
  const linear = (shift: number): number => {
    const part = ((colour >> shift) & 255) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  const light = 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0);
  return light > 0.18 ? "#0b1016" : "#ffffff";
}
