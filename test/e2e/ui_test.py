#!/usr/bin/env python3
"""`berth ui`: who gets the page, what it gets, and what it hears of changes. No browser is needed."""

import gzip
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.parse

import harness
from harness import BERTH, PATIENCE, environment, wait_for
from pages import LINK, Page, read_until
from rough_server import RoughServer, make_service, make_services

API = "/ui/v1/"
DOCUMENTS = ("overview", "findings", "range?range=x", "tile?range=x&bits=0&index=0", "table?range=x",
             "details?value=10.96.0.1", "search?q=x", "whatif?range=x&to=10.0.0.0/8", "session",
             "events")
FILES = ("/", "/app.js", "/app.css", "/icon.svg")
EVERYWHERE = FILES + tuple(API + each for each in DOCUMENTS) + (
    "/open/", "/open/" + "0" * 64, "/ui", "/ui/", "/ui/v1", "/ui/v2/overview", "/metrics", "/nowhere")


class UiCase(harness.Case):
    def file(self, services, name="services.json"):
        path = self.path(name)
        items = [{"apiVersion": "v1", "kind": "Service", **each} for each in services]
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"apiVersion": "v1", "kind": "List", "items": items}, out)
        return path

    def start(self, *flags, **more):
        return Page.start(self, *flags, **more)

    def of_file(self, services=None, opened=True):
        page = self.start("-f", self.file(services or make_services(30, node_ports=5)),
                          "--service-cidr", "10.96.0.0/24")
        if opened:
            page.open()
        return page

    def cluster(self, services=None, **more):
        cluster = RoughServer(services=services or make_services(10), **more)
        self.addCleanup(lambda: cluster.stopping or cluster.stop())
        return cluster

    def of_cluster(self, cluster):
        page = self.start("--server", cluster.url)
        page.open()
        wait_for(lambda: page.get(API + "overview").code == 200)
        return page


class LinkTest(UiCase):
    def test_a_link_opens_the_page_once(self):
        page = self.of_file(opened=False)
        first = page.open()
        self.assertEqual(first.code, 200)
        self.assertIn(b'http-equiv="refresh" content="0; url=/"', first.body)
        self.assertNotIn(b"<script", first.body)
        cookie = first.headers["set-cookie"]
        name = r"berth-[0-9a-f]{12}"
        self.assertRegex(cookie, rf"\A{name}=[0-9a-f]{{64}}; Path=/; HttpOnly; SameSite=Strict\Z")
        self.assertEqual(page.get("/").code, 200)
        again = page.get(page.link, cookie=False)
        self.assertEqual(again.code, 401)
        self.assertNotIn("set-cookie", again.headers)
        self.assertIn(b"This link was used", again.body)
        # A browser that has the cookie gets on to the page.
        self.assertIn(b'content="0; url=/"', page.get(page.link).body)
        # The person in front of the terminal gets another link, for another browser.
        found = read_until(page.process, LINK)
        self.assertNotEqual(found[3], page.link)
        self.assertEqual(page.get(found[3], cookie=False).code, 200)

    def test_looking_at_a_link_does_not_use_it(self):
        page = self.of_file(opened=False)
        self.assertNotIn("set-cookie", page.call("HEAD", page.link).headers)
        prefetch = page.get(page.link, headers={"Sec-Purpose": "prefetch"})
        self.assertEqual((prefetch.code, "set-cookie" in prefetch.headers), (403, False))
        self.assertEqual(page.open().code, 200)

    def test_a_cookie_is_of_one_process(self):
        pages = [self.of_file() for _ in range(2)]
        names = {page.cookie.split("=")[0] for page in pages}
        self.assertEqual(len(names), 2)
        self.assertEqual(pages[0].get("/", headers={"Cookie": pages[1].cookie}).code, 401)
        both = "; ".join(page.cookie for page in pages)
        self.assertEqual(pages[0].get("/", headers={"Cookie": both}).code, 200)

    def test_nothing_without_the_secret(self):
        page = self.of_file()
        wrong = ("", "x=y", page.cookie[:-1], page.cookie + "0", page.cookie.split("=")[0] + "=",
                 page.cookie.upper(), "x" + page.cookie, page.cookie.replace("=", "=="))
        for path in EVERYWHERE:
            for cookie in wrong:
                answer = page.get(path, headers={"Cookie": cookie}, cookie=False)
                self.assertEqual(answer.code, 401, (path, cookie))
                self.assertNotIn(b"10.96", answer.body)

    def test_open_starts_the_browser(self):
        folder = self.path("bin")
        os.mkdir(folder)
        seen = self.path("seen")
        with open(os.path.join(folder, "xdg-open"), "w", encoding="utf-8") as out:
            out.write(f'#!/bin/sh\nprintf "%s\\n" "$#" "$1" > {seen}.new\nmv {seen}.new {seen}\n')
        os.chmod(os.path.join(folder, "xdg-open"), 0o700)
        page = self.start("-f", self.file(make_services(1)), "--open",
                          PATH=f"{folder}:{os.environ['PATH']}")
        wait_for(lambda: os.path.exists(seen))
        with open(seen, encoding="utf-8") as text:
            self.assertEqual(text.read(), f"1\nhttp://{page.host}{page.link}\n")
        nowhere = self.start("-f", self.file(make_services(1)), "--open", PATH=self.path("empty"))
        self.assertIn(b"open the link yourself", nowhere.process.stderr.readline())


class OtherSitesTest(UiCase):
    def test_dns_rebinding(self):
        page = self.of_file()
        for host in ("evil.com", f"evil.com:{page.port}", "127.0.0.1", "127.0.0.1:1", "",
                     f"localhost.evil.com:{page.port}", f"127.0.0.1:{page.port}.evil.com",
                     f"[::2]:{page.port}", f"127.0.0.2:{page.port}"):
            for path in EVERYWHERE:
                self.assertEqual(page.get(path, headers={"Host": host}).code, 403, (host, path))
        self.assertEqual(page.get(page.link, headers={"Host": "evil.com"}, cookie=False).code, 403)
        for host in (f"localhost:{page.port}", f"[::1]:{page.port}", f"LOCALHOST:{page.port}"):
            self.assertEqual(page.get("/", headers={"Host": host}).code, 200)

    def test_requests_of_other_sites(self):
        page = self.of_file()
        own = f"http://127.0.0.1:{page.port}"
        refused = [{"Origin": each} for each in (
            "null", "http://evil.com", "https://127.0.0.1", own + "1", own.replace("http", "https"),
            "http://127.0.0.1:1")]
        refused += [{"Sec-Fetch-Site": each} for each in ("cross-site", "same-site", "x", "")]
        # Navigations to data, frames and forms.
        refused += [{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors",
                     "Sec-Fetch-Dest": each} for each in ("script", "image", "iframe", "embed")]
        for headers in refused:
            for path in ("/app.js", API + "overview", API + "events", API + "session"):
                self.assertEqual(page.get(path, headers=headers).code, 403, (headers, path))
        self.assertEqual(page.get(API + "overview", headers={
            "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document"}).code, 403)
        for headers in ({"Origin": own}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
            self.assertEqual(page.get(API + "overview", headers=headers).code, 200, headers)

    def test_a_link_of_another_site_may_be_followed(self):
        page = self.of_file(opened=False)
        visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
                 "Sec-Fetch-Dest": "document"}
        answer = page.get(page.link, headers=visit)
        self.assertEqual(answer.code, 200)
        page.take_cookie(answer)
        # The browser does not show a strict cookie then. A person who has it goes on with a click.
        closed = page.get("/", headers=visit, cookie=False)
        self.assertEqual(closed.code, 401)
        self.assertIn(b'<a href="/">', closed.body)


class AnswersTest(UiCase):
    def test_every_answer_has_its_headers(self):
        page = self.of_file()
        answers = [page.get(path, cookie=cookie) for path in EVERYWHERE
                   if not path.endswith("events") for cookie in (True, False)]
        answers += [page.get("/", headers={"Host": "evil.com"}), page.call("POST", "/"),
                    page.call("OPTIONS", API + "overview"),
                    page.get("/app.js", headers={"If-None-Match": "*"}),
                    page.get(API + "tile?range=" + "x" * 600)]
        with page.events() as stream:
            answers.append(stream.answer)
        for answer in answers:
            headers = {name.lower(): value for name, value in dict(answer.headers).items()}
            policy = headers["content-security-policy"]
            self.assertTrue(policy.startswith("default-src 'none'; script-src 'self'; "), policy)
            for part in ("style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
                         "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"):
                self.assertIn(part, policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["x-content-type-options"], "nosniff")
            self.assertEqual(headers["referrer-policy"], "same-origin")
            self.assertEqual(headers["cross-origin-opener-policy"], "same-origin")
            self.assertEqual(headers["cross-origin-resource-policy"], "same-origin")
            self.assertIn(headers["cache-control"], ("no-store", "no-cache"))
            self.assertNotIn("access-control-allow-origin", headers)

    def test_the_page_needs_nothing_from_elsewhere(self):
        page = self.of_file()
        index = page.get("/").body.decode()
        self.assertNotRegex(index, r"<script[^>]*>[^<]|<style|\son\w+=|https?://")
        for path in re.findall(r'(?:src|href)="([^"#]+)"', index):
            self.assertEqual(page.get(path).code, 200, path)

    def test_files_are_compressed(self):
        page = self.of_file()
        plain = page.get("/app.js")
        self.assertNotIn("content-encoding", plain.headers)
        zipped = page.get("/app.js", headers={"Accept-Encoding": "gzip, deflate"})
        self.assertEqual(zipped.headers["content-encoding"], "gzip")
        self.assertEqual(gzip.decompress(zipped.body), plain.body)
        best = page.get("/app.js", headers={"Accept-Encoding": "gzip, deflate, br, zstd"})
        self.assertEqual(best.headers["content-encoding"], "br")
        self.assertLess(len(best.body), len(zipped.body))
        self.assertEqual(page.get("/app.js", headers={"Accept-Encoding": "br;q=0"}).body, plain.body)
        self.assertEqual(plain.headers["vary"], "Accept-Encoding")
        tags = {each.headers["etag"] for each in (plain, zipped, best)}
        self.assertEqual(len(tags), 3)
        # The issue allows 200 KB for everything.
        total = sum(len(page.get(path, headers={"Accept-Encoding": "br"}).body) for path in FILES)
        self.assertLess(total, 200_000)

    def test_what_has_not_changed_is_not_sent_again(self):
        page = self.of_file()
        for path in (*FILES, API + "overview", API + "findings", API + "search?q=10.96.0.1"):
            first = page.get(path)
            tag = first.headers["etag"]
            self.assertRegex(tag, r'\A"[^"]+"\Z')
            again = page.get(path, headers={"If-None-Match": f'"x", {tag}'})
            self.assertEqual((again.code, again.body, again.headers["etag"]), (304, b"", tag), path)
            self.assertEqual(page.get(path, headers={"If-None-Match": '"x"'}).code, 200)
        # A scene of another process is another one.
        self.assertNotEqual(self.of_file().get(API + "overview").headers["etag"],
                            page.get(API + "overview").headers["etag"])

    def test_methods(self):
        page = self.of_file()
        for path in ("/", "/app.js", API + "overview", API + "session", "/nowhere"):
            for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO", "get"):
                answer = page.call(method, path)
                self.assertIn(answer.code, (400, 405, 501), (method, path))
        for path in ("/", "/app.js", API + "overview"):
            head, get = page.call("HEAD", path), page.get(path)
            self.assertEqual((head.code, head.body), (200, b""), path)
            self.assertEqual(head.headers["etag"], get.headers["etag"])

    def test_paths_are_exact(self):
        page = self.of_file()
        for path in ("//", "/index.html", "/App.js", "/app.js/", "/app.js%00", "/%61pp.js", "/./app.js",
                     "/../app.js", "/ui/../app.js", "/ui//v1/overview", "/ui/v1//overview",
                     "/UI/v1/overview", "/ui/v1/Overview", "/ui/v1/overview/", "/ui/v1/overview%20",
                     "/ui/v1/%6fverview", "/ui/v1/../v1/overview", "/etc/passwd", "/ui/v1/",
                     "/..%2f..%2fetc/passwd", "/app.js;x", "/\\app.js", "/ui/v1/overview\\"):
            answer = page.get(path)
            self.assertEqual(answer.code, 404, path)
            self.assertEqual(answer.headers["content-type"], "application/json")
            # Without the secret a client does not learn what there is.
            self.assertEqual(page.get(path, cookie=False).code, 401, path)
        for line in ("GET app.js HTTP/1.1", "GET * HTTP/1.1"):
            text = f"{line}\r\nHost: {page.host}\r\nCookie: {page.cookie}\r\n\r\n"
            self.assertRegex(page.raw(text), r"HTTP/1.1 40\d ", line)

    def test_session_of_one_person(self):
        page = self.of_file()
        self.assertEqual(page.get(API + "session").json, {
            "mode": "local", "user": None, "expires": None,
            "version": subprocess.run([BERTH, "version"], capture_output=True, text=True, check=True,
                                      env=environment()).stdout.split()[1]})
        self.assertEqual(page.call("POST", API + "session", "{}").code, 405)


class DocumentsTest(UiCase):
    def test_documents_of_a_file(self):
        page = self.of_file()
        overview = page.get(API + "overview").json
        self.assertEqual((overview["live"], overview["serviceCount"]), (False, 30))
        card = next(each for each in overview["ranges"] if each["range"] == "10.96.0.0/24")
        key = urllib.parse.quote(card["key"])
        tile = page.get(f"{API}tile?range={key}&bits=0&index=0").json
        self.assertEqual(tile["seq"], overview["seq"])
        self.assertEqual(len(tile["cells"]), 30)
        self.assertEqual(page.get(f"{API}table?range={key}").json["total"], 30)
        self.assertEqual(page.get(f"{API}range?range={key}").json["size"], "256")
        details = page.get(API + "details?value=10.96.0.1").json
        self.assertEqual(details["services"][0]["service"], "team-0/svc-000000")
        self.assertIsNone(details["history"])
        hits = page.get(API + "search?q=team-1/svc-000001").json["hits"]
        self.assertEqual(hits[0]["service"], "team-1/svc-000001")
        what_if = page.get(f"{API}whatif?range={key}&to=10.96.0.0/28").json
        self.assertGreater(what_if["blockerCount"], 0)
        self.assertIsInstance(page.get(API + "findings").json["groups"], list)

    def test_hostile_parameters(self):
        page = self.of_file()
        key = urllib.parse.quote(page.get(API + "overview").json["ranges"][0]["key"])
        hostile = ("", "-1", "NaN", "nan", "1e9", "Infinity", "0x10", "18446744073709551616", "9" * 400,
                   "%00", "%ff%fe", "..", "../../etc/passwd", "<script>", "'", "1;2", "10.96.0.0/33",
                   "10.96.0.0/-1", "::/129", "[", "65536", "0", "a/b/c", "%F0%9F%98%80", "*", "1-0")
        questions = ["range?range=%s", "tile?range=%s&bits=0&index=0", f"tile?range={key}&bits=%s&index=0",
                     f"tile?range={key}&bits=0&index=%s", f"tile?range={key}&bits=%s&index=%s",
                     f"tile?range={key}&bits=0&index=0&find=%s", f"table?range={key}&first=%s",
                     f"table?range={key}&last=%s", f"table?range={key}&after=%s",
                     f"table?range={key}&find=%s", "details?value=%s", "details?service=%s", "search?q=%s",
                     f"whatif?range={key}&to=%s", "whatif?range=%s&to=10.0.0.0/8", "overview?%s", "%s"]
        for question in questions:
            for text in hostile:
                path = API + question.replace("%s", text)
                if " " in path:
                    continue
                answer = page.get(path)
                self.assertIn(answer.code, (200, 400, 404), path)
                self.assertEqual(answer.headers["content-type"], "application/json", path)
                self.assertLess(len(answer.body), 1 << 20)
                if answer.code != 200:
                    self.assertEqual(answer.json["code"], answer.code)
                    self.assertTrue(answer.json["message"])
        self.assertEqual(page.process.poll(), None)

    def test_bounds_of_parameters(self):
        page = self.of_file()
        for path in ("search?q=" + "x" * 513, "search?q=x&q=y", "tile?bits=0&bits=2",
                     "details", "details?value=1&service=a/b", "whatif?range=x",
                     "whatif?range=x" + "&to=10.0.0.0/8" * 5, "search?" + "x" * 9000,
                     "overview?" + "&".join(f"q{i}=1" for i in range(2000))):
            self.assertEqual(page.get(API + path).code, 400, path[:60])
        self.assertEqual(page.get(API + "overview?x=1&y").code, 200)
        self.assertEqual(page.get(API + "search?q=" + "x" * 100).code, 200)
        self.assertIn(page.get("/ui/v1/" + "x" * 40000).code, (404, 414, 431))

    def test_markup_stays_text(self):
        evil = "</script><script>alert(1)</script>"
        service = make_service(1, "10.96.0.10", 30010)
        service["metadata"].update(
            labels={"app": evil, "app.kubernetes.io/managed-by": evil},
            annotations={"meta.helm.sh/release-name": evil, "argocd.argoproj.io/tracking-id": evil},
            ownerReferences=[{"apiVersion": "v1", "kind": evil, "name": evil, "uid": "1",
                              "controller": True}])
        service["metadata"]["managedFields"][0]["manager"] = evil
        service["spec"]["ports"][0]["name"] = evil
        twin = make_service(2, "10.96.0.10", 30010)
        twin["metadata"].update(name=evil, namespace=evil)
        page = self.of_file([service, twin])
        key = urllib.parse.quote(page.get(API + "overview").json["ranges"][0]["key"])
        for path in ("overview", "findings", "details?value=10.96.0.10", "details?value=30010",
                     "details?service=team-1/svc-000001", f"table?range={key}",
                     f"tile?range={key}&bits=0&index=0", "search?q=" + urllib.parse.quote(evil),
                     "search?q=10.96.0.10", urllib.parse.quote(evil)):
            answer = page.get(API + path)
            self.assertEqual(answer.headers["content-type"], "application/json", path)
            self.assertEqual(answer.headers["x-content-type-options"], "nosniff", path)
            self.assertTrue(answer.json)  # It is whole JSON.

    def test_sources(self):
        def fails(*flags):
            done = subprocess.run([BERTH, "ui", *flags], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=PATIENCE, check=False, env=environment())
            self.assertEqual(done.stdout, "")
            return done.returncode, done.stderr

        path = self.file(make_services(1))
        for flags, code, message in (
                (("-f", path, "--context", "x"), 2, "leave one of them out"),
                (("-f", self.path("no")), 2, "No such file"),
                (("-f", path, "--port", "65536"), 2, "--port: must be from 0 to 65535"),
                (("-f", path, "--port", "-1"), 2, "--port: must be from 0 to 65535"),
                (("-f", path, "--history", self.path("no")), 2, "no"),
                (("--kubeconfig", self.path("no")), 2, "no")):
            result = fails(*flags)
            self.assertEqual(result[0], code, result)
            self.assertIn(message, result[1])
        taken = socket.socket()
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, message = fails("-f", path, "--port", str(taken.getsockname()[1]))
        taken.close()
        self.assertEqual(code, 1)
        self.assertIn("in use", message)

    def test_history_is_shown(self):
        data = self.path("observer")
        for services in (make_services(3), make_services(2)):
            subprocess.run([BERTH, "observe", "--once", "-f", self.file(services), "--data-dir", data],
                           check=True, capture_output=True, env=environment())
        page = self.start("-f", self.file(make_services(2)), "--history", data)
        page.open()
        self.assertTrue(page.get(API + "overview").json["hasHistory"])
        history = page.get(API + "details?value=10.96.0.3").json["history"]
        self.assertEqual(history["spans"][0]["owner"], "team-2/svc-000002")
        self.assertIsNotNone(history["spans"][0]["to"])


class EventsTest(UiCase):
    def test_changes_arrive(self):
        cluster = self.cluster()
        page = self.of_cluster(cluster)
        with page.events() as stream:
            self.assertEqual(stream.answer.headers["content-type"], "text/event-stream")
            first = stream.next("view")
            self.assertEqual(first["changes"], [])
            self.assertEqual(page.get(API + "overview").json["seq"], first["seq"])
            service = make_service(900, "10.96.7.7", 30999)
            cluster.put("services", service)
            view = stream.next("view")
            self.assertEqual(view["seq"], first["seq"] + 1)
            taken = {each["value"]: each for each in view["changes"]}
            self.assertEqual(taken["10.96.7.7"]["what"], "taken")
            self.assertEqual(taken["30999"]["service"], "team-0/svc-000900")
            # The document is there before the event is.
            self.assertEqual(page.get(API + "details?value=10.96.7.7").json["value"]["state"], "taken")
            cluster.delete("services", "svc-000900", "team-0")
            gone = stream.next("view")
            self.assertIn(("10.96.7.7", "released"),
                          [(each["value"], each["what"]) for each in gone["changes"]])
            page.process.send_signal(signal.SIGTERM)
            self.assertEqual(stream.next("bye"), {})
            self.assertIsNone(stream.event())
        self.assertEqual(page.process.wait(PATIENCE), 0)
        cluster.assert_only_reads()

    def test_trouble_and_its_end(self):
        cluster = self.cluster()
        port = cluster.port
        page = self.of_cluster(cluster)
        with page.events() as stream:
            stream.next("view")
            cluster.stop()
            trouble = stream.next("trouble")
            self.assertTrue(trouble["message"])
            self.assertRegex(trouble["since"], r"^20\d\d-.*Z$")
            # What was seen is still there, and says so.
            self.assertEqual(page.get(API + "overview").json["trouble"], trouble)
            with page.events() as late:
                late.next("view")
                self.assertEqual(late.next("trouble"), trouble)
            self.cluster(port=port)
            self.assertEqual(stream.next("well"), {})
        self.assertIsNone(page.get(API + "overview").json["trouble"])

    def test_a_page_that_is_opened_too_early(self):
        port = harness.free_ports(1)[0]
        page = self.start("--server", f"http://127.0.0.1:{port}")
        page.open()
        self.assertEqual(page.get("/").code, 200)
        answer = wait_for(lambda: "refused" in str(page.get(API + "overview").json)
                          and page.get(API + "overview"))
        self.assertEqual((answer.code, answer.headers["retry-after"]), (503, "1"))
        with page.events() as stream:
            self.assertIn("refused", stream.next("trouble")["message"])
            self.cluster(port=port)
            self.assertEqual(stream.next("view")["changes"], [])
        self.assertEqual(page.get(API + "overview").json["serviceCount"], 10)

    def test_a_cluster_that_refuses_is_an_error(self):
        cluster = self.cluster(token="secret")
        done = subprocess.run([BERTH, "ui", "--server", cluster.url], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False,
                              env=environment())
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("berth ui: ", done.stderr)

    def test_many_streams(self):
        cluster = self.cluster()
        page = self.of_cluster(cluster)
        streams = [page.events() for _ in range(100)]
        for stream in streams:
            self.addCleanup(stream.connection.close)
            stream.next("view")
        cluster.put("services", make_service(900, "10.96.7.7"))
        for stream in streams:
            self.assertEqual(stream.next("view")["changes"][0]["value"], "10.96.7.7")

    def test_their_number_is_bounded(self):
        page = self.of_file()
        streams = []
        while len(streams) < 1000:
            stream = page.events()
            self.addCleanup(stream.connection.close)
            if stream.code != 200:
                break
            streams.append(stream)
        self.assertEqual(stream.code, 429)
        self.assertGreaterEqual(len(streams), 100)
        self.assertEqual(page.get(API + "overview").code, 200)
        for each in streams:
            each.connection.close()
            each.answer.close()

        def opens():
            with page.events() as again:
                return again.code == 200
        wait_for(opens)

    def test_a_slow_reader_delays_nobody(self):
        cluster = self.cluster()
        page = self.of_cluster(cluster)
        slow = socket.socket()
        self.addCleanup(slow.close)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", page.port))
        slow.sendall(f"GET {API}events HTTP/1.1\r\nHost: {page.host}\r\nCookie: {page.cookie}\r\n\r\n"
                     .encode())
        with page.events() as stream:
            seq = stream.next("view")["seq"]
            for i in range(4):
                cluster.put("services", make_service(900 + i, f"10.96.7.{i + 1}"))
                view = stream.next("view")
                self.assertGreater(view["seq"], seq)
                seq = view["seq"]

    def test_ends_at_once_by_ctrl_c(self):
        page = self.of_file()
        with page.events() as stream:
            stream.next("view")
            begin = time.monotonic()
            page.process.send_signal(signal.SIGINT)
            stream.next("bye")
        self.assertEqual(page.process.wait(PATIENCE), 0)
        self.assertLess(time.monotonic() - begin, PATIENCE)
        self.assertEqual(page.process.stderr.read(), b"")


class BerthTest(UiCase):
    def test_a_server_of_berth(self):
        server = self.server()
        page = self.start("--kubeconfig", server.kubeconfig)
        page.open()
        wait_for(lambda: page.get(API + "overview").code == 200)
        overview = page.get(API + "overview").json
        self.assertEqual((overview["server"], overview["live"]), ("Berth", True))
        self.assertIn("NodePortRange", {each["kind"] for each in overview["ranges"]})
        with page.events() as stream:
            stream.next("view")
            made = server.call("POST", "/api/v1/namespaces/default/services", {
                "metadata": {"name": "web"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}})
            self.assertEqual(made.code, 201, made)
            address = made.json["spec"]["clusterIP"]
            while True:
                changes = stream.next("view")["changes"]
                if address in [each["value"] for each in changes]:
                    break
        details = page.get(API + "details?value=" + address).json
        self.assertEqual(details["services"][0]["service"], "default/web")


if __name__ == "__main__":
    harness.main()
