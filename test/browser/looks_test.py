#!/usr/bin/env python3
"""Light and dark, a phone, little movement, paper."""

import re

from browser_case import BrowserCase, main
from map_page import MapOf

PAGES = {"overview": "#/", "map": "#/map", "details": "#/map?at=10.96.0.10&value=10.96.0.10",
         "what-if": "#/map?whatif=10.96.0.0%2F14", "findings": "#/findings", "table": "#/map?table=1"}
READY = {"overview": "Services in", "map": "A cell is", "details": "shop/web", "what-if": "New range",
         "findings": r"finding|Nothing was found", "table": r"1 to \d+ of"}
CONTRAST = """(() => {
    const parse = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((each) => each / 255)
      .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
      .reduce((sum, each, i) => sum + each * [0.2126, 0.7152, 0.0722][i], 0);
    const style = getComputedStyle(document.body);
    const [a, b] = [light(parse(style.color)), light(parse(style.backgroundColor))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  })()"""


class LooksTest(BrowserCase):
    def show(self, page, name):
        self.go(page, PAGES[name])
        page.see(READY[name])
        if "map" in PAGES[name] and name != "table":
            MapOf(page)

    def test_light_and_dark(self):
        page = self.open_filled()
        grounds = set()
        for theme in ("light", "dark"):
            page.prefer(color_scheme=theme)
            page.until(f"document.documentElement.dataset.theme === {theme!r}")
            for name in PAGES:
                self.show(page, name)
                self.shot(page, f"{name}-1280-{theme}")
            self.assertGreater(page.evaluate(CONTRAST), 7)
            grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(len(grounds), 2)
        # The reader's own choice counts more, and lasts.
        page.click("button", re.compile("^Theme: as the system"))
        page.click("button", re.compile("^Theme: light"))
        page.find("button", re.compile("^Theme: dark"))
        page.click("button", re.compile("^Theme: dark"))
        page.click("button", re.compile("^Theme: as the system"))
        page.until("document.documentElement.dataset.theme === 'light'")
        page.reload()
        page.until("document.documentElement.dataset.theme === 'light'")

    def test_a_phone(self):
        page = self.open_filled()
        page.resize(390, 844, phone=True)
        for theme in ("light", "dark"):
            page.prefer(color_scheme=theme)
            page.until(f"document.documentElement.dataset.theme === {theme!r}")
            for name in PAGES:
                self.show(page, name)
                wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
                self.assertEqual(wide, [390, 390], name)
                over = page.evaluate("""[...document.querySelectorAll("body *")].filter((each) => {
                    const box = each.getBoundingClientRect();
                    return box.width > 0 && box.right > innerWidth + 1 && !each.closest(".scroll, pre, .visually-hidden")
                      && getComputedStyle(each).visibility !== "hidden";
                  }).map((each) => each.outerHTML.slice(0, 80))""")
                self.assertEqual(over, [], name)
                self.shot(page, f"{name}-390-{theme}")
        # What is touched is large enough for a finger.
        small = page.evaluate("""[...document.querySelectorAll("button, select, input")].filter((each) => {
            const { width, height } = each.getBoundingClientRect();
            return width > 0 && height > 0 && Math.min(width, height) < 24;
          }).map((each) => each.outerHTML.slice(0, 90))""")
        self.assertEqual(small, [])

    def test_a_finger_opens_a_value(self):
        page = self.open_filled()
        page.resize(390, 844, phone=True)
        self.go(page, "#/map?at=10.96.0.10")
        shown = MapOf(page)
        x, y = shown.middle()
        page.tap(shown.left + x, shown.top + y)
        page.find("heading", "10.96.0.10")
        page.click("button", "Close the panel")
        page.gone("heading", "10.96.0.10")

    def test_a_wall_screen(self):
        page = self.open_filled(width=3840, height=2160)
        for name in ("overview", "map"):
            self.show(page, name)
            self.shot(page, f"{name}-3840")
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 3840)

    def test_little_movement(self):
        page = self.open_filled()
        page.prefer(reduced_motion="reduce")
        self.go(page, "#/map")
        shown = MapOf(page)
        page.evaluate("berthFrames.reset()")
        before = shown.loaded(*shown.middle())
        page.click("button", "Zoom in")
        page.until("/z=/.test(location.hash)")
        # One step, not a glide: a few frames, of which tiles that come in cause some.
        self.assertNotEqual(shown.loaded(*shown.middle())[:2], (0, 0))
        self.assertTrue(before)
        self.assertEqual(page.evaluate("document.getAnimations().filter((each) => "
                                       "each.playState === 'running').length"), 0)
        moving = page.evaluate("""[...document.querySelectorAll("body *")].filter((each) => {
            const style = getComputedStyle(each);
            const longest = Math.max(...(style.transitionDuration + "," + style.animationDuration).split(",")
              .map((each) => parseFloat(each) * (/ms$/.test(each.trim()) ? 1 : 1000)));
            return longest > 50;
          }).map((each) => each.outerHTML.slice(0, 80))""")
        self.assertEqual(moving, [])

    def test_paper(self):
        page = self.open_filled()
        page.prefer(color_scheme="dark")
        for name in ("overview", "map", "findings"):
            self.show(page, name)
            paper = page.pdf()
            self.assertTrue(paper.startswith(b"%PDF-"))
            with open(self.path(f"{name}.pdf"), "wb") as out:
                out.write(paper)
            self.assertGreater(len(paper), 5000, name)
        # Paper is white, and the screen is as before.
        page.call("Emulation.setEmulatedMedia", {"media": "print", "features": [
            {"name": "prefers-color-scheme", "value": "dark"}]})
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        self.assertIn(ground, ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"))
        hidden = page.evaluate("getComputedStyle(document.querySelector('.bar')).display")
        self.assertEqual(hidden, "none")
        page.prefer(color_scheme="dark")
        page.until("document.documentElement.dataset.theme === 'dark'")


if __name__ == "__main__":
    main()
