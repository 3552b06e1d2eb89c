"""Access control of `berth serve`: client certificates, tokens, and anonymous clients.

    BERTH_BIN=build/release/berth python3 test/e2e/serve_access_test.py
"""

import http.client
import os
import ssl

from authority import Authority
from harness import Answer, Case, SharedServerCase, main

SERVICES = "/api/v1/namespaces/default/services"


def call(server, path, pair=None, ca=None, token=None):
    """Sends a GET with a client certificate. The server is verified if `ca` is given."""
    context = ssl.create_default_context(cafile=ca)
    if not ca:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if pair:
        context.load_cert_chain(*pair)
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=60)
    try:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request("GET", path, headers=headers)
        return Answer(connection.getresponse())
    finally:
        connection.close()


class TokenTest(SharedServerCase):
    def test_everybody_may_ask_for_health_and_version_and_nothing_else(self):
        for path in ("/healthz", "/livez", "/readyz", "/readyz/store", "/version"):
            self.assertEqual(self.server.call("GET", path, token=None).code, 200, path)
        for path in ("/", "/api", "/apis", "/openapi/v3", SERVICES, "/api/v1/namespaces/default",
                     "/nowhere"):
            answer = self.server.call("GET", path, token=None)
            self.assertEqual(answer.code, 401, path)
            self.assertEqual(answer.json, {
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "Unauthorized", "reason": "Unauthorized", "code": 401})

    def test_a_wrong_token_opens_nothing(self):
        for token in ("wrong", "administrator-toke", "administrator-token2", "ADMINISTRATOR-TOKEN"):
            for path in ("/healthz", "/version", SERVICES):
                self.assertEqual(self.server.call("GET", path, token=token).code, 401, token)
        for header in ("Basic YWRtaW46YWRtaW4=", "Bearer", "Bearer ", self.server.TOKEN):
            answer = self.server.call("GET", SERVICES, headers={"Authorization": header})
            self.assertEqual(answer.code, 401, header)

    def test_administrators_may_do_all(self):
        self.assertEqual(self.server.call("GET", SERVICES).code, 200)
        header = {"Authorization": f"bearer {self.server.TOKEN}"}
        self.assertEqual(self.server.call("GET", SERVICES, headers=header).code, 200)

    def test_others_may_look_around(self):
        for path in ("/", "/api", "/apis", "/api/v1", "/apis/events.k8s.io/v1", "/openapi/v2",
                     "/openapi/v3", "/version", "/healthz"):
            self.assertEqual(self.server.call("GET", path, token="plain-token").code, 200, path)

    def test_others_are_told_what_they_may_not(self):
        core, default = 'in API group ""', 'in the namespace "default"'
        one = {"metadata": {"name": "x"}, "spec": {"ports": [{"port": 1}]}}
        for method, path, message in (
                ("GET", SERVICES, f'services is forbidden: User "jane" cannot list resource '
                                  f'"services" {core} {default}'),
                ("GET", f"{SERVICES}?watch=1", 'services is forbidden: User "jane" cannot watch '
                                               f'resource "services" {core} {default}'),
                ("GET", f"{SERVICES}/x", 'services "x" is forbidden: User "jane" cannot get '
                                         f'resource "services" {core} {default}'),
                ("POST", SERVICES, 'services is forbidden: User "jane" cannot create resource '
                                   f'"services" {core} {default}'),
                ("PUT", f"{SERVICES}/x/status", 'services "x" is forbidden: User "jane" cannot '
                                                f'update resource "services/status" {core} '
                                                f'{default}'),
                ("DELETE", SERVICES, 'services is forbidden: User "jane" cannot deletecollection '
                                     f'resource "services" {core} {default}'),
                ("GET", "/apis/coordination.k8s.io/v1/leases",
                 'leases.coordination.k8s.io is forbidden: User "jane" cannot list resource '
                 '"leases" in API group "coordination.k8s.io" at the cluster scope'),
                ("GET", "/nowhere", 'forbidden: User "jane" cannot get path "/nowhere"')):
            body = one if method in ("POST", "PUT") else None
            answer = self.server.call(method, path, body, token="plain-token")
            self.assertEqual((answer.code, answer.json["reason"], answer.json["message"]),
                             (403, "Forbidden", message))
        self.assertEqual(self.server.call("GET", f"{SERVICES}/x").code, 404)


class CertificateTest(Case):
    def test_berths_own_authority(self):
        server = self.server()
        pki = os.path.join(server.data_dir, "pki")
        admin = (f"{pki}/admin.crt", f"{pki}/admin.key")
        self.assertEqual(call(server, SERVICES, admin, ca=server.ca_file).code, 200)
        self.assertEqual(call(server, SERVICES, ca=server.ca_file).code, 401)
        stranger = Authority(self.folder, "stranger")
        impostor = stranger.client("eve", "/O=system:masters/CN=kubernetes-admin")
        self.assertEqual(self.tried(server, impostor), 401)
        # A name alone is not enough: not every certificate of the authority is for clients.
        self.assertEqual(self.tried(server, (f"{pki}/serving.crt", f"{pki}/serving.key")), 401)

    @staticmethod
    def tried(server, pair):
        """Returns the code. A refusal during the handshake counts as 401."""
        try:
            return call(server, SERVICES, pair).code
        except (ssl.SSLError, OSError, http.client.HTTPException):
            return 401

    def test_authorities_of_ones_own(self):
        ours = Authority(self.folder, "ours")
        serving = ours.sign("serving", "/CN=berth", "subjectAltName=IP:127.0.0.1")
        server = self.server("--tls-cert-file", serving[0], "--tls-private-key-file", serving[1],
                             "--client-ca-file", ours.cert)
        bob = ours.client("bob", "/O=system:masters/CN=bob")
        carol = ours.client("carol", "/O=developers/O=testers/CN=carol")
        self.assertEqual(call(server, SERVICES, bob, ca=ours.cert).code, 200)
        refused = call(server, SERVICES, carol, ca=ours.cert)
        self.assertEqual(refused.code, 403)
        self.assertIn('User "carol" cannot list resource "services"', refused.json["message"])
        # The server's own credentials still work, and so do tokens together with a certificate.
        pki = os.path.join(server.data_dir, "pki")
        self.assertEqual(call(server, SERVICES, (f"{pki}/admin.crt", f"{pki}/admin.key"),
                              ca=ours.cert).code, 200)
        self.assertEqual(call(server, SERVICES, ca=ours.cert, token=server.TOKEN).code, 200)
        self.assertEqual(self.tried(server, Authority(self.folder, "theirs").client(
            "dave", "/O=system:masters/CN=dave")), 401)


if __name__ == "__main__":
    main()
