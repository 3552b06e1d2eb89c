#!/usr/bin/env python3
"""The page follows the cluster: changes light up, a lost server is said and mended, and a pause holds."""

import math
import re
import subprocess

from browser_case import BrowserCase, main, wait_for
import tools
from clusters import create, namespace, send
from harness import PATIENCE, environment
from map_page import MapOf, number


class LiveTest(BrowserCase):
    def kubectl(self, *args):
        done = subprocess.run([tools.KUBECTL, *args], capture_output=True, text=True, timeout=PATIENCE,
                              check=False, env=environment(HOME=self.folder,
                                                           KUBECONFIG=self.server_.kubeconfig))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_new_service_is_counted(self):
        page = self.open_filled()
        count = int(page.see(r"([\d,]+) Services in")[1].replace(",", ""))
        page.find("button", "Live")
        # The card of its range lights up for a moment.
        page.evaluate("""(window.lit = 0, new MutationObserver((all) => {
            for (const each of all) if (each.target.classList.contains("lit")) window.lit++;
          }).observe(document.querySelector(".cards"),
                     { subtree: true, attributes: true, attributeFilter: ["class"] }))""")
        self.kubectl("create", "service", "clusterip", "fresh", "--tcp=80", "-n", "shop")
        page.see(f"{count + 1} Services in")
        page.until("window.lit > 0")
        self.kubectl("delete", "service", "fresh", "-n", "shop")
        page.see(f"{count} Services in")

    def test_a_change_lights_up_on_the_map(self):
        page = self.open_filled("#/map?at=10.96.0.200")
        shown = MapOf(page)
        x, y = shown.middle()
        self.assertRegex(" ".join(shown.loaded(x, y)[2]), "Free")
        left, _, right, _ = shown.box(x, y)
        page.move(3, 3)
        # The cell is a square, and the ring grows from its corners.
        reach = (right - left) / math.sqrt(2)
        points = [(x + reach + each, y) for each in range(-4, 16, 2)]
        # A ring is drawn around the cell while it is new.
        page.evaluate(f"""(() => {{
            const canvas = document.querySelector("canvas"), context = canvas.getContext("2d");
            const points = {[list(each) for each in points]}, seen = window.colours = new Set();
            const ratio = canvas.width / canvas.clientWidth;
            const look = () => {{
              for (const [x, y] of points) seen.add(context.getImageData(x * ratio, y * ratio, 1, 1).data.join());
              requestAnimationFrame(look);
            }};
            look();
          }})()""")
        page.until("window.colours.size > 0")
        known = page.evaluate("window.colours.size")
        send(self.server_, [create("shop", "bright", "10.96.0.200")])
        page.until(f"window.colours.size > {known + 2}")
        self.shot(page, "map-change")
        wait_for(lambda: "shop/bright" in (shown.at(x, y) or (0, 0, []))[2])

    def test_details_follow(self):
        page = self.open_filled("#/?value=10.96.0.201")
        page.find("heading", "10.96.0.201")
        send(self.server_, [create("shop", "late", "10.96.0.201")])
        page.find("link", "shop/late")
        send(self.server_, [("DELETE", "/api/v1/namespaces/shop/services/late", None)])
        page.gone("link", "shop/late")

    def test_a_pause_holds(self):
        page = self.open_filled()
        count = int(page.see(r"([\d,]+) Services in")[1])
        page.press("p")
        page.find("button", "Paused")
        send(self.server_, [create("shop", "later-one"), create("shop", "later-two")])
        # The server has told it: another tab shows it already.
        other = self.context.page()
        other.go(self.ui_.origin + "/")
        other.see(f"{count + 2} Services in")
        self.assertIn(f"{count} Services in", page.text)
        page.press("p")
        page.find("button", "Live")
        page.see(f"{count + 2} Services in")
        page.click("button", "Live")
        page.click("button", "Paused")
        page.find("button", "Live")

    def test_the_cluster_goes_and_comes_back(self):
        page = self.open_filled()
        count = int(page.see(r"([\d,]+) Services in")[1])
        self.server_.terminate()
        page.find("button", "Not followed")
        page.see("(?i)cannot reach|refused|not answer|closed|lost|ended")
        self.shot(page, "cluster-lost")
        # What was known stays.
        self.assertIn(f"{count} Services in", page.text)
        again = self.server(*self.FLAGS, port=self.server_.port)
        send(again, [create("shop", "after-all")])
        page.find("button", "Live")
        page.see(f"{count + 1} Services in")
        self.assertFalse(page.evaluate("[...document.querySelectorAll('.notice')].some((each) => !each.hidden)"))

    def test_berth_ui_starts_again(self):
        page = self.open_filled()
        page.allow("ERR_CONNECTION_REFUSED|status of 401|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET"
                   "|ERR_EMPTY_RESPONSE")
        page.find("button", "Live")
        self.ui_.kill()
        page.find("button", "Not connected")
        page.see("connection to the server is lost")
        self.shot(page, "ui-lost")
        # Another process has other secrets.
        again = self.ui_of(self.server_, port=self.ui_.port)
        self.assertTrue(again.link)
        page.find("heading", "This link is no longer valid")
        page.see("Open the link that\\s+berth ui\\s+prints")
        self.shot(page, "ui-started-again")
        page.go(again.link)
        page.find("heading", "Overview")

    def test_many_changes_at_once(self):
        server = self.server(*self.FLAGS)
        send(server, [namespace("many")])
        page = self.open(self.ui_of(server))
        page.find("button", "Live")
        send(server, [create("many", f"web-{i:03}") for i in range(400)])
        page.see("401 Services in")
        self.go(page, "#/map")
        shown = MapOf(page)
        self.assertTrue(shown.glance(shown.grid(40)))
        send(server, [("DELETE", f"/api/v1/namespaces/many/services/web-{i:03}", None) for i in range(400)])
        page.see(r"Taken\s+1\b")
        self.assertEqual(number("10.96.0.0") >> 20, 0x0a6)

    def test_a_file_does_not_claim_to_be_live(self):
        server = self.server(*self.FLAGS)
        send(server, [namespace("shop"), create("shop", "web", "10.96.0.10")])
        path = self.path("all.json")
        with open(path, "w", encoding="utf-8") as out:
            subprocess.run([tools.KUBECTL, "get", "services,servicecidrs", "-A", "-o", "json"], stdout=out,
                           check=True, env=environment(HOME=self.folder, KUBECONFIG=server.kubeconfig))
        page = self.open(self.ui("-f", path))
        state = page.find("button", "File")
        self.assertTrue(state.properties.get("disabled"))
        self.go(page, "#/map?value=10.96.0.10")
        page.find("link", "shop/web")
        self.assertTrue(re.search("all.json", page.text))


if __name__ == "__main__":
    main()
