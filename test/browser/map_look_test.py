#!/usr/bin/env python3
"""What the map shows: colours and their legend, who is under the pointer, node ports, an IPv6 /64, and
the table that has the same values."""

import re

from browser_case import BrowserCase, main
from clusters import address_of, create, ip_range, namespace, reservation, send
from map_page import MapOf, number

SWATCHES = """Object.fromEntries([...document.querySelectorAll(".legend li")].map((each) => [
    each.querySelector("span:not(.swatch)").textContent,
    getComputedStyle(each.querySelector(".swatch")).backgroundColor.match(/\\d+/g).map(Number)]))"""


class LookTest(BrowserCase):
    def open_range(self, text):
        """Opens the map of a range, which is chosen from the list."""
        page = self.open_filled("#/map")
        page.find("combobox", "Range").choose(re.compile(re.escape(text)))
        shown = MapOf(page, "^Map of .*" + re.escape(text))
        return page, shown

    def corner(self, shown, value):
        """Returns a point of the cell of a value that no text covers: near its lower right corner."""
        _, _, right, bottom = shown.box_of(value)
        return right - 4, bottom - 4

    def colour_of(self, shown, value):
        return shown.colour(*self.corner(shown, value))

    def test_colours_are_those_of_the_legend(self):
        page, shown = self.open_range("10.61.0.0/24")
        painted = address_of(self.server_, "pay/painted")
        free = next(text for text in ("10.61.0.200", "10.61.0.201") if text != painted)
        for theme in ("light", "dark"):
            page.prefer(color_scheme=theme)
            page.until(f"document.documentElement.dataset.theme === {theme!r}")
            swatches = page.evaluate(SWATCHES)
            for value, name in ((painted, "Taken"), (free, "Free, dynamic band"),
                                ("10.61.0.70", "Never given out"), ("10.61.0.2", "Free, static band")):
                near = self.colour_of(shown, value)
                self.assertLess(max(abs(a - b) for a, b in zip(near, swatches[name])), 12,
                                (theme, value, name, near, swatches))
            self.assertEqual(len({tuple(each) for each in swatches.values()}), len(swatches), swatches)
            self.shot(page, f"map-blue-{theme}")
        text = page.find("list", "Legend").text
        self.assertRegex(text, r"Taken\s+1\b")
        self.assertRegex(text, r"Never given out\s+6\d")

    def test_colours_by_namespace_type_age_and_origin(self):
        page, shown = self.open_range("10.61.0.0/24")
        painted = address_of(self.server_, "pay/painted")
        for choice, name in (("Namespace", "pay"), ("Type of Service", "ClusterIP"),
                             ("Age", "Less than an hour"), ("Named or drawn", "Drawn by the allocator")):
            page.find("combobox", "Colour by").choose(choice)
            page.until(f"[...document.querySelectorAll('.legend li')].some((each) => "
                       f"each.textContent.startsWith({name!r}))")
            shown.rest()
            swatches = page.evaluate(SWATCHES)
            near = self.colour_of(shown, painted)
            self.assertLess(max(abs(a - b) for a, b in zip(near, swatches[name])), 12,
                            (choice, near, swatches))
        # What is coloured is part of the address.
        self.assertIn("colour=origin", page.url)

    def test_reserved_cooling_and_shared_values(self):
        server = self.server(*self.FLAGS)
        blue = {"allocation.berth.io/ip-range": "blue"}
        send(server, [
            namespace("pay"), ip_range("blue", "10.61.0.0/24", coolDownSeconds=600),
            ip_range("red", "10.61.0.128/25"),
            reservation("10.61.0.9", "pay", "later", ipRangeRef={"name": "blue"}),
            create("pay", "gone", "10.61.0.40", annotations=blue),
            ("DELETE", "/api/v1/namespaces/pay/services/gone", None)])
        page = self.open(self.ui_of(server), "#/map")
        page.find("combobox", "Range").choose(re.compile(r"10\.61\.0\.0/24"))
        shown = MapOf(page, r"^Map of .*10\.61\.0\.0/24")
        page.see(r"Cooling down\s+1")
        swatches = page.evaluate(SWATCHES)
        for value, name in (("10.61.0.9", "Reserved"), ("10.61.0.40", "Cooling down")):
            self.assertIn(name, " ".join(shown.loaded(*shown.find(value))[2]))
            near = self.colour_of(shown, value)
            self.assertLess(max(abs(a - b) for a, b in zip(near, swatches[name])), 12,
                            (value, name, near, swatches))
        self.assertRegex(" ".join(shown.loaded(*shown.find("10.61.0.200"))[2]), "also in .*red")
        self.assertNotIn("red", " ".join(shown.loaded(*shown.find("10.61.0.100"))[2]))
        self.shot(page, "map-overlap")

    def test_the_pointer_names_the_owner_and_a_click_opens_it(self):
        page, shown = self.open_range("10.61.0.0/24")
        painted = address_of(self.server_, "pay/painted")
        x, y = shown.find(painted)
        seen = shown.loaded(x, y)
        self.assertEqual((seen[0], seen[2][0]), (number(painted), "pay/painted"))
        self.assertRegex(" ".join(seen[2]), "drawn by the allocator")
        page.until(f"document.querySelector('.pointed').textContent.includes('pay/painted')")
        shown.click(x, y)
        page.find("heading", painted)
        page.see("pay/painted")
        self.assertIn(f"value={painted}", page.url)
        # The pointer leaves, and nothing stays.
        page.move(3, 3)
        page.until("document.querySelector('.tip').hidden")

    def test_a_click_on_many_values_lists_them(self):
        page = self.open_filled("#/map")
        shown = MapOf(page)
        x, y = shown.find("10.96.0.10")
        first, last, _ = shown.loaded(x, y)
        self.assertLess(first, last)
        shown.click(x, y)
        page.see("Part")
        page.find("link", "10.96.0.10")
        page.find("link", "shop/web")
        page.click("button", "Zoom to it")
        page.until("/part=/.test(location.hash)")
        shown.rest()
        page.until("/[?&]z=/.test(location.hash)")
        page.click("link", "shop/web")
        page.find("heading", "shop/web")

    def test_node_ports(self):
        page, shown = self.open_range("30000-32767")
        self.shot(page, "map-node-ports")
        x, y = shown.find("30009")
        self.assertEqual(shown.loaded(x, y)[2][0], "pay/till")
        self.go(page, "#/map/" + page.url.split("/map/")[1].split("?")[0] + "?at=31234&value=31234")
        page.find("heading", "31234")
        shown.rest()
        seen = shown.loaded(*shown.middle())
        self.assertEqual((seen[0], seen[2][0]), (31234, "shop/edge"))
        page.see("shop/edge")

    def test_the_table_has_what_the_server_has(self):
        page = self.open_filled("#/map")
        MapOf(page)
        page.click("button", "Table")
        page.find("table", re.compile("Values in use"))
        page.until("/table=1/.test(location.hash)")
        page.see(r"1 to \d+ of \d+ values")
        key = page.evaluate("fetch('/ui/v1/overview').then((answer) => answer.json()).then((all) => "
                            "all.ranges.find((each) => each.range === '10.96.0.0/12').key)")
        rows = page.evaluate(f"fetch('/ui/v1/table?range=' + encodeURIComponent({key!r}))"
                             ".then((answer) => answer.json())")
        shown = page.evaluate("[...document.querySelectorAll('.table-view tbody tr')].map((row) => "
                              "[...row.children].map((each) => each.textContent).slice(0, 6))")
        self.assertEqual(len(shown), rows["total"])
        self.assertGreater(rows["total"], 40)
        for got, row in zip(shown, rows["rows"]):
            self.assertEqual(got, [row["value"], row["service"] or "", row["state"], row["type"] or "",
                                   row["origin"].replace("unknown", ""), row["band"] or ""])
        # And the server has what the API server has.
        held = {each["spec"]["clusterIP"]: f"{each['metadata']['namespace']}/{each['metadata']['name']}"
                for each in self.server_.call("GET", "/api/v1/services").json["items"]}
        listed = {row["value"]: row["service"] for row in rows["rows"] if row["state"] == "taken"}
        self.assertEqual({value: name for value, name in held.items() if value.startswith("10.9")
                          or not value.startswith("10.61")}, listed)
        self.shot(page, "map-table")
        page.press("t")
        page.until("!/table=1/.test(location.hash)")

    def test_pages_of_the_table(self):
        server = self.server(*self.FLAGS)
        send(server, [namespace("many"), *(create("many", f"web-{i:03}") for i in range(230))])
        page = self.open(self.ui_of(server), "#/map?table=1")
        page.see(r"1 to 200 of 231 values")
        first = page.evaluate("document.querySelector('.table-view tbody tr').textContent")
        page.click("button", "Next")
        page.see(r"201 to 231 of 231 values")
        self.assertNotEqual(page.evaluate("document.querySelector('.table-view tbody tr').textContent"), first)
        self.assertTrue(page.find("button", "Next").properties.get("disabled"))
        page.click("button", "Previous")
        page.see(r"1 to 200 of 231 values")


class SixTest(BrowserCase):
    FLAGS = ("--service-cluster-ip-range", "fd00:10:96::/64")
    HELD = "fd00:10:96:0:a:b:c:d"

    def test_a_64_down_to_one_address(self):
        server = self.server(*self.FLAGS)
        send(server, [namespace("shop"), create("shop", "far", self.HELD),
                      *(create("shop", f"drawn-{i}") for i in range(30))])
        page = self.open(self.ui_of(server), "#/map")
        shown = MapOf(page)
        self.shot(page, "map-64-whole")
        page.see("fd00:10:96::/64")
        (x, y), seen = shown.zoom_to(self.HELD, lambda px, py: shown.wheel(px, py, -800))
        self.assertIn("shop/far", shown.loaded(x, y)[2])
        self.assertGreater(len(seen), 6)
        self.shot(page, "map-64-one-address")
        shown.click(x, y)
        page.find("heading", self.HELD)
        # A count that no double holds is written as one that people can read.
        page.see(r"1\.84 × 10¹⁹|18,446,744,073,709,551,6")


if __name__ == "__main__":
    main()
