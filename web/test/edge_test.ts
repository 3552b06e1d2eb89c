import { formatInterval, parseInterval, withEnd, withPrefix, withStart } from "../src/panels/edge";
import { parseValue } from "../src/values";
import { equal, test } from "./check";

const read = (text: string) => {
  const interval = parseInterval(text);
  if (!interval) throw new Error(`${text} is not read`);
  return interval;
};
const at = (text: string): bigint => parseValue(text)?.number ?? 0n;

test("ranges are read and printed", () => {
  for (const text of ["10.96.0.0/16", "fd00::/64", "30000-32767", "0.0.0.0/0", "10.0.0.1/32"]) {
    equal(formatInterval(read(text)), text);
  }
  equal(formatInterval(read(" 10.96.7.9/16 ")), "10.96.0.0/16");
});

test("what is no range is refused", () => {
  for (const text of ["", "10.96.0.0", "10.96.0.0/33", "30000", "32767-30000", "30000/16", "a-b", "1-2-3", "::/129",
    "10.0.0.0/x", "10.0.0.0-10.0.0.9"]) {
    equal(parseInterval(text), null);
  }
});

test("a dragged end gives the nearest CIDR", () => {
  const range = read("10.96.0.0/16");
  equal(formatInterval(withEnd(range, at("10.96.127.255"))), "10.96.0.0/17");
  equal(formatInterval(withEnd(range, at("10.96.100.0"))), "10.96.0.0/17");
  equal(formatInterval(withEnd(range, at("10.96.90.0"))), "10.96.0.0/18");
  equal(formatInterval(withEnd(range, at("10.95.0.0"))), "10.96.0.0/32");
});

test("a larger block may begin earlier", () => {
  equal(formatInterval(withPrefix(read("10.97.0.0/16"), 15)), "10.96.0.0/15");
  equal(formatInterval(withPrefix(read("fd00::/64"), 200)), "fd00::/128");
  equal(formatInterval(withPrefix(read("10.96.0.0/16"), -3)), "0.0.0.0/0");
});

test("ports have two free ends", () => {
  const ports = read("30000-32767");
  equal(formatInterval(withEnd(ports, 31000n)), "30000-31000");
  equal(formatInterval(withEnd(ports, 99999n)), "30000-65535");
  equal(formatInterval(withEnd(ports, 5n)), "30000-30000");
  equal(formatInterval(withStart(ports, 40000n)), "32767-32767");
  equal(formatInterval(withStart(ports, -4n)), "0-32767");
});
