#!/usr/bin/env python3
"""`berth observe --ui`: people of a team sign in with a token that the cluster knows."""

import re

from browser_case import BrowserCase, Program, browser, main, wait_for
from authority import Authority
from harness import free_ports
from reviews import Reviews
from rough_server import RoughServer, make_services

OWN = "token-of-the-observer"


class TeamReviews(Reviews):
    """Who may list Services is said by name."""

    def __init__(self, *may_list):
        super().__init__()
        self.may_list = may_list

    def ask_whether(self, spec, review):
        wanted = spec.get("resourceAttributes")
        if not wanted:
            return super().ask_whether(spec, review)
        allowed = (spec["user"] in self.may_list and wanted["verb"] == "list"
                   and wanted["resource"] == "services" and not wanted.get("namespace"))
        return 201, {**review, "status": {"allowed": allowed}}


class TeamCase(BrowserCase):
    """An observer of a cluster in which jane may list Services and eve may not."""

    def setUp(self):
        super().setUp()
        authority = Authority(self.folder, "ca")
        pair = authority.server("server", "IP:127.0.0.1,DNS:localhost")
        self.cluster = RoughServer(services=make_services(20, node_ports=3))
        self.addCleanup(lambda: self.cluster.stopping or self.cluster.stop())
        self.reviews = self.cluster.reviews = TeamReviews("jane")
        self.reviews.add("of-jane", "jane")
        self.reviews.add("of-eve", "eve")
        port = free_ports(1)[0]
        self.observer = Program(
            self.folder, "observe", "--ui", "--server", self.cluster.url, "--data-dir",
            self.path("observer"), "--listen", f"0.0.0.0:{port}", "--tls-cert-file", pair[0],
            "--tls-private-key-file", pair[1], name="observer")
        self.addCleanup(self.observer.kill)
        self.url = f"https://127.0.0.1:{port}/"

    def tab(self, context=None):
        """Returns a tab that trusts the certificate of the test."""
        page = (context or self.context).page()
        page.allow("status of (401|403)|favicon|Canvas2D: Multiple readback")
        page.call("Security.setIgnoreCertificateErrors", {"ignore": True})
        wait_for(lambda: page.go(self.url) is None)
        return page

    def sign_in(self, page, token="of-jane"):
        page.find("textbox", "Token").fill(token)
        page.click("button", "Sign in")


class TeamTest(TeamCase):
    def test_a_token_opens_the_page(self):
        page = self.tab()
        page.find("heading", "Sign in to Berth")
        self.shot(page, "sign-in")
        self.assertEqual(page.find("textbox", "Token").attribute("type"), "password")
        self.assertEqual(page.focused().name, "Token")
        self.sign_in(page)
        page.find("heading", "Overview")
        page.see("20 Services in")
        page.see("jane")
        page.reload()
        page.find("heading", "Overview")
        cookies = self.context.cookies()
        self.assertEqual([(each["httpOnly"], each["secure"], each["sameSite"]) for each in cookies],
                         [(True, True, "Strict")], cookies)
        self.assertNotIn("of-jane", str(cookies))
        self.assertEqual(page.evaluate("document.cookie + JSON.stringify({...localStorage, ...sessionStorage})"),
                         "{}")
        self.cluster.assert_only_reads()

    def test_a_wrong_token_is_said(self):
        page = self.tab()
        self.sign_in(page, "nobodys")
        wait_for(lambda: page.all("alert") and re.search("(?i)token", page.find("alert").text))
        self.shot(page, "sign-in-wrong")
        self.sign_in(page, "of-eve")
        page.see("(?i)may not list the Services")
        self.sign_in(page)
        page.find("heading", "Overview")

    def test_signing_out_ends_it_everywhere(self):
        page, other = self.tab(), None
        self.sign_in(page)
        page.find("heading", "Overview")
        other = self.tab()
        other.find("heading", "Overview")
        page.click("button", "Sign out")
        page.find("heading", "Sign in to Berth")
        other.find("heading", "Sign in to Berth")
        status = page.evaluate("fetch('/ui/v1/overview').then((answer) => answer.status)")
        self.assertEqual(status, 401)

    def test_sessions_are_apart(self):
        page = self.tab()
        self.sign_in(page)
        page.find("heading", "Overview")
        context = browser().context()
        self.addCleanup(context.close)
        other = self.tab(context)
        other.find("heading", "Sign in to Berth")
        for path in ("overview", "events", "details?value=10.96.0.1", "findings"):
            status = other.evaluate(f"fetch('/ui/v1/{path}').then((answer) => answer.status)")
            self.assertEqual(status, 401, path)

    def test_history_is_shown(self):
        page = self.tab()
        self.sign_in(page)
        page.find("heading", "Overview")
        service = make_services(30)[25]
        self.cluster.put("services", service)
        page.see("21 Services in")
        address = service["spec"]["clusterIP"]
        self.go(page, f"#/?value={address}")
        page.find("heading", "Its past")
        page.find("link", f"{service['metadata']['namespace']}/{service['metadata']['name']}")
        self.shot(page, "details-past")
        self.cluster.delete("services", service["metadata"]["name"], service["metadata"]["namespace"])
        page.see("Released between")

    def test_the_form_works_on_a_phone_and_by_keys(self):
        page = self.tab()
        page.resize(390, 844, phone=True)
        page.prefer(color_scheme="dark")
        page.find("heading", "Sign in to Berth")
        self.assertEqual(page.evaluate("document.documentElement.scrollWidth"), 390)
        self.shot(page, "sign-in-390-dark")
        page.find("textbox", "Token").focus()
        page.type("of-jane")
        page.press("Enter")
        page.find("heading", "Overview")


if __name__ == "__main__":
    main()
