import { emptyRoute, formatRoute, parseRoute, withPanel } from "../src/route";
import { equal, test } from "./check";

test("a route survives the address bar", () => {
  const route = {
    ...emptyRoute(), page: "map" as const, range: "ServiceCIDR/kubernetes 0", at: "fd00::a", zoom: -3.25,
    layout: "rows" as const, colour: "age" as const, find: "app=web & more", table: true,
    ...withPanel({ value: "fd00::a" }),
  };
  equal(parseRoute(formatRoute(route)), route);
});

test("each panel survives", () => {
  for (const panel of [{ value: "30080" }, { service: "shop/web" }, { whatIf: "10.96.0.0/20" }, { whatIf: "" }]) {
    const route = { ...emptyRoute(), ...withPanel(panel) };
    equal(parseRoute(formatRoute(route)), route);
  }
  const part = { ...emptyRoute(), page: "map" as const, range: "a", ...withPanel({ part: ["::1", "::f"] }) };
  equal(parseRoute(formatRoute(part)), part);
});

test("the overview has a short address", () => equal(formatRoute(emptyRoute()), "#/"));

test("nonsense is the overview, and never fails", () => {
  for (const hash of ["", "#", "#/", "#/nothing", "#/map/%E0%A4%A?z=abc&layout=x&colour=y", "#//?part=a"]) {
    parseRoute(hash);
  }
  equal(parseRoute("#/nothing"), emptyRoute());
  equal(parseRoute("#/map/a?z=5").zoom, null);
  equal(parseRoute("#/map/a?at=10.0.0.1&z=1e9").zoom, 256);
});
