#!/usr/bin/env python3
"""100,000 Services: how soon the page is there, and how smooth the map is. The figures are recorded in
browser.txt and in the output; no test asserts them."""

import time

from browser_case import BrowserCase, main, record, wait_for
import clusters
from map_page import MapOf

COUNT = 100_000


class LargeTest(BrowserCase):
    def test_a_hundred_thousand_services(self):
        clusters.fill_directory(self.path("data"), COUNT)
        server = self.server("--service-cluster-ip-range", "10.96.0.0/12")
        ui = self.ui_of(server)
        self.until_ready(ui)
        page = self.first_view(ui)
        page.see("100,00[0-9] Services in")
        began = time.monotonic()
        self.go(page, "#/map")
        shown = MapOf(page)
        record("100,000 Services, map after", f"{1000 * (time.monotonic() - began):.0f} ms")
        shown.at(5, 5)
        for layout in ("hilbert", "rows"):
            self.go(page, f"#/map?at=10.96.200.0&z={1 if layout == 'hilbert' else 3}&layout={layout}")
            shown.rest()
            self.pan(page, shown, f"panning, {layout}")
        self.go(page, "#/map")
        page.until("!/z=/.test(location.hash)")
        shown.rest()
        self.zoom(page, shown)
        self.heap(page)
        self.shot(page, "map-100000")

    def until_ready(self, ui):
        """Waits until the server has read the cluster, with a browser that has no part in the figures."""
        other = self.open(ui)
        other.see("100,00[0-9] Services in")
        other.close()

    def first_view(self, ui):
        """Opens the page and records when its first view was there."""
        page = self.context.page()
        page.call("Page.addScriptToEvaluateOnNewDocument", {"source": """
            new MutationObserver((all, me) => {
              if (!/Services in/.test(document.querySelector(".summary")?.textContent ?? "")) return;
              me.disconnect();
              requestAnimationFrame(() => setTimeout(() => (window.firstView = performance.now())));
            }).observe(document, { subtree: true, childList: true, characterData: true });"""})
        page.go(ui.origin + "/")
        record("100,000 Services, first view after", f"{page.until('window.firstView'):.0f} ms")
        sizes = page.evaluate("performance.getEntriesByType('resource').filter((each) => "
                              "/app\\.|icon/.test(each.name)).map((each) => each.encodedBodySize)"
                              ".reduce((a, b) => a + b, 0)")
        record("the page itself, compressed", f"{sizes / 1000:.0f} kB")
        return page

    def frames(self, page, title):
        figures = page.evaluate("[berthFrames.count, berthFrames.percentile(0.5), "
                                "berthFrames.percentile(0.95), berthFrames.percentile(1)]")
        self.assertGreater(figures[0], 5)
        record(f"100,000 Services, {title}", "{} frames, script work {:.1f} ms median, {:.1f} ms at the 95th "
               "percentile, {:.1f} ms at most".format(*figures))

    def pan(self, page, shown, title):
        x, y = shown.left + shown.width / 2, shown.top + shown.height / 2
        shown.loaded(*shown.middle())
        page.evaluate("berthFrames.reset()")
        for dx, dy in ((200, 120), (-260, -160), (180, -140), (-120, 180)):
            page.drag((x, y), (x + dx, y + dy), steps=30)
        self.frames(page, title)

    def zoom(self, page, shown):
        page.evaluate("berthFrames.reset()")
        x, y = shown.width * 0.35, shown.height * 0.35
        for dy in [-60] * 40 + [60] * 40:
            shown.wheel(x, y, dy)
        wait_for(lambda: page.evaluate("berthFrames.count") > 5)
        self.frames(page, "zooming by the wheel")

    def heap(self, page):
        page.call("HeapProfiler.collectGarbage")
        used = page.evaluate("performance.memory.usedJSHeapSize")
        record("100,000 Services, heap after that", f"{used / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
