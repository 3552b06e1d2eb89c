"""Changes stores straight, as a person with the wrong tool would: the store of a data directory at
rest, and etcd. EDIT_STORE is the program that changes data directories."""

import base64
import os
import subprocess

from legacy_test import fields

EDIT_STORE = os.path.abspath(os.environ.get("EDIT_STORE", "build/release/test/edit_store"))


def varint(number):
    out = b""
    while number >= 128:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def with_bits(value, change):
    """Returns a stored RangeAllocation whose bits, as a number, are changed."""
    outer = fields(value[4:])
    inner = fields(outer[2])
    bits = change(int.from_bytes(inner[3], "big"))
    inner[3] = bits.to_bytes((bits.bit_length() + 7) // 8, "big")
    outer[2] = b"".join(bytes([tag << 3 | 2]) + varint(len(inner[tag])) + inner[tag]
                        for tag in sorted(inner))
    return b"k8s\0" + b"".join(bytes([tag << 3 | 2]) + varint(len(outer[tag])) + outer[tag]
                               for tag in sorted(outer))


class Directory:
    """The store in a data directory that no server uses."""

    def __init__(self, data_dir):
        self.data_dir = data_dir
        self.source = ("--data-dir", data_dir)

    def run(self, what, key, value=None, codes=(0,)):
        done = subprocess.run([EDIT_STORE, os.path.join(self.data_dir, "store"), what, key],
                              input=value or b"", capture_output=True, timeout=60)
        assert done.returncode in codes, done
        return done.stdout if done.returncode == 0 else None

    def get(self, key):
        return self.run("get", key, codes=(0, 3))

    def put(self, key, value):
        self.run("put", key, value)

    def delete(self, key):
        self.run("delete", key)

    def contents(self):
        """Returns the bytes of all files except the lock."""
        found = {}
        for folder, _, names in os.walk(self.data_dir):
            for name in names:
                path = os.path.join(folder, name)
                if name != "holder":
                    with open(path, "rb") as file:
                        found[path] = file.read()
        return found


class EtcdStore:
    """The store in an etcd."""

    def __init__(self, etcd):
        self.etcd = etcd
        self.source = ("--etcd-servers", etcd.url)

    def get(self, key):
        kvs = self.etcd.post("kv/range", key=base64.b64encode(key.encode()).decode()).get("kvs", [])
        return base64.b64decode(kvs[0]["value"]) if kvs else None

    def put(self, key, value):
        self.etcd.post("kv/put", key=base64.b64encode(key.encode()).decode(),
                       value=base64.b64encode(value).decode())

    def delete(self, key):
        self.etcd.post("kv/deleterange", key=base64.b64encode(key.encode()).decode())

    def contents(self):
        """Returns the revision, which every write raises."""
        return self.etcd.post("kv/range", key="AA==")["header"]["revision"]
