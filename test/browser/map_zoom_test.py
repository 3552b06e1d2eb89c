#!/usr/bin/env python3
"""From a /12 down to one address: by the wheel, keys, buttons and two fingers, in both layouts."""

import re

from browser_case import BrowserCase, main, wait_for
from clusters import address_of
from map_page import MapOf, number

PINNED = "10.101.7.7"


class ZoomTest(BrowserCase):
    def open_map(self, path="#/map", **more):
        page = self.open_filled(**more)
        self.go(page, path)
        return page, MapOf(page)

    def range_of(self, page):
        """Returns the number of addresses that the whole map shows."""
        return page.evaluate("fetch('/ui/v1/overview').then((answer) => answer.json())"
                             ".then((all) => all.ranges.map((each) => each.range))")

    def test_the_wheel_goes_from_a_range_to_one_address(self):
        page, shown = self.open_map()
        self.shot(page, "map-12-whole")
        turns = []

        def turn(x, y):
            turns.append(page.wheel)
            if len(turns) == 4:
                self.shot(page, "map-12-middle")
            shown.wheel(x, y, -240)
        (x, y), seen = shown.zoom_to(PINNED, turn)
        self.assertGreaterEqual(seen[0], 64)
        self.assertEqual(seen, sorted(seen, reverse=True))
        self.assertIn("shop/pinned", shown.loaded(x, y)[2])
        self.shot(page, "map-12-one-address")
        # And out again, until the whole range is shown.
        page.until("/[?&]z=/.test(location.hash)")
        for _ in range(20):
            shown.wheel(x, y, 480)
        page.until("!/[?&]z=/.test(location.hash)")
        shown.find(PINNED)

    def test_the_wheel_keeps_what_is_under_the_pointer(self):
        page, shown = self.open_map("#/map?at=10.101.7.7&z=1")
        page.until("/[?&]z=/.test(location.hash)")
        x, y = shown.find(PINNED)
        before = shown.at(x, y)
        shown.wheel(x, y, -200)
        now = shown.at(x, y)
        self.assertTrue(before[0] <= now[0] and now[1] <= before[1], (before, now))

    def test_aligned_parts_are_squares(self):
        page, shown = self.open_map("#/map")
        points = shown.grid(8)
        boxes = {}
        for each, (x, y) in zip(shown.glance(points), points):
            if each:
                box = boxes.setdefault(each[0] >> 16, [x, y, x, y])
                box[:] = min(box[0], x), min(box[1], y), max(box[2], x), max(box[3], y)
        self.assertEqual(len(boxes), 16)  # The /16 blocks of a /12.
        for left, top, right, bottom in boxes.values():
            self.assertAlmostEqual(right - left, bottom - top, delta=14)
        self.assertEqual(page.find("button", "Blocks").attribute("aria-pressed"), "true")

    def test_keys_go_to_one_address(self):
        page, shown = self.open_map()
        shown.canvas.focus()
        page.press("Home")
        pointed = "document.querySelector('.pointed').textContent"
        page.until(f"{pointed}.startsWith('10.96.0.0')")
        # Quick presses add up. The last one glides for a moment.
        page.press(*["+"] * 16)

        def named():
            page.press("Home")
            return re.match(r"10\.96\.0\.0,", page.evaluate(pointed))
        wait_for(named)
        # The value to the right, whichever it is in Hilbert order.
        page.press("ArrowRight")
        page.until(f"!/^10\\.96\\.0\\.0[,]/.test({pointed}) && /^10\\.96\\.0\\.\\d+,/.test({pointed})")
        page.press("Enter")
        opened = page.find("heading", re.compile(r"^10\.96\.0\.\d+$")).name
        self.assertEqual(opened, page.evaluate(pointed).split(",")[0])
        # The focus stays on the map.
        self.assertEqual(page.focused().role, "application")
        page.press("End")
        page.until(f"/^10\\.111\\.255\\.255/.test({pointed})")
        page.press("0")
        page.until("!/[?&]z=/.test(location.hash)")
        page.press("-")
        page.press("Shift+ArrowRight", "PageDown", "PageUp")

    def test_buttons_zoom_around_the_middle(self):
        page, shown = self.open_map()
        seen = [shown.loaded(*shown.middle())[:2]]
        for _ in range(30):
            page.click("button", "Zoom in")
            shown.rest()
            # The zoom glides for a moment.
            now = page.evaluate("location.hash")
            seen.append(shown.loaded(*shown.middle())[:2])
            if seen[-1][0] == seen[-1][1]:
                break
        self.assertEqual(seen[-1][0], seen[-1][1], now)
        page.click("button", "Zoom out")
        page.click("button", "Show the whole range")
        page.until("!/[?&]z=/.test(location.hash)")

    def test_two_fingers_zoom(self):
        page, shown = self.open_map()
        page.resize(390, 844, phone=True)
        shown.rest()
        x, y = shown.middle()
        page.evaluate("document.querySelector('canvas').scrollIntoView()")
        shown.rest()
        page.pinch(shown.left + x, shown.top + y, 40, 300)
        page.until("/[?&]z=/.test(location.hash)")
        first = self.zoom(page)
        page.pinch(shown.left + x, shown.top + y, 40, 300)
        page.until(f"Number(/[?&]z=([-.\\d]+)/.exec(location.hash)[1]) > {first} + 1")
        page.pinch(shown.left + x, shown.top + y, 300, 40)
        page.pinch(shown.left + x, shown.top + y, 300, 40)
        page.pinch(shown.left + x, shown.top + y, 300, 40)
        page.until("!/[?&]z=/.test(location.hash)")

    @staticmethod
    def zoom(page):
        return float(re.search(r"[?&]z=([-.\d]+)", page.evaluate("location.hash"))[1])

    def test_a_drag_moves_the_map(self):
        page, shown = self.open_map("#/map?at=10.101.7.7&z=2")
        page.until("/[?&]at=/.test(location.hash)")
        x, y = shown.middle()
        before = shown.loaded(x, y)[:2]
        page.drag((shown.left + x, shown.top + y), (shown.left + x + 90, shown.top + y + 60))
        self.assertEqual(shown.at(x + 90, y + 60)[:2], before)
        self.assertNotEqual(shown.at(x, y)[:2], before)
        page.until("!/at=10\\.101\\.7\\.7[&$]/.test(location.hash)")

    def test_rows_run_from_left_to_right(self):
        page, shown = self.open_map()
        page.click("button", "Rows")
        page.until("/layout=rows/.test(location.hash)")
        self.assertEqual(page.find("button", "Rows").attribute("aria-pressed"), "true")
        self.assertEqual(page.find("button", "Blocks").attribute("aria-pressed"), "false")
        shown.rest()
        self.shot(page, "map-rows")
        # Down a column and along a row, values grow.
        points = [(shown.width * part, 50) for part in (0.3, 0.5, 0.7)]
        values = [shown.loaded(*each)[0] for each in points]
        self.assertEqual(values, sorted(values))
        self.assertEqual(len(set(values)), 3)
        below = shown.loaded(shown.width * 0.3, 90)[0]
        self.assertGreater(below, values[-1])
        # The wheel scrolls, and with Ctrl it zooms.
        x, y = shown.width * 0.3, 90
        wide = shown.loaded(x, y)
        for _ in range(40):
            shown.wheel(x, y, -120, held=("Control",))
        now = shown.loaded(x, y)
        self.assertLess(now[1] - now[0], wide[1] - wide[0])
        shown.wheel(x, y, 200)
        self.assertGreater(shown.loaded(x, y)[0], now[0])
        page.click("button", "Blocks")
        page.until("!/layout=rows/.test(location.hash)")

    def test_single_cells_name_their_owners(self):
        page, shown = self.open_map(f"#/map?at={PINNED}")
        x, y = shown.middle()
        seen = shown.loaded(x, y)
        self.assertEqual(seen[:2], (number(PINNED),) * 2)
        self.assertIn("shop/pinned", seen[2])
        api = address_of(self.server_, "shop/api")
        self.go(page, f"#/map?at={api}")
        page.until(f"location.hash.includes({api!r})")
        shown.rest()
        self.assertIn("shop/api", shown.loaded(x, y)[2])


if __name__ == "__main__":
    main()
