"""The map on the page, as a person sees it: what the tip says at a point, where a value is, and the
colour of a point. It knows nothing of the layout, and finds values by looking."""

import ipaddress
import re

from harness import wait_for

SHOWN_TIP = """(() => { const tip = document.querySelector(".tip");
    return tip && !tip.hidden ? [...tip.children].map((each) => each.textContent) : null })()"""


def number(text):
    """Returns a value as a number."""
    return int(text) if str(text).isdigit() else int(ipaddress.ip_address(text))


class MapOf:
    """The map that a page shows at the moment."""

    def __init__(self, page, label=None):
        self.page = page
        self.canvas = page.find("application", re.compile(label or "^Map of"))
        self.rest()

    def rest(self):
        """Waits until the map has all that it asked for."""
        self.page.until("document.querySelector('canvas') && "
                        "!document.querySelector('.busy')?.classList.contains('on')")
        self.left, self.top, self.width, self.height = self.canvas.box()

    def at(self, x, y):
        """Returns (first, last, lines) of what the tip says at a point of the map, or None."""
        self.page.move(self.left + x, self.top + y)
        shown = self.page.evaluate(SHOWN_TIP)
        if not shown:
            return None
        ends = shown[0].split(" – ")
        return number(ends[0]), number(ends[-1]), shown[1:]

    def loaded(self, x, y):
        """Returns the same as soon as it is known what is there."""
        return wait_for(lambda: (seen := self.at(x, y)) and "Loading" not in seen[2] and seen)

    def click(self, x, y):
        self.page.click_at(self.left + x, self.top + y)

    def wheel(self, x, y, dy, **more):
        self.page.wheel(self.left + x, self.top + y, dy, **more)

    def middle(self):
        return self.width / 2, self.height / 2

    def colour(self, x, y):
        """Returns (red, green, blue) of a point that is drawn."""
        return tuple(self.canvas.run(
            """function(x, y) {
                 const ratio = this.width / this.clientWidth;
                 return [...this.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data].slice(0, 3);
               }""", x, y))

    # --- finding a value -------------------------------------------------------------------------

    def glance(self, points):
        """Returns what the tip says at many points, as quickly as an eye sees what is there: (first,
        last), or None where there is nothing."""
        shown = self.canvas.run(GLANCE, [list(each) for each in points], self.left, self.top)
        return [each and tuple(number(end) for end in (each.split(" – ")[0], each.split(" – ")[-1]))
                for each in shown]

    def grid(self, step, around=None, reach=0):
        """Returns points of the map, all or those around one."""
        x, y = around or (0, 0)
        left, right = (max(0, x - reach), min(self.width, x + reach)) if around else (0, self.width)
        top, bottom = (max(0, y - reach), min(self.height, y + reach)) if around else (0, self.height)
        return [(px, py) for py in steps(top, bottom, step) for px in steps(left, right, step)]

    def find(self, value):
        """Returns a point in the middle of the cell that has the value, wherever it is shown."""
        return middle_of(self.box_of(value))

    def box_of(self, value, coarse=24):
        """Returns left, top, right and bottom of that cell."""
        value = number(value)
        points = self.grid(coarse)
        seen = sorted((distance(value, each), point) for each, point in zip(self.glance(points), points)
                      if each)
        for away, point in seen[:8]:
            at = point if away == 0 else self.near(value, point, coarse)
            if at:
                return self.box(*at)
        if coarse > 6:
            return self.box_of(value, coarse / 2)
        raise AssertionError(f"{value} is not shown")

    def near(self, value, point, reach):
        """Returns a point of the cell that has the value if it is near a point, else None."""
        points = self.grid(3.5, point, reach)
        for each, at in zip(self.glance(points), points):
            if each and each[0] <= value <= each[1]:
                return at
        return None

    def box(self, x, y):
        """Returns left, top, right and bottom of the cell at a point, as far as it is shown."""
        own = self.glance([(x, y)])[0]
        assert own, "there is no cell"
        box, step = [], 3
        for dx, dy in ((-1, 0), (0, -1), (1, 0), (0, 1)):
            line = [(x + dx * i, y + dy * i) for i in range(0, 180, step)]
            line = [each for each in line if 0 <= each[0] < self.width and 0 <= each[1] < self.height]
            same = 0
            for each in self.glance(line):
                if each != own:
                    break
                same += 1
            box.append((x if dx else y) + (dx or dy) * (same - 1) * step)
        return box

    def inside(self, value, at, room=70):
        """Drags a value that is near the border of the map towards its middle, as a person does.
        Returns where it is then."""
        x, y = at
        if room < x < self.width - room and room < y < self.height - room:
            return at
        left, top = self.left, self.top
        self.page.drag((left + x, top + y), tuple(
            begin + (old + middle) / 2 for begin, old, middle in zip((left, top), at, self.middle())))
        self.page.move(left + 2, top + 2)
        return self.find(value)

    def zoom_to(self, value, zoom):
        """Zooms in, by zoom(x, y) at the value, until the tip names the value alone. Returns the point
        and what the tip named on the way."""
        value, seen = number(value), []
        at = self.find(value)
        while True:
            x, y = at = self.inside(value, self.near(value, at, 12) or self.find(value))
            first, last, _ = self.at(x, y)
            assert first <= value <= last, (first, last, value)
            seen.append(last - first + 1)
            if seen[-1] == 1:
                return (x, y), seen
            assert len(seen) < 60, seen
            zoom(x, y)


# Moves over points without the mouse, which would take a message for each of them.
GLANCE = """function(points, left, top) {
    const tip = document.querySelector(".tip");
    return points.map(([x, y]) => {
      this.dispatchEvent(new PointerEvent("pointermove", { clientX: left + x, clientY: top + y }));
      return tip.hidden ? null : tip.querySelector("strong").textContent;
    });
  }"""


def middle_of(box):
    left, top, right, bottom = box
    return (left + right) / 2, (top + bottom) / 2


def steps(first, end, step):
    """Yields first, first + step and so on, below the end."""
    while first < end:
        yield first
        first += step


def distance(value, part):
    """Returns how far a value is from a part."""
    return max(part[0] - value, value - part[1], 0)
