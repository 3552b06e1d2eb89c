#!/usr/bin/env python3
"""Everything can be reached and used with the keyboard alone, and one sees where one is."""

import re

from browser_case import BrowserCase, main
from map_page import MapOf

REACHABLE = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
    .filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility({ visibilityProperty: true })
                      && !each.closest("[inert]"))"""


class KeyboardTest(BrowserCase):
    def walk(self, page):
        """Presses Tab until everything was reached. Returns what was: [text of the element]."""
        page.evaluate(f"window.reachable = {REACHABLE}; 0")
        page.evaluate("document.activeElement.blur(); window.reached = new Set(); window.unseen = []")
        for _ in range(300):  # From where the focus was last, and round.
            page.press("Tab")
            page.evaluate("""(() => {
                const at = document.activeElement;
                window.reached.add(at);
                const style = getComputedStyle(at), box = at.getBoundingClientRect();
                const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1.5
                  || style.boxShadow !== "none" || at.tagName === "CANVAS";
                if (at !== document.body && (!ring || box.bottom < 0 || box.top > innerHeight))
                  window.unseen.push(at.outerHTML.slice(0, 120));
              })()""")
            if page.evaluate("window.reachable.every((each) => !each.isConnected || window.reached.has(each))"):
                break
        missed = page.evaluate("window.reachable.filter((each) => each.isConnected && !window.reached.has(each))"
                               ".map((each) => each.outerHTML.slice(0, 120))")
        self.assertEqual(missed, [], (page.url, page.evaluate(
            "[document.hasFocus(), ...[...window.reached].map((each) => each.outerHTML.slice(0, 40))]")))
        self.assertEqual(page.evaluate("window.unseen"), [])

    def test_tab_reaches_everything_and_shows_where(self):
        page = self.open_filled()
        for path, ready in (("#/", "Services in"), ("#/findings", "Findings"),
                            ("#/map?at=10.96.0.10&value=10.96.0.10", "kubectl describe|berth whois"),
                            ("#/map?whatif=10.96.0.0%2F14", "in the way|stands"), ("#/map?table=1", r"1 to \d+ of")):
            self.go(page, path)
            page.see(ready)
            page.press("p", "p")  # Nothing comes in between.
            self.walk(page)

    def test_the_first_tab_skips_to_the_content(self):
        page = self.open_filled()
        page.evaluate("document.activeElement.blur()")
        page.press("Tab")
        link = page.focused()
        self.assertEqual(link.name, "Skip to the content")
        self.assertGreaterEqual(link.box()[1], 0)
        page.press("Enter")
        page.until("document.activeElement.id === 'main'")

    def test_a_visit_without_a_mouse(self):
        page = self.open_filled()
        # Overview, map, findings, by letters.
        page.press("m")
        shown = MapOf(page)
        page.press("f")
        page.find("heading", "Findings")
        page.press("o")
        page.find("heading", "Overview")
        # Search, take a hit, read its details, close them.
        page.press("/")
        page.type("shop/web")
        page.find("option", re.compile("^shop/web"))
        page.press("Enter")
        page.find("heading", "shop/web")
        page.press("Escape")
        page.gone("heading", "shop/web")
        # On the map: move, zoom, open.
        page.press("m")
        shown = MapOf(page)
        shown.canvas.focus()
        page.press("0", "Home", "Enter")
        page.see("Part")
        page.press("Escape")
        page.until("document.body.dataset.panel !== 'open'")
        page.press("t")
        page.find("table", re.compile("Values in use"))
        page.press("t")
        page.press("w")
        page.find("textbox", "New range")
        page.press("Escape")
        page.gone("textbox", "New range")

    def test_help(self):
        page = self.open_filled()
        page.press("?")
        page.find("dialog", re.compile("Keys"))
        self.shot(page, "help")
        # The focus stays in the dialog.
        for _ in range(5):
            page.press("Tab")
            self.assertTrue(page.evaluate("document.activeElement === document.body || "
                                          "!!document.activeElement.closest('dialog')"))
        page.press("Escape")
        page.gone("dialog")
        page.click("button", "Keys and help")
        page.click("button", "Close")
        page.gone("dialog")

    def test_letters_are_text_in_a_field(self):
        page = self.open_filled("#/map")
        MapOf(page)
        page.find("searchbox", "Filter").fill("pwtom/?")
        self.assertEqual(page.find("searchbox", "Filter").value, "pwtom/?")
        self.assertIn("#/map", page.url)
        page.find("button", "Live")

    def test_what_a_screen_reader_gets(self):
        page = self.open_filled("#/map")
        shown = MapOf(page)
        self.assertIn("10.96.0.0/12", shown.canvas.name)
        for role in ("banner", "main", "navigation", "search"):
            page.find(role)
        self.assertEqual(page.evaluate("document.documentElement.lang"), "en")
        shown.canvas.focus()
        page.press("Home")
        page.until("/10\\.96\\.0\\.0/.test(document.getElementById('announcer').textContent)")
        self.go(page, "#/")
        page.see("Services in")
        # Every image has words, every field a label, every heading level its place.
        unnamed = [each for each in page.all() if not each.name and each.role in (
            "img", "button", "link", "textbox", "searchbox", "combobox", "slider", "dialog", "region")]
        self.assertEqual(unnamed, [])
        levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].filter((each) => "
                               "each.getClientRects().length).map((each) => Number(each.tagName[1]))")
        self.assertEqual(levels[0], 1)
        self.assertTrue(all(b - a <= 1 for a, b in zip(levels, levels[1:])), levels)


if __name__ == "__main__":
    main()
