#!/usr/bin/env python3
"""The address bar holds the view: a link can be sent, and back and forward work."""

import re

from browser_case import BrowserCase, main
from map_page import MapOf, number


class AddressTest(BrowserCase):
    def test_a_link_shows_the_same_in_another_tab(self):
        page = self.open_filled("#/map")
        shown = MapOf(page)
        page.find("combobox", "Colour by").choose("Namespace")
        page.find("searchbox", "Filter").fill("shop/")
        shown.wheel(shown.width * 0.3, shown.height * 0.6, -900)
        page.until("/z=/.test(location.hash) && /find=/.test(location.hash)")
        shown.rest()
        point = shown.width * 0.4, shown.height * 0.4
        seen = shown.loaded(*point)[:2]
        # The link is copied and opened in a second tab.
        other = self.context.page()
        other.go(page.url)
        same = MapOf(other)
        self.assertEqual(same.loaded(*point)[:2], seen)
        self.assertEqual(other.find("combobox", "Colour by").value, "Namespace")
        self.assertEqual(other.find("searchbox", "Filter").value, "shop/")
        self.assertEqual(other.url, page.url)
        other.reload()
        MapOf(other)
        self.assertEqual(other.url, page.url)

    def test_a_link_to_details_opens_them(self):
        page = self.open_filled()
        self.go(page, "#/map?at=10.96.0.10&value=10.96.0.10")
        page.find("heading", "10.96.0.10")
        other = self.context.page()
        other.go(page.url)
        other.find("heading", "10.96.0.10")
        shown = MapOf(other)
        self.assertEqual(shown.loaded(*shown.middle())[0], number("10.96.0.10"))
        third = self.context.page()
        third.go(page.url.split("#")[0] + "#/?service=shop/web")
        third.find("heading", "shop/web")

    def test_back_and_forward(self):
        page = self.open_filled()
        page.click("link", "Map")
        shown = MapOf(page)
        page.press("/")
        page.type("10.96.0.10")
        page.find("option", re.compile(r"^10\.96\.0\.10"))
        page.press("Enter")
        page.find("heading", "10.96.0.10")
        page.click("link", re.compile("^Findings"))
        page.find("heading", "Findings")
        page.history(-1)
        page.find("heading", "10.96.0.10")
        shown = MapOf(page)
        self.assertEqual(shown.loaded(*shown.middle())[0], number("10.96.0.10"))
        page.history(-1)
        page.gone("heading", "10.96.0.10")
        page.until("!/at=/.test(location.hash)")
        page.history(-1)
        page.find("heading", "Overview")
        page.history(1)
        MapOf(page)
        page.history(1)
        page.find("heading", "10.96.0.10")

    def test_links_with_nonsense_do_no_harm(self):
        page = self.open_filled()
        page.allow(r"status of 40[04]")
        for path in ("#/map/nowhere", "#/map?at=x&z=NaN", "#/map?at=10.96.0.0&z=1e999", "#/map?z=3",
                     "#/map?at=999.1.1.1&z=2", "#/map?part=a..b", "#/?value=x&service=y", "#/%%%",
                     "#/map?layout=spiral&colour=blood", "#/map?whatif=10.0.0.0%2F999", "#/nothing"):
            self.go(page, path)
            page.until("document.querySelector('h1') !== null")
        self.go(page, "#/")
        page.find("heading", "Overview")


if __name__ == "__main__":
    main()
