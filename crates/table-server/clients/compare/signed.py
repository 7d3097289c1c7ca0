"""A client of the protocol that signs requests and changes nothing about them, on the standard library alone."""

import base64
import dataclasses
import email.utils
import hashlib
import hmac
import http.client
import json
import os
import re
import urllib.parse
import uuid

ACCOUNT = os.environ.get("TABLES_ACCOUNT", "devstoreaccount1")
# The key that is printed in the documentation of every emulator: it guards nothing.
KEY = os.environ.get(
    "TABLES_KEY", "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def etag(self):
        return self.headers.get("etag")

    @property
    def error(self):
        """Returns code and first line of the message, or two empty texts."""
        body = self.json
        if not isinstance(body, dict) or "odata.error" not in body:
            found = re.search(rb"<(?:m:)?code>([^<]*)", self.body, re.I)
            return (found.group(1).decode() if found else "", "")
        error = body["odata.error"]
        return error.get("code", ""), error.get("message", {}).get("value", "").split("\n")[0]


class Endpoint:
    def __init__(self, url):
        self.url = url.rstrip("/")
        parts = urllib.parse.urlsplit(self.url)
        self.address = (parts.hostname, parts.port)
        self.path = parts.path
        self.connection = None

    def authorization(self, path, date):
        text = f"{date}\n/{ACCOUNT}{path}".encode()
        digest = hmac.new(base64.b64decode(KEY), text, hashlib.sha256).digest()
        return f"SharedKeyLite {ACCOUNT}:{base64.b64encode(digest).decode()}"

    def send(self, method, path, query=None, headers=None, body=None):
        """Sends one request, again on a new connection if the old one was closed while it was idle."""
        path = f"{self.path}/{path}"
        date = email.utils.formatdate(usegmt=True)
        sent = {
            "x-ms-date": date,
            "x-ms-version": "2019-02-02",
            "Accept": "application/json;odata=minimalmetadata",
            "Authorization": self.authorization(path, date),
            **(headers or {}),
        }
        if body is not None and "Content-Type" not in sent:
            sent["Content-Type"] = "application/json"
        target = path + ("?" + urllib.parse.urlencode(query, quote_via=urllib.parse.quote) if query else "")
        for last in (False, True):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection(*self.address, timeout=20)
                self.connection.request(method, target, body, sent)
                response = self.connection.getresponse()
                headers = {name.lower(): value for name, value in response.getheaders()}
                return Answer(response.status, headers, response.read())
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.connection = None
                if last:
                    raise

    def batch(self, table, actions):
        """Sends a change set: actions are (method, path, headers, body)."""
        outer, inner = (f"{kind}_{uuid.uuid4()}" for kind in ("batch", "changeset"))
        lines = [f"--{outer}", f"Content-Type: multipart/mixed; boundary={inner}", ""]
        origin = self.url[: len(self.url) - len(self.path)]
        for number, (method, path, headers, body) in enumerate(actions):
            lines += [f"--{inner}", "Content-Type: application/http", "Content-Transfer-Encoding: binary", ""]
            lines += [f"{method} {origin}{self.path}/{path} HTTP/1.1", f"Content-ID: {number}"]
            lines += [f"{name}: {value}" for name, value in headers.items()]
            if body is not None:
                lines += ["Content-Type: application/json"]
            lines += ["Accept: application/json;odata=minimalmetadata", "", body or ""]
        lines += [f"--{inner}--", "", f"--{outer}--", ""]
        sent = {"Content-Type": f"multipart/mixed; boundary={outer}"}
        return self.send("POST", "$batch", headers=sent, body="\r\n".join(lines).encode())


def parts(answer):
    """Returns status, etag and error of every action that a batch's answer has a part for."""
    found = []
    for text in re.split(rb"--changesetresponse_[^\r\n]*", answer.body):
        head = re.search(rb"HTTP/1\.1 (\d{3})[^\r\n]*\r?\n(.*?)(?:\r?\n\r?\n|$)(.*)", text, re.S)
        if head:
            headers = dict(
                (line.split(b":", 1)[0].strip().lower().decode(), line.split(b":", 1)[1].strip().decode())
                for line in head.group(2).splitlines()
                if b":" in line
            )
            found.append(Answer(int(head.group(1)), headers, head.group(3).strip()))
    return found


def key_path(table, partition, row):
    quoted = [urllib.parse.quote(key.replace("'", "''"), safe="") for key in (partition, row)]
    return f"{table}(PartitionKey='{quoted[0]}',RowKey='{quoted[1]}')"
