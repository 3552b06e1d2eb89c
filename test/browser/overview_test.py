#!/usr/bin/env python3
"""The overview: a card for each range, what needs attention, and who holds most."""

import re

from browser_case import BrowserCase, main
from clusters import create, ip_range, send
from map_page import MapOf


def overview(page):
    """Returns what the server says."""
    return page.evaluate("fetch('/ui/v1/overview').then((answer) => answer.json())")


def card_of(page, text):
    """Returns the card of a range."""
    cards = page.find("list", "Ranges")
    return [each for each in page.all("listitem", within=cards) if text in each.text][0]


class OverviewTest(BrowserCase):
    def test_a_card_for_each_range(self):
        page = self.open_filled()
        known = overview(page)
        self.assertEqual({each["range"] for each in known["ranges"]},
                         {"10.96.0.0/12", "10.61.0.0/24", "30000-32767"})
        for each in known["ranges"]:
            card = card_of(page, each["range"])
            text = card.text
            self.assertIn(each["name"], text)
            used = int(each["usable"]) - int(each["free"])
            self.assertIn(f"{used:,} of {int(each['usable']):,} not free", text)
            for band in ("staticBand", "dynamicBand"):
                self.assertIn(f"{int(each[band]['free']):,} free", text)
            names = [node.name for node in page.all("img", within=card)]
            self.assertTrue(any(name.startswith("Static band") for name in names), names)
            self.assertTrue(any(name.startswith("Dynamic band") for name in names), names)
        page.see(f"{known['serviceCount']} Services in {known['namespaceCount']} namespaces")
        page.see(re.escape(known["source"].removeprefix("https://")[:16]))
        self.shot(page, "overview")

    def test_all_numbers_are_those_of_the_server(self):
        page = self.open_filled()
        blue = next(each for each in overview(page)["ranges"] if each["range"] == "10.61.0.0/24")
        card = card_of(page, "10.61.0.0/24")
        summary = [each for each in page.all(within=card) if each.name == "All numbers"][0]
        summary.click()
        page.find("table", re.compile("^Numbers of blue"))
        rows = card.run("function() { return Object.fromEntries([...this.querySelectorAll('.numbers tbody tr')]"
                        ".map((row) => [row.firstChild.textContent, [...row.children].slice(1)"
                        ".map((each) => each.textContent)])) }")
        for name, key in (("Usable", "usable"), ("Taken", "taken"), ("Free", "free")):
            self.assertEqual(rows[name], [blue["staticBand"][key], blue["dynamicBand"][key], blue[key]])
        # A /24 has 254 usable addresses, of which 64 are excluded.
        self.assertEqual(rows["Usable"][2], "190")
        self.assertEqual(rows["Taken"][2], "1")

    def test_cards_lead_to_maps(self):
        page = self.open_filled()
        page.click("link", "Open the map", within=card_of(page, "10.61.0.0/24"))
        MapOf(page, r"^Map of blue 10\.61\.0\.0/24")
        page.click("link", "Overview")
        page.click("link", "blue", within=card_of(page, "10.61.0.0/24"))
        MapOf(page, r"^Map of blue 10\.61\.0\.0/24")

    def test_namespaces_that_hold_most(self):
        page = self.open_filled()
        table = page.find("heading", "Namespaces that hold most")
        self.assertTrue(table)
        rows = page.evaluate("""[...document.querySelectorAll("[aria-labelledby=holders-title] tbody tr")]
            .map((row) => [...row.children].map((each) => each.textContent))""")
        known = overview(page)["namespaces"]
        self.assertEqual(rows, [[each["namespace"], *(str(each[key]) for key in (
            "services", "addresses", "ports"))] for each in known])
        self.assertIn(["team-0", "10", "10", "0"], rows)
        page.click("link", "team-0")
        MapOf(page)
        self.assertRegex(page.find("searchbox", "Filter").value, "team-0")

    def test_what_needs_attention_comes_first(self):
        server = self.server(*self.FLAGS)
        self.server_ = server
        send(server, [("POST", "/api/v1/namespaces", {"metadata": {"name": "shop"}}),
                      ip_range("tiny", "10.62.0.0/28")])
        blue = {"allocation.berth.io/ip-range": "tiny"}
        send(server, [create("shop", f"web-{i}", annotations=blue) for i in range(14)])
        page = self.open(self.ui_of(server))
        known = overview(page)
        self.assertEqual(known["ranges"][0]["range"], "10.62.0.0/28")
        page.find("heading", "Needs attention")
        first = page.evaluate("document.querySelector('.attention li').innerText")
        self.assertIn(known["attention"][0]["advice"][:20].lower(), first.lower())
        order = page.evaluate("[...document.querySelectorAll('.cards .card-range .value')]"
                              ".map((each) => each.textContent)")
        self.assertEqual(order, [each["range"] for each in known["ranges"]])
        self.shot(page, "overview-attention")

    def test_nothing_jumps_while_it_loads(self):
        self.ui_ = self.ui_of(self.server(*self.FLAGS))
        page = self.open(self.ui_)
        page.call("Page.addScriptToEvaluateOnNewDocument", {"source": """
            window.shift = 0, window.shifted = [];
            new PerformanceObserver((list) => {
              for (const each of list.getEntries()) {
                window.shift += each.value;
                for (const { node } of each.sources) window.shifted.push(node?.className || String(node?.nodeName));
              }
            }).observe({ type: "layout-shift", buffered: true });"""})
        for path in ("#/", "#/map", "#/map?at=10.96.0.1&value=10.96.0.1", "#/findings"):
            page.go("about:blank")
            page.go(self.ui_.origin + "/" + path)
            page.until("document.querySelector('#starting').hidden")
            if "map" in path:
                MapOf(page)
            self.assertLess(page.evaluate("window.shift"), 0.1,
                            (path, page.evaluate("window.shifted")))


if __name__ == "__main__":
    main()
