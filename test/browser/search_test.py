#!/usr/bin/env python3
"""Search by `/`, and the filter of the map."""

import re

from browser_case import BrowserCase, main
from map_page import MapOf, number


class SearchTest(BrowserCase):
    def search(self, page, text, hit):
        """Types a text as a person does, and takes a hit with the keyboard."""
        page.press("/")
        field = page.find("combobox", "Search")
        self.assertTrue(field.properties.get("focused"))
        page.replace(text)
        page.find("option", re.compile(hit))
        options = [each.name for each in page.all("option", within=page.find("listbox", "Search results"))]
        wanted = next(each for each in options if re.search(hit, each))
        page.press(*["ArrowDown"] * options.index(wanted), "Enter")
        page.gone("listbox", "Search results")

    def test_address_port_and_service(self):
        page = self.open_filled()
        self.search(page, "10.96.0.10", r"^10\.96\.0\.10 ")
        page.find("heading", "10.96.0.10")
        shown = MapOf(page)
        self.assertEqual(shown.loaded(*shown.middle())[0], number("10.96.0.10"))
        self.search(page, "31234", "^31234 ")
        page.find("heading", "31234")
        shown = MapOf(page, "^Map of .*30000-32767")
        self.assertEqual(shown.loaded(*shown.middle())[2][0], "shop/edge")
        self.search(page, "pinned", "shop/pinned")
        page.find("heading", "shop/pinned")
        page.see(r"10\.101\.7\.7")

    def test_a_part_of_a_range(self):
        page = self.open_filled()
        self.search(page, "10.101.7.0/24", r"10\.101\.7\.0/24")
        shown = MapOf(page)
        page.until("/part=/.test(location.hash)")
        page.find("heading", re.compile(r"10\.101\.7\.0.*10\.101\.7\.255"))
        self.assertTrue(number("10.101.6.0") <= shown.loaded(*shown.middle())[0] <= number("10.101.8.0"))
        page.find("link", "10.101.7.7")
        # The range itself can be found too.
        self.search(page, "10.61.0.0/24", r"10\.61\.0\.0/24")
        MapOf(page, r"^Map of .*10\.61\.0\.0/24")

    def test_namespace_and_label_dim_the_rest(self):
        page = self.open_filled()
        self.search(page, "team-2", "^team-2 ")
        shown = MapOf(page)
        self.assertRegex(page.find("searchbox", "Filter").value, "team-2")
        page.see("Bright cells match the filter")
        page.click("button", "Table")
        page.see(r"1 to 10 of 10 values")
        page.click("button", "Table")
        self.search(page, "tier=front", "tier=front")
        MapOf(page)
        self.assertRegex(page.find("searchbox", "Filter").value, "tier=front")
        page.click("button", "Table")
        page.see(r"1 to 1 of 1 value\b")
        page.find("link", "10.96.0.10")
        self.assertTrue(shown)

    def test_the_filter_dims_what_does_not_match(self):
        page = self.open_filled("#/map?at=10.96.0.10")
        shown = MapOf(page)
        x, y = shown.middle()
        shown.loaded(x, y)
        _, _, right, bottom = shown.box(x, y)
        at = right - 4, bottom - 4
        before = shown.colour(*at)
        page.find("searchbox", "Filter").fill("team-1/")
        page.until("/find=/.test(location.hash)")
        shown.rest()
        dimmed = shown.colour(*at)
        self.assertGreater(max(abs(a - b) for a, b in zip(before, dimmed)), 30, (before, dimmed))
        page.find("searchbox", "Filter").fill("shop/web")
        page.until("/find=shop\\/web/.test(location.hash)")
        shown.rest()
        bright = shown.colour(*at)
        self.assertLess(max(abs(a - b) for a, b in zip(before, bright)), 12, (before, bright))
        # Escape clears it, as in any search field.
        page.press("Escape")

    def test_nothing_found_is_said(self):
        page = self.open_filled()
        page.press("/")
        page.type("no such thing anywhere")
        page.see("Nothing was found")
        page.press("Escape")
        page.gone("listbox", "Search results")
        self.assertEqual(page.find("combobox", "Search").properties.get("expanded"), False)

    def test_the_pointer_takes_a_hit_too(self):
        page = self.open_filled()
        page.find("combobox", "Search").fill("edge")
        page.click("option", re.compile("^shop/edge"))
        page.find("heading", "shop/edge")


if __name__ == "__main__":
    main()
