#!/usr/bin/env python3
"""Findings: grouped, each with why and what to do, and a way to what it is about."""

import re

from browser_case import BrowserCase, main, wait_for
from clusters import send
from map_page import MapOf, number
from rough_server import RoughServer, make_address, make_service


class FindingsTest(BrowserCase):
    def test_groups_say_why_and_what_to_do(self):
        page = self.open_filled("#/findings")
        page.find("heading", "Findings")
        known = page.evaluate("fetch('/ui/v1/findings').then((answer) => answer.json())")
        page.see(r"\d+ findings? in \d+ group")
        groups = [each for each in known["groups"] if each["count"]]
        self.assertTrue(groups)
        for group in groups:
            page.find("heading", group["title"])
            self.assertGreater(len(group["why"]), 20, group)
            for item in group["items"]:
                self.assertTrue(item["message"], group)
        # shop/pinned has named an address of the dynamic band.
        page.see(r"10\.101\.7\.7")
        page.click("link", "Show on the map")
        shown = MapOf(page)
        self.assertTrue(shown.loaded(*shown.middle())[0] >= number("10.61.0.0"))
        page.history(-1)
        page.click("link", re.compile("^shop/|^pay/"))
        page.find("heading", re.compile("^(shop|pay)/"))

    def test_two_owners_of_one_address(self):
        services = [make_service(1, "10.96.0.10"), make_service(2, "10.96.0.10")]
        cluster = RoughServer(services=services, addresses=[make_address(services[0])])
        self.addCleanup(cluster.stop)
        page = self.open(self.ui("--server", cluster.url), "#/findings")
        page.see(r"10\.96\.0\.10")
        page.see("team-1/svc-000001")
        page.see("team-2/svc-000002")
        self.assertTrue(any("Critical" in each for each in page.evaluate(
            "[...document.querySelectorAll('.finding-group')].map((each) => each.innerText)")))
        self.shot(page, "findings")
        self.go(page, "#/map?at=10.96.0.10&value=10.96.0.10")
        shown = MapOf(page)
        self.assertIn("Held twice", " ".join(shown.loaded(*shown.middle())[2]))
        # It is mended, and the finding goes.
        cluster.delete("services", "svc-000002", "team-2")
        wait_for(lambda: "Held twice" not in " ".join(shown.loaded(*shown.middle())[2]))
        self.go(page, "#/findings")
        wait_for(lambda: "svc-000002" not in page.text)

    def test_the_count_is_beside_its_page(self):
        page = self.open_filled()
        before = int(page.find("link", re.compile(r"^Findings \d+")).name.split()[1])
        send(self.server_, [("DELETE", "/api/v1/namespaces/shop/services/pinned", None)])
        wait_for(lambda: (page.find("link", re.compile("^Findings")).name + " 0").split()[1] != str(before))

    def test_nothing_found_is_said(self):
        page = self.open(self.ui_of(self.server(*self.FLAGS)), "#/findings")
        page.find("heading", "Findings")
        page.see(r"Nothing was found|\d+ finding")


if __name__ == "__main__":
    main()
