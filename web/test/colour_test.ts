import { ageStep, AGES, css, inkOn, MARKS, markColour, mix, NAMED_COLOURS, nameColour, pixel, strength } from "../src/colour";
import { equal, test } from "./check";

const contrast = (a: number, b: number): number => {
  const light = (colour: number): number => {
    const linear = [16, 8, 0].map((shift) => {
      const part = ((colour >> shift) & 255) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
  };
  const [high, low] = [Math.max(light(a), light(b)), Math.min(light(a), light(b))];
  return (high + 0.05) / (low + 0.05);
};

test("a mixture is between its colours", () => {
  equal(mix(0x000000, 0xffffff, 0), 0x000000);
  equal(mix(0x000000, 0xffffff, 1), 0xffffff);
  equal(mix(0x102030, 0x304050, 0.5), 0x203040);
});

test("a pixel has red first", () => {
  equal(pixel(0x112233).toString(16), "ff332211");
  equal(css(0x00ff01), "#00ff01");
});

test("ages have steps", () => {
  equal([0, 3599, 3600, 86400 * 400].map(ageStep), [0, 0, 1, 5]);
  equal(ageStep(Infinity), AGES.length - 1);
});

test("one value in a cell of many is seen", () => {
  equal(strength(0), 0);
  equal(strength(1 / 65536) > 0.29, true);
  equal(strength(2), 1);
});

test("text can be read on every colour", () => {
  for (const theme of ["light", "dark"] as const) {
    const colours = [...MARKS.map((mark) => markColour(mark, theme)),
      ...Array.from({ length: NAMED_COLOURS }, (_, i) => nameColour(i, theme))];
    for (const colour of colours) {
      const ink = inkOn(colour) === "#ffffff" ? 0xffffff : 0x0b1016;
      equal(contrast(colour, ink) >= 4.5, true);
    }
  }
});
