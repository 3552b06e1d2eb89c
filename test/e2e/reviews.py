"""Says who a client is and what it may read, as kube-apiserver 1.36 answers a TokenReview and a
SubjectAccessReview. rough_server.py serves it.

    server.reviews = Reviews()
    server.reviews.add("secret", "jane", groups=("ops",))
    server.reviews.allow("ops", "/metrics")
    server.reviews.allow("jane", "list services")

Thread-safe.
"""

import json
import threading

TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class Reviews:
    def __init__(self):
        self.lock = threading.Lock()
        self.users = {}       # token: what a TokenReview says about the user
        self.allowed = set()  # (user or group, path or "list services")
        self.asked = []       # The reviews, as they came.

    def add(self, token, name, groups=(), uid="1", **extra):
        """Adds a user. `extra` are lists of texts."""
        user = {"username": name, "uid": uid, "groups": [*groups, "system:authenticated"]}
        with self.lock:
            self.users[token] = user | ({"extra": extra} if extra else {})

    def allow(self, who, path):
        with self.lock:
            self.allowed.add((who, path))

    def count(self, kind):
        """Returns how many reviews of a kind have come."""
        with self.lock:
            return len([each for each in self.asked if each["kind"] == kind])

    def answer(self, path, body):
        """Returns the code and the document, or None if it is no path of a review."""
        if path not in (TOKEN_REVIEWS, ACCESS_REVIEWS):
            return None
        review = json.loads(body)
        with self.lock:
            self.asked.append(review)
            ask = self.ask_who if path == TOKEN_REVIEWS else self.ask_whether
            return ask(review["spec"], review)

    def ask_who(self, spec, review):
        if not spec.get("token"):
            return 400, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                         "message": "token is required for TokenReview in authentication",
                         "reason": "BadRequest", "code": 400}
        user = self.users.get(spec["token"])
        if not user:
            return 201, {**review, "status": {"user": {}, "error": "invalid bearer token"}}
        return 201, {**review, "status": {"authenticated": True, "user": user,
                                          "audiences": ["https://kubernetes.default.svc"]}}

    @staticmethod
    def wanted(spec):
        """Returns the path that a user wants to get, or the verb and the resource of a request for all
        namespaces."""
        if "resourceAttributes" in spec:
            wanted = spec["resourceAttributes"]
            resource = wanted["resource"] + ("." + wanted["group"] if wanted.get("group") else "")
            return None if wanted.get("namespace") else f"{wanted['verb']} {resource}"
        wanted = spec["nonResourceAttributes"]
        return wanted["path"] if wanted["verb"] == "get" else None

    def ask_whether(self, spec, review):
        wanted = self.wanted(spec)
        for who in (spec["user"], *spec.get("groups", ())):
            if (who, wanted) in self.allowed:
                reason = f'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to "{who}"'
                return 201, {**review, "status": {"allowed": True, "reason": reason}}
        return 201, {**review, "status": {"allowed": False}}
