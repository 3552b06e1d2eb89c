"""A certificate authority of a user, made with openssl."""

import os
import subprocess

import tools


class Authority:
    """Its files are in a folder of the test."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.key, self.cert = self.path("ca.key"), self.path("ca.crt")
        self.openssl("req", "-x509", *self.NEW_KEY, "-subj", f"/CN={name}", "-days", "2", "-keyout",
                     self.key, "-out", self.cert)

    NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")

    def path(self, name):
        return os.path.join(self.folder, f"{self.name}-{name}")

    @staticmethod
    def openssl(*args):
        subprocess.run([tools.OPENSSL, *args], check=True, capture_output=True)

    def sign(self, name, subject, extension):
        """Returns a certificate and its key, as files."""
        key, request, cert = (self.path(f"{name}.{end}") for end in ("key", "csr", "crt"))
        self.openssl("req", "-new", *self.NEW_KEY, "-subj", subject, "-keyout", key, "-out",
                     request)
        with open(self.path("ext"), "w", encoding="ascii") as out:
            out.write(extension)
        self.openssl("x509", "-req", "-in", request, "-CA", self.cert, "-CAkey", self.key,
                     "-CAcreateserial", "-days", "1", "-extfile", self.path("ext"), "-out", cert)
        return cert, key

    def client(self, name, subject):
        return self.sign(name, subject, "extendedKeyUsage=clientAuth")

    def server(self, name, names):
        """`names` is such as "DNS:localhost,IP:127.0.0.1"."""
        return self.sign(name, f"/CN={name}", f"subjectAltName={names}\nextendedKeyUsage=serverAuth")
