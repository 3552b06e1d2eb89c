#!/usr/bin/env python3
"""What if a range had another size: typed, dragged and by keys; and the commands that would do it."""

import ipaddress
import re

from browser_case import BrowserCase, main, wait_for
from clusters import create, send
from map_page import MapOf

RANGES = "/apis/allocation.berth.io/v1alpha1"
FIND_HANDLE = """(() => {
    const canvas = document.querySelector("canvas"), ratio = canvas.width / canvas.clientWidth;
    const { width, height } = canvas;
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer);
    // A filled circle of a colour that nothing else of that size has.
    const runs = new Map();
    for (let y = 7; y < height - 7; y++)
      for (let x = 7; x < width - 7; x++) {
        const colour = pixels[y * width + x];
        if ([[-4, 0], [4, 0], [0, -4], [0, 4], [3, 3], [-3, -3], [3, -3], [-3, 3]].every(
              ([dx, dy]) => pixels[(y + dy) * width + x + dx] === colour)
            && [[-9, 0], [0, -9], [-7, -7]].every(([dx, dy]) => {
              const [px, py] = [x + dx, y + dy];
              return px < 0 || py < 0 || pixels[py * width + px] !== colour;
            })) {
          const run = runs.get(colour) ?? [];
          run.push([x / ratio, y / ratio]);
          runs.set(colour, run);
        }
      }
    const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
    const rgb = [1, 3, 5].map((at) => parseInt(accent.slice(at, at + 2), 16));
    const wanted = (0xff000000 | rgb[2] << 16 | rgb[1] << 8 | rgb[0]) >>> 0;
    const found = runs.get(wanted) ?? [];
    return found.length ? found[Math.floor(found.length / 2)] : null;
  })()"""


class WhatIfTest(BrowserCase):
    def open_what_if(self, text):
        """Opens the what-if of a range from its card, as a person does."""
        page = self.open_filled()
        cards = page.find("list", "Ranges")
        card = [each for each in page.all("listitem", within=cards) if text in each.text][0]
        page.click("link", "What if", within=card)
        page.find("textbox", "New range")
        return page

    def commands(self, page):
        return page.evaluate("Object.fromEntries([...document.querySelectorAll('.whatif .command')].map("
                             "(each) => [each.querySelector('.command-title').textContent, "
                             "each.querySelector('pre').textContent]))")

    def row(self, page, name):
        """Returns what the table says of now and then."""
        return page.evaluate("(() => { const row = [...document.querySelectorAll('.compare tr')].find((each) => "
                             f"each.firstChild?.textContent === {name!r}); "
                             "return row && [...row.children].slice(1).map((each) => each.textContent) })()")

    def ranges(self):
        return {each["metadata"]["name"]: each["spec"]["range"]
                for each in self.server_.call("GET", f"{RANGES}/ipranges").json["items"]}

    def test_typing_a_larger_range_and_doing_it(self):
        page = self.open_what_if("10.61.0.0/24")
        page.find("textbox", "New range").fill("10.61.0.0/22")
        page.until("/whatif=10.61.0.0(\\/|%2F)22/.test(location.hash)")
        wait_for(lambda: (self.row(page, "Usable") or ["", ""])[1] not in ("", "190"))
        now, then = (int(each.replace(",", "")) for each in self.row(page, "Free"))
        self.assertEqual(then - now, 768)
        self.assertIn("10.61.0.1 – ", self.row(page, "Static band")[1])
        self.shot(page, "what-if")
        # Nothing has happened until the command is run.
        self.assertEqual(self.ranges()["blue"], "10.61.0.0/24")
        commands = self.commands(page)
        done = {title: self.run_it(command) for title, command in commands.items()}
        for title, each in done.items():
            self.assertEqual(each.returncode, 0, (title, commands, each.stderr))
        self.assertEqual(self.ranges()["blue"], "10.61.0.0/22")
        page.see("10.61.0.0/22")
        page.click("link", "Overview")
        page.find("link", "blue")
        page.see("10.61.0.0/22")

    def test_a_smaller_range_names_what_is_in_the_way(self):
        page = self.open_filled("#/")
        send(self.server_, [create("pay", "low", "10.61.0.5",
                                   annotations={"allocation.berth.io/ip-range": "blue"})])
        self.go(page, "#/map/" + self.key(page, "10.61.0.0/24") + "?whatif=10.61.0.128%2F25")
        page.see(r"(?i)\d+ values? in the way")
        page.find("link", "10.61.0.5")
        page.find("link", "pay/low")
        page.see("(?i)easy|medium|hard")
        # What the page says would happen is what happens.
        refused = self.run_it("kubectl patch ipr blue -p '{\"spec\":{\"range\":\"10.61.0.128/25\"}}'")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("10.61.0.5", refused.stderr)

    def key(self, page, text):
        return page.evaluate("fetch('/ui/v1/overview').then((answer) => answer.json()).then((all) => "
                             f"encodeURIComponent(all.ranges.find((each) => each.range === {text!r}).key))")

    def test_nonsense_is_said_and_the_last_answer_stays(self):
        page = self.open_what_if("10.61.0.0/24")
        field = page.find("textbox", "New range")
        # The range as it is now is no fault.
        self.assertEqual((field.value, field.attribute("aria-invalid")), ("10.61.0.0/24", None))
        page.find("textbox", "New range").fill("10.61.0.0/23")
        page.until("!!document.querySelector('.compare')")
        for text in ("10.61.0.0/99", "hello", "fd00::/64", "10.61.0.7/24"):
            page.find("textbox", "New range").fill(text)
            page.until("document.querySelector('.whatif .error').textContent.length > 5 "
                       "&& !document.querySelector('.whatif .error').hidden")
            page.find("alert")
            self.assertEqual(page.find("textbox", "New range").attribute("aria-invalid"), "true")
            self.assertTrue(page.evaluate("!!document.querySelector('.compare')"))
        page.find("textbox", "New range").fill("10.61.0.0/24")
        page.until("document.querySelector('.whatif .error').hidden && !document.querySelector('.compare')")
        page.find("textbox", "New range").fill("10.61.0.0/23")
        page.until("!!document.querySelector('.compare')")

    def test_keys_move_the_edge(self):
        page = self.open_what_if("10.61.0.0/24")
        edge = page.find("slider", "End of the range")
        edge.focus()
        field = "document.getElementById('whatif-to').value"
        page.press("ArrowRight")
        page.until(f"{field} === '10.61.0.0/23'")
        page.press("ArrowRight")
        page.until(f"{field} === '10.60.0.0/22' || {field} === '10.61.0.0/22'")
        page.press("ArrowLeft", "ArrowLeft", "ArrowLeft")
        page.until(f"{field} === '10.61.0.0/25'")
        page.until("/whatif=10.61.0.0(\\/|%2F)25/.test(location.hash)")
        self.assertIn("10.61.0.0/25", page.find("slider", "End of the range").attribute("aria-valuetext"))
        page.see("10.61.0.0/25")
        page.press("Escape")
        page.gone("textbox", "New range")
        page.press("w")
        page.find("textbox", "New range")

    def test_the_edge_can_be_dragged_in_the_panel(self):
        page = self.open_what_if("10.61.0.0/24")
        x, y = page.find("slider", "End of the range").middle()
        page.drag((x, y), (x + 60, y))
        page.until("/10\\.6\\d\\.0\\.0\\/(2[0-3]|1\\d)/.test(document.getElementById('whatif-to').value)")
        text = page.evaluate("document.getElementById('whatif-to').value")
        wanted = f"{ipaddress.ip_network(text).num_addresses:,}"
        wait_for(lambda: (self.row(page, "Usable") or [])[1:] != ["190"])
        page.until(f"document.querySelector('.slider-handle').getAttribute('aria-valuetext').includes({wanted!r})")

    def test_the_edge_can_be_dragged_on_the_map(self):
        page = self.open_what_if("10.61.0.0/24")
        shown = MapOf(page)
        field = "document.getElementById('whatif-to').value"
        page.until(f"{field} === '10.61.0.0/24'")
        handle = wait_for(lambda: page.evaluate(FIND_HANDLE))
        start = shown.left + handle[0], shown.top + handle[1]
        end = shown.find("10.61.0.63")
        page.drag(start, (shown.left + end[0], shown.top + end[1]))
        page.until(f"{field} === '10.61.0.0/26'")
        wait_for(lambda: (self.row(page, "Static band") or ["", ""])[1].startswith("10.61.0.1"))
        self.shot(page, "what-if-dragged")

    def test_ports_and_their_command(self):
        page = self.open_what_if("30000-32767")
        page.find("textbox", "New range").fill("30000-31000")
        page.see(r"(?i)1 value in the way")
        page.find("link", "31234")
        page.find("textbox", "New range").fill("30000-33000")
        page.until("document.querySelectorAll('.blockers').length === 0")
        wait_for(lambda: (self.row(page, "Usable") or ["", ""])[1] == "3,001")
        for command in self.commands(page).values():
            done = self.run_it(command)
            self.assertEqual(done.returncode, 0, (command, done.stderr))
        ranges = self.server_.call("GET", f"{RANGES}/nodeportranges").json["items"]
        self.assertEqual([each["spec"]["range"] for each in ranges], ["30000-33000"])
        page.find("slider", "First port")
        page.find("slider", "Last port").focus()
        page.press("ArrowLeft")
        page.until("document.getElementById('whatif-to').value === '30000-32999'")

    def test_the_default_range_cannot_just_grow(self):
        page = self.open_what_if("10.96.0.0/12")
        page.find("textbox", "New range").fill("10.96.0.0/11")
        page.until("/whatif=/.test(location.hash)")
        self.assertTrue(page.see(r"10\.96\.0\.0/11"))
        for title, command in self.commands(page).items():
            self.assertEqual(self.run_it(command).returncode, 0, (title, command))
        self.assertTrue(re.search("10.96.0.0", self.ranges()["allocator.ipv4.k8s.io"]))


if __name__ == "__main__":
    main()
