#!/usr/bin/env python3
"""Details of a value and of a Service, with commands that are ready to copy and really work."""

import re

from browser_case import BrowserCase, main, wait_for
from clusters import address_of


class DetailsTest(BrowserCase):
    def commands(self, page):
        """Copies every command with its button. Returns {title: text}."""
        self.context.allow_clipboard(self.ui_.origin)
        copied = {}
        page.find("button", re.compile("^Copy: "))
        for node in page.all("button", re.compile("^Copy: ")):
            page.evaluate("navigator.clipboard.writeText('')", True)

            def copy(name=node.name):
                page.click("button", name)  # Once more if the panel was just drawn anew.
                try:
                    return page.until("navigator.clipboard.readText()", 2)
                except AssertionError:
                    return None
            copied[node.name.removeprefix("Copy: ")] = wait_for(copy)
        return copied

    def test_a_value_says_what_whois_says(self):
        page = self.open_filled("#/map?at=10.96.0.10&value=10.96.0.10")
        page.find("heading", "10.96.0.10")
        page.find("link", "shop/web")
        said = self.run_it("berth whois 10.96.0.10").stdout
        self.assertIn("shop/web", said)
        for word in ("static band", "allocator.ipv4.k8s.io"):
            self.assertEqual(word in said, word in page.text.lower() or word in page.text, word)
        self.shot(page, "details-value")
        # A reserved value, a free one, one of a pool, one of no range.
        for value, pattern in (("10.96.0.77", "shop/later"), ("10.96.0.200", "free|safe"),
                               ("30009", "pay/till"), ("192.0.2.1", "no range|not in|outside|unknown")):
            self.go(page, f"#/map?value={value}")
            page.find("heading", value)
            page.see(f"(?is){re.escape(value)}.*({pattern})")

    def test_commands_can_be_copied_and_work(self):
        page = self.open_filled("#/?value=10.96.0.10")
        page.find("heading", "10.96.0.10")
        copied = self.commands(page)
        self.assertTrue(copied)
        shown = page.evaluate("[...document.querySelectorAll('.command pre')].map((each) => each.textContent)")
        self.assertEqual(list(copied.values()), shown)
        for title, command in copied.items():
            done = self.run_it(command)
            # berth blockers says by its exit status that there are some.
            self.assertIn(done.returncode, (0, 1) if "blockers" in command else (0,), (title, command, done))
            self.assertEqual(done.stderr, "", (title, command))
        self.assertTrue(any("kubectl" in each for each in copied.values()), copied)

    def test_a_free_value_can_be_reserved_as_it_says(self):
        page = self.open_filled("#/?value=10.96.0.200")
        page.find("heading", "10.96.0.200")
        copied = self.commands(page)
        reserve = [each for title, each in copied.items() if "eserv" in title]
        self.assertTrue(reserve, copied)
        done = self.run_it(reserve[0])
        self.assertEqual(done.returncode, 0, (reserve[0], done.stderr))
        page.see("(?i)reserved")
        self.assertIn("10.96.0.200", self.run_it("kubectl get ipaddresses.allocation.berth.io").stdout)

    def test_a_service(self):
        page = self.open_filled("#/?service=shop/edge")
        page.find("heading", "shop/edge")
        page.see("LoadBalancer")
        page.find("link", "31234")
        address = address_of(self.server_, "shop/edge")
        page.find("link", address)
        for command in self.commands(page).values():
            self.assertEqual(self.run_it(command).returncode, 0, command)
        self.shot(page, "details-service")
        page.click("link", "31234")
        page.find("heading", "31234")
        page.click("button", "Close the panel")
        page.gone("heading", "31234")

    def test_a_label_leads_to_all_that_have_it(self):
        page = self.open_filled("#/?service=shop/web")
        page.click("link", "tier=front")
        page.until("/find=tier=front|find=tier%3Dfront/.test(location.hash)")
        page.find("searchbox", "Filter")
        page.see("Bright cells match the filter")


if __name__ == "__main__":
    main()
