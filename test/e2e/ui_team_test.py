#!/usr/bin/env python3
"""`berth observe --ui`: a team signs in with tokens, or a proxy names people. The stand-in for
kube-apiserver says who they are and what they may do."""

import json
import signal
import subprocess
import time

import harness
from authority import Authority
from harness import BERTH, PATIENCE, environment, free_ports, wait_for
from pages import LINK, Page, read_until
from reviews import Reviews
from rough_server import RoughServer, make_service, make_services

API = "/ui/v1/"
OWN = "token-of-the-observer"
LIST = "list services"


class TeamCase(harness.Case):
    """An observer on TLS, and a cluster that knows jane, joe and eve. Eve may not see the page."""

    def setUp(self):
        super().setUp()
        self.authority = Authority(self.folder, "ca")
        self.pair = self.authority.server("server", "DNS:ranges.example.com,IP:127.0.0.1")
        self.reviews = Reviews()
        for name in ("jane", "joe", "eve"):
            self.reviews.add(f"of-{name}", name, groups=(f"{name}s-team",))
        self.reviews.allow("jane", LIST)
        self.reviews.allow("joes-team", LIST)
        self.cluster = RoughServer(services=make_services(10), token=OWN, certificate=self.pair)
        self.cluster.reviews = self.reviews
        self.addCleanup(lambda: self.cluster.stopping or self.cluster.stop())

    def observe(self, *flags, tls=True, listen="0.0.0.0", more=()):
        port = free_ports(1)[0]
        secure = ("--tls-cert-file", self.pair[0], "--tls-private-key-file", self.pair[1]) if tls else ()
        source = flags or ("--server", self.cluster.url, "--token", OWN, "--certificate-authority",
                           self.authority.cert)
        self.log = open(self.path("observer.log"), "w+b")
        self.addCleanup(self.log.close)
        process = subprocess.Popen([BERTH, "observe", "--ui", "--data-dir", self.path("observer"),
                                    "--listen", f"{listen}:{port}", *secure, *source, *more],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log,
                                   env=environment())
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        page = Page(process, port, tls=tls)
        wait_for(lambda: self.lives(page))
        return page

    @staticmethod
    def lives(page):
        try:
            return page.get("/livez").code == 200
        except OSError:
            return False

    def signed_in(self, page, name="jane"):
        """Returns another browser that is signed in."""
        other = Page(page.process, page.port, tls=True)
        answer = other.sign_in(f"of-{name}")
        self.assertEqual(answer.code, 204, answer)
        wait_for(lambda: other.get(API + "overview").code == 200)
        return other


class SignInTest(TeamCase):
    def test_people_sign_in(self):
        page = self.observe()
        for path in ("overview", "findings", "search?q=x", "events", "nowhere"):
            self.assertEqual(page.get(API + path).code, 401, path)
        # The files tell nothing, and have the form to sign in.
        for path in ("/", "/app.js", "/app.css"):
            self.assertEqual(page.get(path).code, 200)
        session = page.get(API + "session").json
        self.assertEqual((session["mode"], session["user"], session["expires"]), ("team", None, None))
        answer = page.sign_in("of-jane")
        self.assertEqual((answer.code, answer.body), (204, b""))
        cookie = answer.headers["set-cookie"]
        self.assertRegex(cookie, r"\A__Host-berth-[0-9a-f]{12}=[0-9a-f]{64}; Path=/; HttpOnly; "
                                 r"SameSite=Strict; Secure\Z")
        session = page.get(API + "session").json
        self.assertEqual(session["user"], "jane")
        self.assertRegex(session["expires"], r"^20\d\d-.*Z$")
        wait_for(lambda: page.get(API + "overview").code == 200)
        overview = page.get(API + "overview")
        self.assertEqual((overview.json["serviceCount"], overview.json["hasHistory"]), (10, True))
        self.assertNotIn(b"of-jane", overview.body)
        # What the cluster was asked.
        asked = [each["spec"] for each in self.reviews.asked if each["kind"] == "SubjectAccessReview"]
        self.assertEqual(asked[0]["resourceAttributes"]["verb"], "list")
        self.assertEqual(asked[0]["resourceAttributes"]["resource"], "services")
        self.assertNotIn("namespace", asked[0]["resourceAttributes"])
        self.assertEqual(asked[0]["groups"], ["janes-team", "system:authenticated"])
        # A right of a group counts too.
        self.assertEqual(self.signed_in(page, "joe").get(API + "session").json["user"], "joe")

    def test_others_do_not(self):
        page = self.observe()
        for token, code, said in (("wrong", 401, "does not know this token"),
                                  ("of-eve", 403, "eve may not list the Services")):
            answer = page.sign_in(token)
            self.assertEqual(answer.code, code)
            self.assertNotIn("set-cookie", answer.headers)
            self.assertIn(said, answer.json["message"])
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        for body, headers, code in (("{}", {}, 415), ("token=of-jane", form, 415),
                                    ("{", None, 400), ("{}", None, 400), ("[]", None, 400),
                                    ('{"token": 1}', None, 400), ('{"token": ""}', None, 400),
                                    (json.dumps({"token": "x" * 40000}), None, 413)):
            sent = {"Content-Type": "application/json"} if headers is None else headers
            self.assertEqual(page.call("POST", API + "session", body, sent).code, code, body[:40])
        for headers in ({"Origin": "https://evil.com"}, {"Origin": "null"},
                        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
                        {"Host": "evil.com"}):
            sent = {"Content-Type": "application/json", **headers}
            answer = page.call("POST", API + "session", '{"token": "of-jane"}', sent)
            self.assertEqual(answer.code, 403, headers)
            self.assertEqual(page.call("DELETE", API + "session", headers=headers).code, 403)
        for method in ("PUT", "PATCH", "OPTIONS"):
            self.assertEqual(page.call(method, API + "session").code, 405)

    def test_tries_are_bounded(self):
        page = self.observe()
        codes = [page.sign_in("wrong").code for _ in range(14)]
        self.assertEqual(codes[:10], [401] * 10)
        self.assertEqual(codes[-1], 429)
        refused = page.sign_in("of-jane")
        self.assertEqual(refused.code, 429)
        self.assertEqual(refused.headers["retry-after"], "5")
        self.assertIn("wait", refused.json["message"])

    def test_sign_out(self):
        page = self.observe()
        jane, joe = self.signed_in(page), self.signed_in(page, "joe")
        with jane.events() as stream, joe.events() as other:
            stream.next("view")
            other.next("view")
            answer = jane.call("DELETE", API + "session")
            self.assertEqual(answer.code, 204)
            self.assertIn("Max-Age=0", answer.headers["set-cookie"])
            self.assertIsNone(stream.event())
            self.assertEqual(jane.get(API + "overview").code, 401)
            self.assertEqual(joe.get(API + "overview").code, 200)
            self.cluster.put("services", make_service(900, "10.96.7.7"))
            other.next("view")

    def test_a_session_ends_after_its_time(self):
        page = self.observe(more=("--ui-session-seconds", "2"))
        jane = self.signed_in(page)
        with jane.events() as stream:
            stream.next("view")
            self.assertIsNone(stream.event())
        self.assertEqual(jane.get(API + "overview").code, 401)
        self.assertEqual(jane.get(API + "session").json["user"], None)
        self.assertEqual(jane.sign_in("of-jane").code, 204)

    def test_hosts(self):
        page = self.observe(more=("--ui-host", "front.example.com"))
        for host in ("ranges.example.com", f"ranges.example.com:{page.port}", f"127.0.0.1:{page.port}",
                     "front.example.com", "10.1.2.3", f"localhost:{page.port}"):
            self.assertEqual(page.get("/", headers={"Host": host}).code, 200, host)
        for host in ("evil.com", "example.com", "x.ranges.example.com", "10.1.2.3.evil.com"):
            self.assertEqual(page.get("/", headers={"Host": host}).code, 403, host)
        # Prometheus reaches it by any name, with a token as before.
        self.reviews.allow("jane", "/metrics")
        answer = page.get("/metrics", headers={"Host": "berth-observer.monitoring.svc:9464",
                                               "Authorization": "Bearer of-jane"})
        self.assertEqual(answer.code, 200)
        self.assertEqual(page.get("/metrics").code, 401)


class RightTest(TeamCase):
    def test_a_right_that_is_taken_away_ends_the_session(self):
        page = self.observe(more=("--ui-check-seconds", "1"))
        jane, joe = self.signed_in(page), self.signed_in(page, "joe")
        with jane.events() as stream:
            stream.next("view")
            self.reviews.allowed.discard(("jane", LIST))
            self.assertIsNone(stream.event())
        self.assertEqual(jane.get(API + "overview").code, 401)
        self.assertEqual(joe.get(API + "overview").code, 200)
        self.assertEqual(jane.sign_in("of-jane").code, 403)

    def test_an_api_server_that_hangs(self):
        page = self.observe(more=("--ui-check-seconds", "1"))
        jane = self.signed_in(page)
        with jane.events() as stream:
            stream.next("view")
            self.cluster.fail_next("reviews", times=1000, hang=30)
            begin = time.monotonic()
            # No person can sign in, which is said after a while, and the page goes on meanwhile.
            other = Page(page.process, page.port, tls=True)
            connection = other.connection()
            self.addCleanup(connection.close)
            connection.request("POST", API + "session", '{"token": "of-joe"}',
                               {"Content-Type": "application/json"})
            for _ in range(20):
                self.assertEqual(jane.get(API + "overview").code, 200)
            self.cluster.put("services", make_service(900, "10.96.7.7"))
            stream.next("view")
            answer = harness.Answer(connection.getresponse())
            self.assertEqual(answer.code, 503)
            self.assertIn("does not say whether you may", answer.json["message"])
            self.assertLess(time.monotonic() - begin, PATIENCE)
            self.assertEqual(jane.get(API + "overview").code, 200)


class ProxyTest(TeamCase):
    def setUp(self):
        super().setUp()
        self.front = Authority(self.folder, "front")
        self.proxy = self.front.client("proxy", "/CN=front-proxy")

    def proxied(self, *more):
        return self.observe(more=("--requestheader-client-ca-file", self.front.cert,
                                  "--requestheader-allowed-names", "front-proxy", *more))

    def test_a_proxy_names_people(self):
        page = self.proxied("--ui-host", "front.example.com")
        who = {"X-Remote-User": "jane", "X-Remote-Group": "ops", "Host": "front.example.com",
               "Origin": "https://front.example.com", "Sec-Fetch-Site": "same-origin"}
        wait_for(lambda: page.get(API + "overview", headers=who, certificate=self.proxy).code == 200)
        session = page.get(API + "session", headers=who, certificate=self.proxy).json
        self.assertEqual((session["user"], session["mode"], session["expires"]), ("jane", "team", None))
        asked = [each["spec"] for each in self.reviews.asked]
        self.assertEqual({each["user"] for each in asked}, {"jane"})
        self.assertEqual(asked[0]["groups"], ["ops", "system:authenticated"])
        self.assertEqual(len(asked), 1)  # The answer is kept.
        with page.events(headers=who, certificate=self.proxy) as stream:
            stream.next("view")
        eve = dict(who, **{"X-Remote-User": "eve"})
        self.assertEqual(page.get(API + "overview", headers=eve, certificate=self.proxy).code, 403)
        nobody = {"Host": "front.example.com"}
        self.assertEqual(page.get(API + "overview", headers=nobody, certificate=self.proxy).code, 401)
        evil = dict(who, Origin="https://evil.com")
        self.assertEqual(page.get(API + "overview", headers=evil, certificate=self.proxy).code, 403)

    def test_nobody_else_is_believed(self):
        page = self.proxied()
        who = {"X-Remote-User": "jane", "X-Remote-Group": "system:masters"}
        other = Authority(self.folder, "other")
        for certificate in (None, other.client("proxy", "/CN=front-proxy"),
                            self.front.client("wrong", "/CN=another")):
            answer = page.get(API + "overview", headers=who, certificate=certificate)
            self.assertEqual(answer.code, 401, certificate)
        self.assertEqual(self.reviews.asked, [])
        # People may still sign in themselves.
        jane = self.signed_in(page)
        self.assertEqual(jane.get(API + "session", headers={"X-Remote-User": "joe"}).json["user"], "jane")

    def test_other_headers(self):
        page = self.proxied("--requestheader-username-headers", "X-Forwarded-User",
                            "--requestheader-group-headers", "X-Forwarded-Groups")
        self.assertEqual(page.get(API + "session", headers={"X-Remote-User": "jane"},
                                  certificate=self.proxy).code, 401)
        who = {"X-Forwarded-User": "jane"}
        self.assertEqual(page.get(API + "session", headers=who, certificate=self.proxy).json["user"],
                         "jane")


class LoopbackTest(TeamCase):
    def test_one_person_opens_it_with_a_link(self):
        page = self.observe("-f", self.file(), tls=False, listen="127.0.0.1")
        found = read_until(page.process, LINK)
        page.link = found[3]
        self.assertEqual(page.get(API + "overview").code, 401)
        self.assertEqual(page.get("/").code, 401)
        page.open()
        overview = page.get(API + "overview").json
        self.assertEqual((overview["live"], overview["hasHistory"]), (False, True))
        self.assertEqual(page.get(API + "session").json["mode"], "local")
        history = page.get(API + "details?value=10.96.0.1").json["history"]
        self.assertEqual(history["spans"][0]["owner"], "team-0/svc-000000")
        # The observer's own paths are as before.
        self.assertEqual(page.get("/api/v1/top", cookie=False).code, 200)
        self.assertEqual(page.get("/metrics", cookie=False, headers={"Host": "x.svc"}).code, 200)
        self.assertEqual(page.get("/nowhere", cookie=False).code, 404)

    def file(self):
        path = self.path("services.json")
        items = [{"apiVersion": "v1", "kind": "Service", **each} for each in make_services(5)]
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"apiVersion": "v1", "kind": "List", "items": items}, out)
        return path

    def test_dns_rebinding_does_not_read_the_api(self):
        page = self.observe(tls=False, listen="127.0.0.1", more=("--ui-host", "ranges.internal"))
        wait_for(lambda: page.get("/readyz").code == 200)
        for host, code in (("evil.com", 403), (f"evil.com:{page.port}", 403), ("", 403),
                           (f"localhost:{page.port}", 200), ("127.0.0.1", 200), ("[::1]:1", 200),
                           ("10.0.0.7:9464", 200), ("ranges.internal:80", 200)):
            wait_for(lambda: page.get("/api/v1/top", headers={"Host": host}).code != 503)
            self.assertEqual(page.get("/api/v1/top", headers={"Host": host}).code, code, host)
            self.assertEqual(page.get("/metrics", headers={"Host": host}).code, 200, host)
        page.process.send_signal(signal.SIGTERM)
        self.assertEqual(page.process.wait(PATIENCE), 0)

    def test_flags_that_do_not_fit(self):
        tls = ("--tls-cert-file", self.pair[0], "--tls-private-key-file", self.pair[1])
        front = ("--requestheader-client-ca-file", self.authority.cert)
        for flags, message in (
                (("--ui", "--once"), "leave one out"),
                (("--ui", *front), "TLS is needed"),
                ((*tls, *front), "needs --ui"),
                (("--ui", *tls, "--requestheader-allowed-names", "x"), "need --requestheader-client-ca-file"),
                (("--ui", "--ui-host", "x:1"), "a name without a port"),
                (("--ui", "-f", self.file(), *tls), "leave out --tls-cert-file"),
                (("--ui", *tls, "--requestheader-client-ca-file", self.path("no")), "no")):
            done = subprocess.run([BERTH, "observe", "--data-dir", self.path("o"), "--listen",
                                   "127.0.0.1:0", "--server", self.cluster.url, *flags],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=PATIENCE, check=False, env=environment())
            self.assertEqual(done.returncode, 2, (flags, done.stderr))
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    harness.main()
