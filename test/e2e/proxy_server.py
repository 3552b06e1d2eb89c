"""A small HTTP proxy for tests: it opens tunnels (CONNECT) and forwards plain requests. All names
lead to this machine, so that a test can use any.

    with proxy_server.Proxy() as proxy:
        run_program(HTTPS_PROXY=proxy.url)
        print(proxy.asked)  # [("CONNECT", "cluster.example:6443", headers)]
"""

import http.server
import socket
import threading
import urllib.parse


class Proxy:
    """`refusal` is a code with which it answers everything."""

    def __init__(self, refusal=None):
        self.lock = threading.Lock()
        self.requests = []  # (method, host and port, headers)
        handler = type("Handler", (_Handler,), {"proxy": self, "refusal": refusal})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.where = f"127.0.0.1:{self.server.server_address[1]}"
        self.url = f"http://{self.where}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def asked(self):
        with self.lock:
            return list(self.requests)


class _Handler(http.server.BaseHTTPRequestHandler):
    proxy = refusal = None

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass  # One of the two has gone.

    def serve(self):
        host = self.path if self.command == "CONNECT" else urllib.parse.urlsplit(self.path).netloc
        with self.proxy.lock:
            self.proxy.requests.append((self.command, host, dict(self.headers)))
        self.close_connection = True
        if self.refusal:
            return self.send_error(self.refusal)
        with socket.create_connection(("127.0.0.1", int(host.rpartition(":")[2])), 30) as server:
            if self.command == "CONNECT":
                self.send_response_only(200, "Connection established")
                self.end_headers()
            else:
                server.sendall(self.request_for_server())
            return self.relay(server)

    do_CONNECT = do_GET = do_POST = serve

    def request_for_server(self):
        """Returns the head of a request without a body, as the server has to see it."""
        url = urllib.parse.urlsplit(self.path)
        lines = [f"{self.command} {url.path or '/'}{'?' + url.query if url.query else ''} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()
                  if not name.lower().startswith(("proxy-", "connection"))]
        return "\r\n".join([*lines, "Connection: close", "", ""]).encode()

    def relay(self, server):
        """Passes bytes on in both directions until one side has ended."""
        back = threading.Thread(target=copy, args=(server, self.connection), daemon=True)
        back.start()
        copy(self.connection, server)
        back.join()


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
