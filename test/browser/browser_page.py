"""A tab: a test looks at it, clicks and types as a person does.

Things on the page are found by role and label, as a screen reader finds them. Clicks, keys, the wheel
and fingers are events of the browser, so a thing that is covered, hidden or disabled cannot be used.
"""

import base64
import json
import os
import re

import harness
from browser_keys import KEYS, MODIFIERS
from harness import wait_for

PATIENCE = int(os.environ.get("BROWSER_PATIENCE", harness.PATIENCE))

# What Chromium calls roles otherwise than ARIA.
ROLE_NAMES = {"image": "img", "canvas": "img", "Canvas": "img", "searchbox": "searchbox",
              "comboBoxSelect": "combobox", "StaticText": "text"}


class ProtocolError(Exception):
    """The browser refused a call."""


class Page:
    def __init__(self, context, target, session, width, height):
        self.context, self.target, self.session = context, target, session
        self.browser = context.browser
        self.said = []      # Messages of the console and exceptions.
        self.allowed = []   # Patterns of messages that the test causes.
        self.loads = 0
        self.mouse = (0, 0)
        self.browser.listeners[session] = self.listen
        for domain in ("Page", "Runtime", "Log", "DOM", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", {"enabled": True})
        self.resize(width, height)

    def call(self, method, params=None, **more):
        return self.browser.call(method, params, self.session, **more)

    # --- what it says ----------------------------------------------------------------------------

    def listen(self, method, params):
        if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            texts = [str(each.get("value", each.get("description"))) for each in params["args"]]
            self.said.append(f"console.{params['type']}: {' '.join(texts)}")
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            thrown = details.get("exception", {}).get("description", "")
            self.said.append(f"exception: {details['text']} {thrown}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            entry = params["entry"]
            self.said.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")
        elif method == "Page.loadEventFired":
            self.loads += 1

    def allow(self, pattern):
        """Expects messages of the console that match."""
        self.allowed.append(pattern)

    def complaints(self):
        """Returns what the console said and no pattern allows."""
        return [each for each in self.said
                if not any(re.search(pattern, each) for pattern in self.allowed)]

    # --- going somewhere -------------------------------------------------------------------------

    def go(self, url):
        """Goes to an address and waits until it is loaded."""
        before = self.loads
        went = self.call("Page.navigate", {"url": url})
        if went.get("errorText") or not went.get("loaderId"):  # Failed, or only the part after "#".
            return went.get("errorText")
        wait_for(lambda: self.loads > before)
        return None

    def reload(self):
        before = self.loads
        self.call("Page.reload")
        wait_for(lambda: self.loads > before)

    def history(self, step):
        """Goes back (-1) or forward (1), as with the browser's buttons."""
        known = self.call("Page.getNavigationHistory")
        entry = known["entries"][known["currentIndex"] + step]
        self.call("Page.navigateToHistoryEntry", {"entryId": entry["id"]})

    def close(self):
        """Closes the tab."""
        self.context.pages.remove(self)
        self.browser.listeners.pop(self.session)
        self.browser.call("Target.closeTarget", {"targetId": self.target})

    @property
    def url(self):
        return self.evaluate("location.href")

    def evaluate(self, expression, user=False):
        """Returns the value of an expression of JavaScript, or of its promise."""
        done = self.call("Runtime.evaluate", {
            "expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": user})
        if "exceptionDetails" in done:
            raise AssertionError(f"{expression}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def look(self, expression):
        """Evaluates an expression, or returns None while the page goes to another address."""
        try:
            return self.evaluate(expression)
        except ProtocolError:
            return None

    def until(self, expression, limit=PATIENCE):
        """Waits until an expression is true, and returns it."""
        try:
            return wait_for(lambda: self.look(expression), limit)
        except AssertionError as error:
            raise AssertionError(f"waited in vain for {expression}; the page says: "
                                 f"{self.text[:1500]!r}") from error

    # --- looking ---------------------------------------------------------------------------------

    @property
    def text(self):
        """Returns the text that is seen."""
        return self.look("document.body ? document.body.innerText : ''") or ""

    def see(self, pattern, limit=PATIENCE):
        """Waits until the page shows a text that matches. Returns the match."""
        try:
            return wait_for(lambda: re.search(pattern, self.text), limit)
        except AssertionError as error:
            raise AssertionError(f"the page does not show {pattern!r}: {self.text[:2500]!r}") from error

    def all(self, role=None, name=None, within=None):
        """Returns the things of a role whose label is the name, or matches it if it is a pattern."""
        tree = self.call("Accessibility.getFullAXTree")["nodes"]
        nodes = {each["nodeId"]: each for each in tree}
        inside = set(descendants(nodes, within)) if within else None
        found = []
        for each in tree:
            if each.get("ignored") or "backendDOMNodeId" not in each:
                continue
            if inside is not None and each["nodeId"] not in inside:
                continue
            node = Node(self, each)
            if (role is None or node.role == role) and fits(node.name, name):
                found.append(node)
        return found

    def find(self, role, name=None, within=None, limit=PATIENCE):
        """Waits for a thing and returns the first one."""
        try:
            return wait_for(lambda: self.all(role, name, within), limit)[0]
        except AssertionError as error:
            there = sorted({(each.role, each.name) for each in self.all()
                            if each.role not in ("text", "InlineTextBox", "generic")})
            raise AssertionError(f"no {role} {name!r} among {there}") from error

    def gone(self, role, name=None, limit=PATIENCE):
        """Waits until there is no such thing."""
        wait_for(lambda: not self.all(role, name), limit)

    def click(self, role, name=None, within=None):
        """Clicks a thing as soon as it is there and nothing covers it."""
        covered = [None]

        def done():
            node = self.find(role, name, within)
            try:
                covered[0] = node.covered()
            except ProtocolError:  # It was drawn anew.
                return None
            return None if covered[0] else node
        try:
            node = wait_for(done, PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"{role} {name!r} is covered by {covered[0]}") from error
        self.click_at(*node.middle())
        return node

    def focused(self):
        """Returns what has the focus: role and label."""
        for node in self.all():
            if node.properties.get("focused") and node.role != "RootWebArea":
                return node
        return None

    # --- acting ----------------------------------------------------------------------------------

    def press(self, *keys):
        """Presses keys one after the other, such as "a", "Tab" or "Shift+Tab"."""
        for each in keys:
            *held, key = each.split("+") if each != "+" else [each]
            if each.endswith("++"):
                held, key = each[:-2].split("+"), "+"
            code, number, text = KEYS.get(key) or (f"Key{key.upper()}", ord(key.upper()[0]), key)
            bits = sum(MODIFIERS[name] for name in held)
            event = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": bits}
            if text and not bits & ~MODIFIERS["Shift"]:
                event["text"] = text
            self.call("Input.dispatchKeyEvent", {"type": "keyDown", **event})
            event.pop("text", None)
            self.call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def type(self, text):
        for each in text:
            self.press(each)

    def replace(self, text):
        """Types over the text of the field that has the focus."""
        self.call("Input.dispatchKeyEvent", {
            "type": "keyDown", "key": "a", "code": "KeyA", "windowsVirtualKeyCode": 65,
            "modifiers": MODIFIERS["Control"], "commands": ["selectAll"]})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", "key": "a", "code": "KeyA",
                                             "windowsVirtualKeyCode": 65})
        self.press("Backspace")
        self.type(text)

    def point(self, kind, x, y, **more):
        self.mouse = (x, y)
        self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def move(self, x, y):
        self.point("mouseMoved", x, y)

    def click_at(self, x, y):
        self.move(x, y)
        held = {"button": "left", "clickCount": 1}
        self.point("mousePressed", x, y, buttons=1, **held)
        self.point("mouseReleased", x, y, buttons=0, **held)

    def drag(self, start, end, steps=8):
        """Drags with the left button, in steps, as a hand does."""
        held = {"button": "left", "clickCount": 1}
        self.move(*start)
        self.point("mousePressed", *start, buttons=1, **held)
        for i in range(1, steps + 1):
            x, y = (a + (b - a) * i / steps for a, b in zip(start, end))
            self.point("mouseMoved", x, y, button="left", buttons=1)
        self.point("mouseReleased", *end, buttons=0, **held)

    def wheel(self, x, y, dy, dx=0, held=()):
        bits = sum(MODIFIERS[name] for name in held)
        self.point("mouseWheel", x, y, deltaX=dx, deltaY=dy, modifiers=bits)

    def pinch(self, x, y, before, after, steps=8):
        """Puts two fingers on the screen and changes their distance."""
        def fingers(distance):
            return [{"x": x - distance / 2, "y": y, "id": 1}, {"x": x + distance / 2, "y": y, "id": 2}]
        self.call("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": fingers(before)})
        for i in range(1, steps + 1):
            distance = before + (after - before) * i / steps
            self.call("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": fingers(distance)})
        self.call("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def tap(self, x, y):
        self.call("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        self.call("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    # --- how it is shown -------------------------------------------------------------------------

    def resize(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone})
        self.call("Emulation.setTouchEmulationEnabled", {"enabled": phone, "maxTouchPoints": 2 if phone else 1})

    def prefer(self, **features):
        """Sets what the reader prefers: color_scheme="dark", reduced_motion="reduce"."""
        self.call("Emulation.setEmulatedMedia", {"features": [
            {"name": f"prefers-{name.replace('_', '-')}", "value": value}
            for name, value in features.items()]})

    def picture(self, whole=False):
        """Returns what is seen as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", {
            "format": "png", "captureBeyondViewport": whole})["data"])

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", {"printBackground": True})["data"])


class Node:
    """A thing on the page, as a screen reader sees it at that moment."""

    def __init__(self, page, data):
        self.page, self.data = page, data
        role = data.get("role", {}).get("value", "")
        self.role = ROLE_NAMES.get(role, role)
        self.name = " ".join(str(data.get("name", {}).get("value", "")).split())
        self.properties = {each["name"]: each["value"].get("value")
                           for each in data.get("properties", ())}

    def __repr__(self):
        return f"{self.role} {self.name!r}"

    @property
    def value(self):
        return self.data.get("value", {}).get("value")

    @property
    def id(self):
        return {"backendNodeId": self.data["backendDOMNodeId"]}

    def run(self, function, *args):
        """Calls a function of JavaScript with this as the element."""
        handle = self.page.call("DOM.resolveNode", self.id)["object"]["objectId"]
        done = self.page.call("Runtime.callFunctionOn", {
            "objectId": handle, "functionDeclaration": function, "returnByValue": True,
            "awaitPromise": True, "arguments": [{"value": each} for each in args]})
        if "exceptionDetails" in done:
            raise AssertionError(f"{function}: {done['exceptionDetails']}")
        return done["result"].get("value")

    @property
    def text(self):
        return self.run("function() { return this.innerText ?? this.textContent }")

    def attribute(self, name):
        return self.run("function(name) { return this.getAttribute(name) }", name)

    def box(self):
        """Returns left, top, width and height in the window."""
        return self.run("function() { const r = this.getBoundingClientRect(); "
                        "return [r.left, r.top, r.width, r.height] }")

    def middle(self):
        left, top, width, height = self.box()
        return left + width / 2, top + height / 2

    def covered(self):
        """Brings it into view. Returns what covers it, or None."""
        self.page.call("DOM.scrollIntoViewIfNeeded", self.id)
        return self.run("""function(x, y) {
            const hit = document.elementFromPoint(x, y);
            if (hit && (this.contains(hit) || hit.contains(this) || hit.closest("label")?.control === this))
              return null;
            return hit ? hit.outerHTML.slice(0, 200) : "nothing";
          }""", *self.middle())

    def click(self):
        covered = self.covered()
        assert covered is None, f"{self} is covered by {covered}"
        self.page.click_at(*self.middle())

    def focus(self):
        self.page.call("DOM.focus", self.id)

    def fill(self, text):
        """Clicks into a field and types over what is there."""
        self.click()
        self.page.replace(text)

    def choose(self, text):
        """Chooses an option of a list by its text, with keys."""
        self.focus()
        options = self.run("function() { return [...this.options].map((each) => each.text) }")
        wanted = [i for i, each in enumerate(options) if fits(each, text)]
        assert wanted, f"no {text!r} among {options}"
        self.page.press("Home", *["ArrowDown"] * wanted[0])


def descendants(nodes, root):
    """Yields the ids of what is below a node."""
    by_dom = {each.get("backendDOMNodeId"): each for each in nodes.values()}
    left = [by_dom.get(root.data["backendDOMNodeId"], root.data)["nodeId"]]
    while left:
        node = nodes.get(left.pop())
        if node:
            yield node["nodeId"]
            left += node.get("childIds", ())


def fits(text, wanted):
    """Returns whether a text is, or matches, what is wanted."""
    text = " ".join(text.split())
    if wanted is None or isinstance(wanted, str):
        return wanted is None or text == wanted
    return bool(wanted.search(text))


def quoted(value):
    """Returns a value as JavaScript."""
    return json.dumps(value)
