"""A proxy that loses answers, told to by the row that a request is about.

A row `fault-KIND-N-anything` has its first N requests go wrong: `closed` (the connection ends before the server is asked),
`lost` (the server is asked, and the connection ends), `cut` (half of the answer comes), or a status that the proxy answers
in the server's stead.
"""

import collections
import hashlib
import http.client
import http.server
import re
import threading

RULE = re.compile(rb"fault-([a-z0-9]+)-(\d+)-[a-z-]+")
LEFT_OUT = {"transfer-encoding", "connection", "keep-alive", "content-length"}


class Proxy:
    def __init__(self, host, port):
        self.upstream = (host, port)
        self.seen = collections.defaultdict(list)
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_any(self):
                proxy.handle(self)

            do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = do_MERGE = handle_any

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        # Clients hang up when they give up: that is no news.
        self.server.handle_error = lambda *_: None
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def handle(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        rule = RULE.search(request.path.encode() + b" " + body)
        kind = None
        if rule:
            row = rule.group(0).decode()
            # A batch's boundaries may be new with each try: they are no part of what is asked.
            asked = re.sub(rb"(batch|changeset)_[0-9a-fA-F-]{36}", b"", body)
            self.seen[row].append((request.command, hashlib.sha256(asked).hexdigest()))
            if len(self.seen[row]) <= int(rule.group(2)):
                kind = rule.group(1).decode()
        if kind == "closed":
            request.close_connection = True
        elif kind and kind.isdigit():
            self.answer(request, int(kind), [("Content-Type", "application/json")], b'{"odata.error":{"code":"ServerBusy"}}')
        else:
            self.pass_on(request, body, kind)

    def pass_on(self, request, body, kind):
        upstream = http.client.HTTPConnection(*self.upstream, timeout=30)
        upstream.request(request.command, request.path, body or None, dict(request.headers))
        response = upstream.getresponse()
        content = response.read()
        upstream.close()
        headers = [(n, v) for n, v in response.getheaders() if n.lower() not in LEFT_OUT]
        if kind == "lost":
            request.close_connection = True
        else:
            self.answer(request, response.status, headers, content, cut=kind == "cut")

    def answer(self, request, status, headers, content, cut=False):
        request.send_response(status)
        for name, value in headers:
            request.send_header(name, value)
        if status != 204:
            # Where there is no body, half of the answer is a promise of one that does not come.
            request.send_header("Content-Length", str(max(len(content), 2) if cut else len(content)))
        request.end_headers()
        request.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            request.close_connection = True
