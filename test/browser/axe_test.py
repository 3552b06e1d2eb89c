#!/usr/bin/env python3
"""axe-core looks for what keeps people with a disability from using the page. It comes from npm, as
the packages of the JavaScript client do, and runs in the page as the tests' own scripts do."""

import os

from browser_case import BrowserCase, record
import node_scripts
from team_test import TeamCase

PAGES = {"overview": ("#/", "Services in"), "map": ("#/map", "A cell is"),
         "table": ("#/map?table=1", r"1 to \d+ of"),
         "details": ("#/map?at=10.96.0.10&value=10.96.0.10", "shop/web"),
         "part": ("#/map?part=10.96.0.0..10.96.0.255", "Zoom to it"),
         "what-if": ("#/map?whatif=10.96.0.0%2F14", "New range"),
         "findings": ("#/findings", "finding")}
RUN = """axe.run(document, { resultTypes: ["violations"] }).then(({ violations, passes }) => ({
    passes: passes.length,
    violations: violations.map(({ id, impact, nodes }) =>
      `${id} (${impact}): ${nodes.slice(0, 5).map((each) => each.html.slice(0, 140)).join(" ")}`) }))"""


def source():
    with open(os.path.join(node_scripts.FOLDER, "node_modules/axe-core/axe.min.js"), encoding="utf-8") as file:
        return file.read()


class AxeChecks:
    """Looks at the page in both themes, on a desk and on a phone."""

    def check(self, page, name):
        found = []
        for width, height, phone in ((1280, 800, False), (390, 844, True)):
            page.resize(width, height, phone)
            for theme in ("light", "dark"):
                page.prefer(color_scheme=theme)
                page.until(f"document.documentElement.dataset.theme === {theme!r}")
                page.until("document.getAnimations().every((each) => each.playState !== 'running')")
                if not page.evaluate("'axe' in window"):
                    page.evaluate(source() + "; 0")
                result = page.evaluate(RUN)
                self.assertGreater(result["passes"], 5)
                found += [f"{name}, {theme}, {width} px: {each}" for each in result["violations"]]
        record(f"axe, {name}", f"{len(found)} violations")
        return found


class AxeTest(AxeChecks, BrowserCase):
    def check_page(self, name):
        page = self.open_filled()
        path, ready = PAGES[name]
        self.go(page, path)
        page.see(ready)
        self.assertEqual(self.check(page, name), [])
        return page

    def test_overview(self):
        page = self.check_page("overview")
        page.press("?")
        page.find("dialog")
        self.assertEqual(self.check(page, "help"), [])

    def test_map(self):
        page = self.check_page("map")
        page.press("/")
        page.type("shop")
        page.find("option")
        self.assertEqual(self.check(page, "search"), [])

    def test_table(self):
        self.check_page("table")

    def test_details(self):
        self.check_page("details")

    def test_part(self):
        self.check_page("part")

    def test_what_if(self):
        self.check_page("what-if")

    def test_findings(self):
        self.check_page("findings")


class AxeSignInTest(AxeChecks, TeamCase):
    def test_sign_in(self):
        page = self.tab()
        page.find("heading", "Sign in to Berth")
        self.assertEqual(self.check(page, "sign-in"), [])
        self.sign_in(page)
        page.find("heading", "Overview")
        self.assertEqual(self.check(page, "overview of a team"), [])


if __name__ == "__main__":
    node_scripts.main()
