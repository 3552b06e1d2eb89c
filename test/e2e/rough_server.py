"""A stand-in for kube-apiserver's rougher sides, for end-to-end tests of programs that read from a
cluster. It keeps a few objects, serves them as a real server does, and misbehaves on demand.

    with rough_server.RoughServer(services=rough_server.make_services(1000)) as server:
        server.forbid("ipaddresses")
        server.fail_next("services", code=429, retry_after=1)
        run_program("--server", server.url)
        server.assert_only_reads()

The answers have the form of those recorded from kube-apiserver 1.36. Everything is JSON: protobuf is
one of the things that a server may lack. Thread-safe.
"""

import base64
import bisect
import collections
import copy
import http.server
import ipaddress
import json
import socket
import ssl
import threading
import time
import urllib.parse

FLAGZ_ACCEPT = {"application/json", "v=v1beta1", "g=config.k8s.io", "as=Flagz"}
SERVICES, ADDRESSES, CIDRS = "services", "ipaddresses", "servicecidrs"
NETWORKING = "networking.k8s.io"
# resource: (path of the collection, API version, kind, group)
KINDS = {
    SERVICES: ("/api/v1/services", "v1", "Service", ""),
    ADDRESSES: ("/apis/networking.k8s.io/v1/ipaddresses", "networking.k8s.io/v1", "IPAddress", NETWORKING),
    CIDRS: ("/apis/networking.k8s.io/v1/servicecidrs", "networking.k8s.io/v1", "ServiceCIDR", NETWORKING),
}
TOO_OLD = ("The provided continue parameter is too old to display a consistent list result. You can start a "
           "new list without the continue parameter, or use the continue token in this response to retrieve "
           "the remainder of the results. Continuing with the provided token results in an inconsistent list "
           "- objects that were created, modified, or deleted between the time the first chunk was returned "
           "and now may show up in the list.")


def make_service(number, address, node_port=None):
    """Returns a Service as a real server would show it."""
    name = f"svc-{number:06}"
    port = {"name": "http", "protocol": "TCP", "port": 80, "targetPort": 8080}
    if node_port:
        port["nodePort"] = node_port
    fields = {"f:metadata": {"f:labels": {".": {}, "f:app": {}}},
              "f:spec": {"f:internalTrafficPolicy": {},
                         "f:ports": {".": {}, 'k:{"port":80,"protocol":"TCP"}': {
                             ".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {}}},
                         "f:selector": {}, "f:sessionAffinity": {}, "f:type": {}}}
    return {
        "metadata": {
            "name": name, "namespace": f"team-{number % 20}",
            "uid": f"6ed64d6c-4102-45c9-a0c5-{number:012x}",
            "creationTimestamp": "2026-11-16T12:11:09Z", "labels": {"app": name},
            "managedFields": [{"manager": "kubectl-create", "operation": "Update", "apiVersion": "v1",
                               "time": "2026-11-16T12:11:09Z", "fieldsType": "FieldsV1",
                               "fieldsV1": fields}]},
        "spec": {"ports": [port], "selector": {"app": name}, "clusterIP": address, "clusterIPs": [address],
                 "type": "NodePort" if node_port else "ClusterIP", "sessionAffinity": "None",
                 "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster"},
        "status": {"loadBalancer": {}}}


def make_services(count, network="10.96.0.0/12", node_ports=0):
    """Returns Services with addresses from the network, the first `node_ports` of them with a node
    port from 30000 on."""
    first = int(ipaddress.ip_network(network).network_address) + 1
    return [make_service(i, str(ipaddress.ip_address(first + i)), 30000 + i if i < node_ports else None)
            for i in range(count)]


def make_address(service):
    """Returns the IPAddress of a Service."""
    meta = service["metadata"]
    return {"metadata": {"name": service["spec"]["clusterIP"], "creationTimestamp": "2026-11-16T12:11:09Z",
                         "uid": meta["uid"][:-12] + "a" + meta["uid"][-11:],
                         "labels": {"ipaddress.kubernetes.io/ip-family": "IPv4",
                                    "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"}},
            "spec": {"parentRef": {"resource": SERVICES, "namespace": meta["namespace"],
                                   "name": meta["name"]}}}


def make_cidr(name, *cidrs):
    """Returns a ServiceCIDR that is ready."""
    return {"metadata": {"name": name, "creationTimestamp": "2026-11-16T12:11:08Z",
                         "uid": "0d0b6a5e-1111-4222-8333-000000000001"},
            "spec": {"cidrs": list(cidrs)},
            "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "", "message": "",
                                       "lastTransitionTime": "2026-11-16T12:11:08Z"}]}}


def compact(document):
    """Returns a document as JSON without spaces."""
    return json.dumps(document, separators=(",", ":"))


def status(code, reason, message, token=""):
    """Returns the body of a refusal."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {"continue": token} if token else {},
            "status": "Failure", "message": message, "reason": reason, "code": code}


Request = collections.namedtuple("Request", "method path query headers")


class RoughServer:
    """A server on a free loopback port. Lists of objects are given without resourceVersion."""

    def __init__(self, services=(), addresses=None, cidrs=None, flags=None, certificate=None, token=None,
                 port=0):
        """`certificate` is a pair of files (certificate, key) and makes it speak TLS. With a `token`,
        requests without it are answered 401."""
        self.lock = threading.Condition(threading.RLock())
        self.revision = 1000
        self.objects = {}
        self.sorted = {}         # resource: keys in order, and the JSON of each object
        self.events = {resource: [] for resource in KINDS}  # (revision, type, object)
        self.compacted = 0       # Watches from an older revision are told that it is gone.
        self.requests = []
        self.forbidden = {}      # resource or path: user
        self.absent = set()      # Groups that are not served.
        self.failures = collections.defaultdict(list)  # resource: what the next requests get
        self.slow = 0            # Seconds before each page.
        self.documents = {}      # path: another object that it serves
        self.reviews = None      # Of reviews.py. Without it, reviews are refused.
        self.rules = None        # Rules of RBAC. If set, everything else is refused with 403.
        self.token = token
        self.user = "jane"
        self.flags = flags or {"service-node-port-range": "30000-32767",
                               "service-cluster-ip-range": "10.96.0.0/12"}
        self.version = {"major": "1", "minor": "36", "gitVersion": "v1.36.4", "platform": "linux/amd64"}
        self.stopping = False
        self.load(SERVICES, services)
        self.load(ADDRESSES, [make_address(each) for each in services] if addresses is None else addresses)
        self.load(CIDRS, [make_cidr("kubernetes", "10.96.0.0/12")] if cidrs is None else cidrs)
        handler = type("Handler", (_Handler,), {"rough": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        with self.lock:
            self.stopping = True
            self.lock.notify_all()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    # --- what is there ---------------------------------------------------------------------------

    @staticmethod
    def key(item):
        return item["metadata"].get("namespace", ""), item["metadata"]["name"]

    def load(self, resource, items):
        """Replaces all objects of a resource, without events."""
        with self.lock:
            kept = {}
            for item in items:
                self.revision += 1
                item = copy.copy(item)
                item["metadata"] = dict(item["metadata"], resourceVersion=str(self.revision))
                kept[self.key(item)] = item
            self.objects[resource] = kept
            self.sorted.pop(resource, None)

    def put(self, resource, item):
        """Adds or changes an object, and tells the watchers."""
        with self.lock:
            item = copy.deepcopy(item)
            self.revision += 1
            item["metadata"]["resourceVersion"] = str(self.revision)
            known = self.key(item) in self.objects[resource]
            self.objects[resource][self.key(item)] = item
            self.sorted.pop(resource, None)
            self.events[resource].append((self.revision, "MODIFIED" if known else "ADDED", item))
            self.lock.notify_all()

    def delete(self, resource, name, namespace=""):
        with self.lock:
            item = copy.deepcopy(self.objects[resource].pop((namespace, name)))
            self.sorted.pop(resource, None)
            self.revision += 1
            item["metadata"]["resourceVersion"] = str(self.revision)
            self.events[resource].append((self.revision, "DELETED", item))
            self.lock.notify_all()

    def bookmark(self, resource):
        """Sends a bookmark to the watchers of a resource."""
        with self.lock:
            self.revision += 1
            self.events[resource].append((self.revision, "BOOKMARK", None))
            self.lock.notify_all()

    def texts(self, resource):
        """Returns all keys in order, and the JSON of each object. A page is then made quickly, also of
        100,000 objects."""
        with self.lock:
            if resource not in self.sorted:
                items = sorted(self.objects[resource].items(), key=lambda each: each[0])
                self.sorted[resource] = ([key for key, _ in items], [compact(item) for _, item in items])
            return self.sorted[resource]

    # --- how it misbehaves -----------------------------------------------------------------------

    def forbid(self, resource, user=None):
        """Refuses a resource, or a path such as /flagz, with 403."""
        self.forbidden[resource] = user or self.user

    def remove_group(self, group=NETWORKING):
        """Answers 404 for a group, or for /flagz, as a server before it was introduced."""
        self.absent.add(group)

    def compact(self):
        """Forgets all revisions so far: watches from them get an ERROR with 410, and continue tokens
        410 with a new token."""
        with self.lock:
            self.revision += 1
            self.compacted = self.revision
            for events in self.events.values():
                events.clear()
            self.lock.notify_all()

    def fail_next(self, resource, times=1, **how):
        """Lets the next requests for a resource (or a path) fail. One of:
        code=429, retry_after=1   an error with a Status
        cut=100                   the answer ends after so many bytes of its body
        garbage=True              an answer that is not JSON
        hang=2                    silence for so many seconds, then an answer as usual
        html=True                 a page of a gateway, with code 502
        only="list"|"watch"|"continue"   which requests count"""
        self.failures[resource] += [dict(how) for _ in range(times)]

    def take_failure(self, resource, what):
        with self.lock:
            for i, how in enumerate(self.failures[resource]):
                if how.get("only") in (None, what):
                    return self.failures[resource].pop(i)
        return None

    # --- what was asked --------------------------------------------------------------------------

    def seen(self, path_part=""):
        """Returns the requests whose path or query contain a text."""
        with self.lock:
            return [each for each in self.requests if path_part in f"{each.path}?{each.query}"]

    def assert_only_reads(self):
        """Fails if there was a request that could change something. Reviews change nothing."""
        reviews = ("/tokenreviews", "/subjectaccessreviews", "/selfsubjectaccessreviews")
        for each in self.seen():
            if each.method != "GET" and not (each.method == "POST" and each.path.endswith(reviews)):
                raise AssertionError(f"{each.method} {each.path} is not a read")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    rough = None

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except (OSError, ssl.SSLError):
            pass  # The client has gone, which clients do.

    def do_GET(self):
        if self.rough.stopping:  # A connection that was kept does not outlive its server.
            return self.hang_up()
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        self.note(url)
        if not self.may_enter():
            return
        if url.path == "/readyz":  # All users may ask this.
            failure = self.rough.take_failure("/readyz", "list")
            return self.fail(failure) if failure else self.reply_text(200, "ok")
        refused = self.rough.rules is not None and self.missing_right(url.path, query)
        if refused:
            return self.reply(403, status(403, "Forbidden", refused))
        if url.path == "/version":
            return self.reply(200, self.rough.version)
        if url.path in self.rough.documents:
            return self.reply(200, self.rough.documents[url.path])
        if url.path == "/flagz" and "/flagz" not in self.rough.absent:
            return self.serve_flagz()
        for resource, (path, _, _, group) in KINDS.items():
            parts = path.rsplit("/", 1)
            namespaced = url.path.startswith(parts[0] + "/namespaces/") and url.path.endswith("/" + resource)
            if (url.path == path or namespaced) and group not in self.rough.absent:
                namespace = url.path.split("/")[-2] if namespaced else None
                return self.serve_resource(resource, namespace, query)
        self.reply_text(404, "404 page not found\n")

    def do_POST(self):
        """Answers a review, and refuses a write. After a write a test fails in assert_only_reads."""
        url = urllib.parse.urlsplit(self.path)
        self.note(url)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.may_enter():
            return None
        refused = self.rough.rules is not None and self.missing_right(url.path, {}, "create")
        if refused:
            return self.reply(403, status(403, "Forbidden", refused))
        failure = self.rough.reviews and self.rough.take_failure("reviews", "review")
        if failure and self.fail(failure):
            return None
        reviewed = self.rough.reviews and self.rough.reviews.answer(url.path, body)
        if reviewed:
            return self.reply(*reviewed)
        return self.reply(405, status(405, "MethodNotAllowed", "the stand-in does not take writes"))

    do_PUT = do_PATCH = do_DELETE = do_POST

    def note(self, url):
        with self.rough.lock:
            self.rough.requests.append(Request(self.command, url.path, url.query, dict(self.headers)))

    def may_enter(self):
        if self.rough.token and self.headers.get("Authorization") != f"Bearer {self.rough.token}":
            self.reply(401, status(401, "Unauthorized", "Unauthorized"))
            return False
        return True

    def missing_right(self, path, query, verb=None):
        """Returns Kubernetes' words if no rule allows the request, else None. Without a verb it is a
        read."""
        parts = path.strip("/").split("/")
        if parts[0] not in ("api", "apis"):
            for rule in self.rough.rules:
                if path in rule.get("nonResourceURLs", ()) and "get" in rule["verbs"]:
                    return None
            return f'forbidden: User "{self.rough.user}" cannot get path "{path}"'
        group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
        namespace = rest[1] if rest[0] == "namespaces" else None
        resource, *name = rest[2:] if namespace else rest
        if not verb:
            verb = "get" if name else "watch" if query.get("watch") in ("1", "true") else "list"
        for rule in self.rough.rules:
            names = rule.get("resourceNames")
            if (group in rule.get("apiGroups", ()) and resource in rule.get("resources", ())
                    and verb in rule["verbs"] and rule.get("namespace") in (None, namespace)
                    and (names is None or name and name[0] in names)):
                return None
        scope = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
        return (f'{resource}{"." if group else ""}{group} is forbidden: User "{self.rough.user}" cannot '
                f'{verb} resource "{resource}" in API group "{group}" {scope}')

    # --- answers ---------------------------------------------------------------------------------

    def reply(self, code, document, headers=()):
        self.reply_bytes(code, compact(document).encode(), "application/json", headers)

    def reply_text(self, code, text):
        self.reply_bytes(code, text.encode(), "text/plain; charset=utf-8")

    def reply_bytes(self, code, body, kind, headers=(), cut=None):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.hang_up()

    def hang_up(self):
        self.wfile.flush()
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def serve_flagz(self):
        if "/flagz" in self.rough.forbidden:
            user = self.rough.forbidden["/flagz"]
            return self.reply(403, status(403, "Forbidden", f'forbidden: User "{user}" cannot get path "/flagz"'))
        failure = self.rough.take_failure("/flagz", "list")
        if failure and self.fail(failure):
            return None
        accept = self.headers.get("Accept", "*/*")
        if any(FLAGZ_ACCEPT <= set(each.strip() for each in one.split(";")) for one in accept.split(",")):
            return self.reply(200, {"kind": "Flagz", "apiVersion": "config.k8s.io/v1beta1",
                                    "metadata": {"name": "kube-apiserver"}, "flags": self.rough.flags})
        if accept in ("*/*", "text/plain"):
            lines = "".join(f"{name}={value}\n" for name, value in sorted(self.rough.flags.items()))
            return self.reply_text(200, f"\nkube-apiserver flagz\nWarning: not meant to be machine parseable\n\n{lines}")
        return self.reply(406, status(406, "NotAcceptable", "only the following media types are accepted: text/plain"))

    def fail(self, how):
        """Fails as told. Returns whether that was the whole answer."""
        if "hang" in how:
            with self.rough.lock:
                self.rough.lock.wait_for(lambda: self.rough.stopping, how["hang"])
        if "code" in how:
            headers = [("Retry-After", str(how["retry_after"]))] if "retry_after" in how else []
            self.reply(how["code"], status(how["code"], how.get("reason", "TooManyRequests"),
                                           how.get("message", "the server has refused this request")), headers)
            return True
        if how.get("html"):
            self.reply_bytes(502, b"<html><body>502 Bad Gateway</body></html>", "text/html")
            return True
        if how.get("garbage"):
            self.reply_bytes(200, bytes(range(256)) * 20, "application/json")
            return True
        return False

    # --- lists and watches -----------------------------------------------------------------------

    def serve_resource(self, resource, namespace, query):
        verb = "watch" if query.get("watch") in ("1", "true") else "list"
        if resource in self.rough.forbidden:
            group = KINDS[resource][3]
            scope = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
            return self.reply(403, dict(
                status(403, "Forbidden",
                       f'{resource}{"." if group else ""}{group} is forbidden: User '
                       f'"{self.rough.forbidden[resource]}" cannot {verb} resource "{resource}" in API group '
                       f'"{group}" {scope}'),
                details={"group": group, "kind": resource}))
        what = "continue" if "continue" in query else verb
        failure = self.rough.take_failure(resource, what) or {}
        if self.fail(failure):
            return None
        if verb == "watch":
            return self.serve_watch(resource, namespace, query, failure.get("cut"))
        if self.rough.slow:
            time.sleep(self.rough.slow)
        return self.serve_page(resource, namespace, query, failure.get("cut"))

    def serve_page(self, resource, namespace, query, cut):
        with self.rough.lock:
            keys, texts = self.rough.texts(resource)
            revision, compacted = self.rough.revision, self.rough.compacted
        if namespace is not None:
            chosen = [i for i, key in enumerate(keys) if key[0] == namespace]
            keys, texts = [keys[i] for i in chosen], [texts[i] for i in chosen]
        first, limit = 0, int(query.get("limit", 0))
        if "continue" in query:
            try:
                token = json.loads(base64.urlsafe_b64decode(query["continue"] + "=="))
                after = tuple(token["start"])
            except (ValueError, KeyError, TypeError):
                return self.reply(400, status(400, "BadRequest", "invalid continue token: continue key is not valid"))
            if token["rv"] != -1 and token["rv"] < compacted:
                return self.reply(410, status(410, "Expired", TOO_OLD, self.token(-1, after)))
            # The stand-in keeps no old objects. All pages claim the first page's revision.
            revision = revision if token["rv"] == -1 else token["rv"]
            first = bisect.bisect_right(keys, after)
        end = min(first + limit, len(keys)) if limit else len(keys)
        meta = {"resourceVersion": str(revision)}
        if end < len(keys):
            meta["continue"] = self.token(revision, keys[end - 1])
            meta["remainingItemCount"] = len(keys) - end
        _, version, kind, _ = KINDS[resource]
        head = compact({"kind": kind + "List", "apiVersion": version, "metadata": meta})
        body = f'{head[:-1]},"items":[{",".join(texts[first:end])}]}}'.encode()
        return self.reply_bytes(200, body, "application/json", cut=cut)

    @staticmethod
    def token(revision, start):
        text = compact({"v": "meta.k8s.io/v1", "rv": revision, "start": list(start)})
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def serve_watch(self, resource, namespace, query, cut):
        since = int(query.get("resourceVersion", 0))
        deadline = time.monotonic() + float(query.get("timeoutSeconds", 1800))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.left = cut
        if since < self.rough.compacted:
            self.send_line({"type": "ERROR", "object": status(
                410, "Expired", f"too old resource version: {since} ({self.rough.compacted})")})
            return self.end_watch()
        while True:
            with self.rough.lock:
                found = self.rough.lock.wait_for(
                    lambda: self.rough.stopping or since < self.rough.compacted or self.newer(resource, since),
                    max(0, deadline - time.monotonic()))
                if self.rough.stopping or not found:
                    break
                if since < self.rough.compacted:
                    return self.hang_up()  # As after a restart.
                events = self.newer(resource, since)
            for revision, kind, item in events:
                since = revision
                if not self.send_event(resource, namespace, query, revision, kind, item):
                    return None
        return self.end_watch()

    def newer(self, resource, since):
        return [event for event in self.rough.events[resource] if event[0] > since]

    def send_event(self, resource, namespace, query, revision, kind, item):
        _, version, name, _ = KINDS[resource]
        if kind == "BOOKMARK":
            if query.get("allowWatchBookmarks") not in ("1", "true"):
                return True
            item = {"metadata": {"resourceVersion": str(revision)}, "spec": {}}
        elif namespace not in (None, item["metadata"].get("namespace")):
            return True
        return self.send_line({"type": kind, "object": {"kind": name, "apiVersion": version, **item}})

    def send_line(self, event):
        """Sends an event. Returns False if the watch is cut within it."""
        line = compact(event).encode() + b"\n"
        cut = self.left is not None and len(line) > self.left
        part = line[:self.left] if cut else line
        if self.left is not None:
            self.left -= len(part)
        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if part else b"")
        self.wfile.flush()
        if cut:
            self.hang_up()
        return not cut

    def end_watch(self):
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()
