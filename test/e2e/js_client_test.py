#!/usr/bin/env python3
"""The JavaScript client (@kubernetes/client-node) against `berth serve`: the scripts of js/."""

import node_scripts
from harness import PATIENCE, Case
from node_scripts import Script


def failure(code, reason, message):
    return {"code": code, "kind": "Status", "reason": reason, "message": message}


class JavaScriptTest(Case):

    def script(self, name, server, namespace):
        script = Script(name, server, namespace)
        self.addCleanup(script.stop)
        return script

    def test_objects(self):
        steps = self.script("crud.mjs", self.server(), "js").all()
        self.assertIn("must", steps["invalid"].pop("message"))
        self.assertEqual(steps, {
            "created": ["web", "js", "ClusterIP", "TCP", True],
            "read": True,
            "replaced": [{"tier": "front"}, True, True, True],
            "replaced with the same": True,
            "conflict": failure(
                409, "Conflict", 'Operation cannot be fulfilled on services "web": the object has '
                "been modified; please apply your changes to the latest version and try again"),
            "exists": failure(409, "AlreadyExists", 'services "web" already exists'),
            "invalid": {"code": 422, "kind": "Status", "reason": "Invalid"},
            "no such namespace": failure(404, "NotFound", 'namespaces "nowhere" not found'),
            "after a dry run": 404,
            "deleted": "web",
            "gone": failure(404, "NotFound", 'services "web" not found'),
            "pages": [["a", "b"], ["c", "d"], ["e"]],
            "by label": ["a", "c", "e"],
            "by field": ["js/d"],
            "after deletecollection": ["b", "d"],
            "event in both groups": ["up", "web", "2023-11-14T22:13:20.123000Z"],
            "lease": ["two", "2023-11-14T22:13:20.123000Z"],
            "version": "1",
            "any kind": [{"note": "x"}, ["leader"], 404],
        })

    def test_patches(self):
        steps = self.script("patch.mjs", self.server(), "js").all()
        self.assertEqual(steps, {
            "json patch": {"b": "2", "c": "1"},
            "a test that fails": failure(422, "Invalid", "the server rejected our request due to "
                                         "an error in our request"),
            "strategic": ["http:80", "tls:443"],
            "directives": ["dns:53", "http:80"],
            "merge": [{"b": "2"}, ["tls:443"]],
            "no change": True,
            "stale": failure(
                409, "Conflict", 'Operation cannot be fulfilled on services "web": the object has '
                "been modified; please apply your changes to the latest version and try again"),
            "missing": failure(404, "NotFound", 'services "none" not found'),
            "invalid": 422,
            "no patch": 400,
            "unknown type": 415,
            "dry run": [{"b": "2", "dry": "yes"}, {"b": "2"}],
            "status": ["ClusterIP", "Ready", "2023-11-14T22:13:20.000Z"],
            "status kept": 1,
            "created by apply": ["ClusterIP", ["Apply one"]],
            "applied again": True,
            "shared": ["Apply one", "Apply two"],
            "conflict": failure(409, "Conflict", 'Apply failed with 1 conflict: conflict with '
                                '"one": .spec.type'),
            "forced": ["NodePort", ["Apply one", "Apply two"]],
            "conflict back": 409,
            "no manager": 422,
            "generic strategic": [{"team": "blue"}, "NodePort"],
            "typed apply": [{"team": "red"}, ["Apply one", "Apply three", "Apply two",
                                              "Update node-fetch"]],
            "deleted background": True,
            "deleted foreground": True,
            "orphaned": [],
            "bad policy": 422,
        })

    def test_watch_and_informer(self):
        server = self.server()
        services = "/api/v1/namespaces/js/services"
        spec = {"clusterIP": "None", "ports": [{"port": 80}]}

        def write(method, path, body=None):
            answer = server.call(method, path, body)
            self.assertIn(answer.code, (200, 201), answer)
            return answer.json

        def service(name, **labels):
            return {"metadata": {"name": name, "labels": labels}, "spec": spec}

        def informed(count):
            return sorted(script.next() for _ in range(count))

        write("POST", "/api/v1/namespaces", {"metadata": {"name": "js"}})
        script = self.script("follow.mjs", server, "js")
        self.assertEqual(script.next(), ("watch ended", None))
        self.assertEqual(script.next(), ("watched", ["ADDED Service seen", "MODIFIED Service seen",
                                                     "DELETED Service seen"]))
        for name in ("kept", "old"):
            write("POST", services, service(name))
        script.say("start")
        self.assertEqual(informed(2), [("add", "kept"), ("add", "old")])
        write("POST", services, service("live"))
        self.assertEqual(script.next(), ("add", "live"))

        # Changes during a disconnect must not be lost, however the server stopped.
        self.assertEqual(server.terminate(), 0)
        self.assertEqual(script.next(), ("disconnected", "ECONNREFUSED"))
        server = self.server(port=server.port)
        write("DELETE", f"{services}/old")
        write("PUT", f"{services}/kept", service("kept", changed="yes"))
        write("POST", services, service("new"))
        script.say("start")
        self.assertEqual(informed(3), [("add", "new"), ("delete", "old"), ("update", "kept")])

        write("DELETE", f"{services}/live")
        self.assertEqual(script.next(), ("delete", "live"))
        server.process.kill()
        server.process.wait()
        self.assertEqual(script.next()[0], "disconnected")
        server = self.server(port=server.port)
        write("DELETE", f"{services}/new")
        write("POST", services, service("last"))
        script.say("start")
        self.assertEqual(informed(2), [("add", "last"), ("delete", "new")])
        script.say("list")
        self.assertEqual(script.next(), ("cache", ["kept", "last"]))
        script.say("stop")
        self.assertEqual(script.process.wait(PATIENCE), 0)


if __name__ == "__main__":
    node_scripts.main()
