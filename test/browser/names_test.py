#!/usr/bin/env python3
"""A Service may be named, annotated and labelled with whatever Kubernetes lets through. On the page all
of it is text, and nothing of it runs."""

import json
import re

from browser_case import BrowserCase, main, wait_for
from map_page import MapOf
from rough_server import RoughServer, make_service

EVIL = "<script>window.hacked=1</script><img src=x onerror=\"window.hacked=2\">'\"&lt;{{7*7}}${7*7}"
NAME = EVIL.replace("</", "<")  # A slash ends the namespace in what the page asks for.
SPACE = "shop"


def evil_service():
    """Returns a Service with the text in every field that a server of another sort might let through.
    (kube-apiserver checks names and labels; a file or a stand-in does not.)"""
    service = make_service(1, "10.96.0.10", 30010)
    service["metadata"].update(
        name=NAME, namespace=NAME, labels={"app": EVIL, EVIL: "x"},
        annotations={"note": EVIL, EVIL: EVIL, "meta.helm.sh/release-name": EVIL},
        managedFields=[{"manager": EVIL, "operation": "Update", "apiVersion": "v1",
                        "time": "2026-11-16T12:11:09Z", "fieldsType": "FieldsV1",
                        "fieldsV1": {"f:spec": {"f:clusterIP": {}, "f:ports": {}}}}])
    service["spec"]["ports"][0]["name"] = EVIL
    service["spec"]["type"] = "NodePort"
    return service


class NamesTest(BrowserCase):
    def check(self, page):
        """Nothing has run, nothing became an element."""
        self.assertEqual(page.evaluate("[window.hacked ?? 0, document.querySelectorAll('img[src=x]').length, "
                                       "[...document.scripts].filter((each) => !each.src).length]"), [0, 0, 0])
        self.assertNotIn("49", re.findall(r"\{\{.*?\}\}", page.text))

    def test_through_kubernetes_fields(self):
        """What a real server lets through: annotations, names of managers, and names up to the limit."""
        server = self.server(*self.FLAGS)
        self.assertEqual(server.call("POST", "/api/v1/namespaces", {"metadata": {"name": SPACE}}).code, 201)
        long = "a" * 63
        for name, address in (("web", "10.96.0.10"), (long, None)):
            body = {"metadata": {"name": name, "labels": {"app": long, "x.y/z": "A_b.c-1"},
                                 "annotations": {"note": EVIL, "meta.helm.sh/release-name": EVIL,
                                                 "meta.helm.sh/release-namespace": EVIL,
                                                 "argocd.argoproj.io/tracking-id": EVIL}},
                    "spec": {"ports": [{"port": 80}], **({"clusterIP": address} if address else {})}}
            made = server.call("POST", f"/api/v1/namespaces/{SPACE}/services?fieldManager="
                               + "%3Cscript%3Ewindow.hacked%3D1%3C%2Fscript%3E", json.dumps(body),
                               {"Content-Type": "application/json"})
            self.assertEqual(made.code, 201, made)
        page = self.open(self.ui_of(server), "#/?service=shop/web")
        page.find("heading", "shop/web")
        page.see("10.96.0.10")
        self.check(page)
        for path in (f"#/?service={SPACE}/{long}", "#/map?value=10.96.0.10", "#/findings", "#/map?table=1"):
            self.go(page, path)
            page.until("document.readyState === 'complete'")
            self.check(page)
        self.go(page, "#/map?value=10.96.0.10&at=10.96.0.10")
        shown = MapOf(page)
        self.assertIn("shop/web", shown.loaded(*shown.middle())[2])
        self.check(page)

    def test_through_a_server_that_checks_nothing(self):
        cluster = RoughServer(services=[evil_service()])
        self.addCleanup(cluster.stop)
        cluster.version["gitVersion"] = EVIL
        page = self.open(self.ui("--server", cluster.url))
        self.check(page)
        self.assertIn("<script>", page.text)
        self.go(page, "#/map?at=10.96.0.10&value=10.96.0.10")
        page.find("heading", "10.96.0.10")
        page.see(re.escape(NAME[:40]))
        shown = MapOf(page)
        self.assertIn("<script>", " ".join(shown.loaded(*shown.middle())[2]))
        self.check(page)
        self.shot(page, "hostile-names")
        page.click("link", re.compile("^<script>"))
        page.until("/service=/.test(location.hash)")
        wait_for(lambda: "<script>" in page.find("complementary").text)
        self.check(page)
        page.press("/")
        page.type("<script>")
        page.find("option", re.compile("<script>"))
        self.check(page)
        page.press("Enter")
        for path in ("#/findings", "#/map?colour=namespace", "#/map?table=1", "#/"):
            self.go(page, path)
            page.until("document.readyState === 'complete'")
            wait_for(lambda: page.text)
            self.check(page)

    def test_through_the_address_bar(self):
        page = self.open_filled()
        page.allow("status of 40[04]")
        text = "%3Cimg%20src%3Dx%20onerror%3Dwindow.hacked%3D1%3E"
        for path in (f"#/?value={text}", f"#/?service={text}", f"#/map/{text}", f"#/map?find={text}",
                     f"#/map?whatif={text}", f"#/map?part={text}..{text}", f"#/map?at={text}"):
            self.go(page, path)
            page.until("document.readyState === 'complete'")
            self.check(page)
        page.see("<img src=x|Overview|Map")


if __name__ == "__main__":
    main()
