#!/usr/bin/env python3
"""Who gets the page of `berth ui`: the browser that followed the link, and no other site in it."""

import html
import http.server
import re
import threading

from browser_case import BrowserCase, main, wait_for
from harness import free_ports

# A refusal has no icon either.
REFUSED = r"the server responded with a status of (40[135]|404 .*favicon)|untrustworthy"
DATA = "/ui/v1/overview"


class Site:
    """Another web site, with pages that the test writes."""

    def __init__(self):
        pages = self.pages = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                body = pages.get(self.path, "").encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.port = free_ports(1)[0]
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class SecretTest(BrowserCase):
    def site(self):
        site = Site()
        self.addCleanup(site.stop)
        return site

    def other(self):
        """Returns a tab of another person's browser."""
        from browser_case import browser  # pylint: disable=import-outside-toplevel
        context = browser().context()
        self.addCleanup(context.close)
        return context.page()

    def watch(self, page, origin):
        """Collects the statuses of what an origin answers to a page: {path: [status]}."""
        seen = {}
        listen = page.listen

        def heard(method, params):
            if method == "Network.responseReceived" and params["response"]["url"].startswith(origin):
                seen.setdefault(params["response"]["url"][len(origin):], []).append(
                    params["response"]["status"])
            if method == "Network.responseReceivedExtraInfo":
                seen.setdefault("extra", []).append(params["statusCode"])
            listen(method, params)
        page.browser.listeners[page.session] = heard
        page.call("Network.enable")
        return seen

    # --- the link --------------------------------------------------------------------------------

    def test_without_the_link_the_page_says_how_to_get_in(self):
        ui = self.ui_of(self.server())
        page = self.context.page()
        page.allow(REFUSED)
        page.go(ui.origin + "/")
        page.see("This page needs its link")
        page.see("the link that stands in the terminal")
        for path in ("/ui/v1/session", DATA, "/ui/v1/events", "/app.js"):
            status = page.evaluate(f"fetch({path!r}).then((answer) => answer.status)")
            self.assertEqual(status, 401, path)
        page.go(ui.origin + "/open/wrong")
        self.assertNotIn("Overview", page.text)

    def test_a_link_works_in_one_browser(self):
        ui = self.ui_of(self.server())
        used = ui.link
        page = self.open(ui)
        self.assertNotIn(used.rsplit("/", 1)[-1], page.url)
        thief = self.other()
        thief.allow(REFUSED)
        thief.go(used)
        thief.see("This page needs its link")  # It goes on to the page, should this be its browser.
        thief.see("a new one stands in the terminal")
        thief.go(ui.origin + "/")
        thief.see("This page needs its link")
        self.assertEqual(thief.context.cookies(), [])
        # The person in front of the terminal got another link, which is for whom she wants.
        wait_for(lambda: len(ui.links()) == 2)
        self.assertNotEqual(ui.link, used)
        self.open(ui, page=thief)
        page.reload()
        page.find("heading", "Overview")

    def test_the_cookie_stays_in_the_browser(self):
        server = self.server()
        first, second = self.ui_of(server), self.ui_of(server)
        pages = [self.open(first), self.open(second)]
        cookies = self.context.cookies()
        # Cookies of 127.0.0.1 are shared by all ports, so each process has a name of its own.
        self.assertEqual(len({each["name"] for each in cookies}), 2, cookies)
        for each in cookies:
            self.assertTrue(each["httpOnly"], each)
            self.assertEqual(each["sameSite"], "Strict", each)
        for page in pages:
            self.assertEqual(page.evaluate("document.cookie"), "")
            page.reload()
            page.find("heading", "Overview")
        # What the page knows has no credential of the cluster in it.
        said = page.evaluate(f"fetch({DATA!r}).then((answer) => answer.text())")
        self.assertNotRegex(said, "BEGIN|PRIVATE|client-key|token")

    # --- other sites -----------------------------------------------------------------------------

    def test_a_name_that_leads_here_is_refused(self):
        ui = self.ui_of(self.server())
        self.open(ui)
        page = self.context.page()
        page.allow(REFUSED)
        rebound = f"http://rebound.test:{ui.port}"
        page.go(rebound + "/")
        self.assertNotIn("Overview", page.text)
        page.see(r'"code":\s*403')
        for path in (DATA, "/ui/v1/events", "/app.js"):
            status = page.evaluate(f"fetch({path!r}).then((answer) => answer.status)")
            self.assertEqual(status, 403, path)
        # Not with the secret either.
        page.go(rebound + "/" + ui.link.split("/", 3)[3])
        page.see(r'"code":\s*403')
        self.assertEqual({each["domain"] for each in self.context.cookies()}, {"127.0.0.1"})

    def test_other_sites_get_nothing(self):
        ui = self.ui_of(self.server())
        home = self.open(ui)
        site = self.site()
        target = html.escape(ui.origin + DATA)
        site.pages["/"] = f"""<!doctype html><title>Other</title><body>
            <script src="{target}"></script><img src="{target}"><link rel=stylesheet href="{target}">
            <iframe src="{ui.origin}/"></iframe><h1>Other</h1>"""
        # The same host with another port is the same site to a browser, which sends the cookie.
        for origin in (f"http://127.0.0.1:{site.port}", f"http://other.test:{site.port}"):
            page = self.context.page()
            page.allow(REFUSED)
            page.allow("blocked by CORS|Refused to|violates the following|net::ERR_BLOCKED"
                       "|net::ERR_FAILED|Framing")
            seen = self.watch(page, ui.origin)
            page.go(origin + "/")
            page.find("heading", "Other")
            for mode in ("cors", "no-cors"):
                got = page.evaluate(
                    f"fetch({ui.origin + DATA!r}, {{mode: {mode!r}, credentials: 'include'}})"
                    ".then((answer) => answer.text()).then((text) => 'got ' + text, () => 'failed')")
                self.assertNotIn("ranges", got)
            got = page.evaluate(
                f"new Promise((done) => {{ const all = new EventSource({ui.origin + '/ui/v1/events'!r},"
                " {withCredentials: true}); all.onerror = () => done('error ' + all.readyState);"
                " all.onopen = () => done('open') })")
            self.assertEqual(got, "error 2", origin)
            statuses = [status for path, each in seen.items() if path.startswith("/ui/v1/")
                        for status in each] + seen.get("extra", [])
            self.assertTrue(set(statuses) - {200}, (origin, seen))
            self.assertNotIn(200, [each for path, found in seen.items() if path.startswith("/ui/")
                                   for each in found], (origin, seen))
            self.assertEqual(page.evaluate("window.frames.length && (() => { try { return "
                                           "frames[0].document.body.innerText } catch { return '' } "
                                           "})()") or "", "")
        home.reload()
        home.find("heading", "Overview")

    def test_a_form_of_another_site_is_refused(self):
        ui = self.ui_of(self.server())
        self.open(ui)
        site = self.site()
        for number, (method, path) in enumerate((("post", DATA), ("post", "/ui/v1/session"),
                                                 ("get", DATA), ("post", "/"))):
            site.pages[f"/{number}"] = (f"<form method={method} action='{ui.origin}{path}' "
                                        "enctype='text/plain'><button>Send</button></form>")
            for origin in (f"http://127.0.0.1:{site.port}", f"http://other.test:{site.port}"):
                page = self.context.page()
                page.allow(REFUSED)
                page.go(f"{origin}/{number}")
                page.click("button", "Send")
                page.until(f"location.origin === {ui.origin!r}")
                said = page.see(r'"code":\s*(\d+)|This page needs its link|[Oo]nly to be read')
                self.assertIn(said[1], ("401", "403", "405", None), (method, path, origin))
                self.assertNotIn("ranges", page.text)

    def test_a_link_of_another_site_leads_to_the_page_only(self):
        ui = self.ui_of(self.server())
        self.open(ui)
        site = self.site()
        site.pages["/"] = f"<a href='{ui.origin}/' target=_self>Look</a>"
        page = self.context.page()
        page.allow(REFUSED)
        page.go(f"http://other.test:{site.port}/")
        page.click("link", "Look")
        page.until(f"location.origin === {ui.origin!r}")
        # A strict cookie does not come with it. The next step in the same tab does.
        page.see("Overview|This page needs its link")
        page.go(ui.origin + "/")
        page.find("heading", re.compile("Overview"))


if __name__ == "__main__":
    main()
