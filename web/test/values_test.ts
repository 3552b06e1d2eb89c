import { formatCount, formatPercent, formatValue, parseValue, plural, share } from "../src/values";
import { equal, test } from "./check";

test("values are read and printed", () => {
  for (const text of ["10.96.0.10", "0.0.0.0", "255.255.255.255", "fd00::a", "::", "::1", "30080",
    "fd00:10:96::", "1:2:3:4:5:6:7:8", "2001:db8::1:0:0:1"]) {
    const read = parseValue(text);
    equal(read === null ? null : formatValue(read.pool, read.number), text);
  }
});

test("the longest run of zeros is left out, and only one", () => {
  equal(formatValue("IPv6", 0x20010db8000000000001000000000001n), "2001:db8::1:0:0:1");
  equal(formatValue("IPv6", 0x00010000000200030004000500060007n), "1:0:2:3:4:5:6:7");
});

test("what is no value is refused", () => {
  for (const text of ["", "10.96.0", "10.96.0.256", "65536", "shop/web", "1::2::3", "fd00:::1", "12345:",
    "1:2:3:4:5:6:7:8:9", "g::", "1.2.3.4.5"]) {
    equal(parseValue(text), null);
  }
});

test("counts are grouped, and very large ones are powers of ten", () => {
  equal(formatCount("65534"), "65,534");
  equal(formatCount(7), "7");
  equal(formatCount("18446744073709551616"), "1.84 × 10¹⁹");
  equal(plural(1, "Service"), "1 Service");
  equal(plural("1200", "address", "addresses"), "1,200 addresses");
});

test("percentages never lie at their ends", () => {
  equal([0, 0.001, 50, 99.97, 100].map(formatPercent), ["0.0%", "<0.1%", "50.0%", "99.9%", "100.0%"]);
});

test("shares are between 0 and 1", () => {
  equal(share("1", "0"), 0);
  equal(share("9223372036854775808", "18446744073709551616"), 0.5);
});
