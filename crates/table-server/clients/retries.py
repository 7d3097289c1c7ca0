#!/usr/bin/env python3
"""Tells what the SDKs' own retries do when answers are lost, by a proxy between them and a server.

    retries.py WORK ENDPOINT [--expected FILE]

Prints a line for each SDK, operation and fault: how many requests came, whether their bodies were equal, and what the SDK
told its caller. Fails where that differs from FILE (retries.tsv beside this script), which holds for the pinned versions of
the SDKs and any right server.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import urllib.parse
import uuid

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here / "compare"))
from proxy import Proxy
from signed import Endpoint, key_path

OPERATIONS = ["insert", "get", "query", "upsert", "update", "update-etag", "delete", "batch"]
NEED_A_ROW = {"get", "query", "update", "update-etag", "delete"}
# Ten times is more often than either SDK tries.
FAULTS = [f"{kind}-1" for kind in ("closed", "lost", "cut", "408", "429", "500", "501", "502", "503", "504")]
FAULTS += ["closed-10", "lost-10", "500-10", "503-10"]


def commands(work):
    python = [str(work / "python-venv/bin/python"), str(here / "python/calls.py")]
    return {"python": python, "javascript": ["node", str(work / "javascript/calls.mjs")]}


def tell(client, line):
    client.stdin.write(line + "\n")
    client.stdin.flush()
    return json.loads(client.stdout.readline())


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("work", type=pathlib.Path)
    arguments.add_argument("endpoint")
    arguments.add_argument("--expected", type=pathlib.Path, default=here / "retries.tsv")
    given = arguments.parse_args()
    subprocess.run([here / "install.sh", given.work, "python", "javascript"], check=True, timeout=1000)
    direct = Endpoint(given.endpoint)
    address = urllib.parse.urlsplit(given.endpoint)
    proxy = Proxy(address.hostname, address.port)
    table = "retry" + uuid.uuid4().hex
    made = direct.send("POST", "Tables", body=json.dumps({"TableName": table}).encode())
    if made.status != 201:
        sys.exit(f"no table could be made: {made.status} {made.body[:300]!r}")
    lines = []
    try:
        for sdk, command in commands(given.work.resolve()).items():
            through = f"http://127.0.0.1:{proxy.port}{address.path}"
            client = subprocess.Popen([*command, through, table], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for operation in OPERATIONS:
                for fault in FAULTS:
                    row = f"fault-{fault}-{sdk}-{operation}"
                    etag = ""
                    if operation in NEED_A_ROW:
                        entity = json.dumps({"PartitionKey": "p", "RowKey": row, "n": 0}).encode()
                        etag = direct.send("POST", table, body=entity).etag
                    told = tell(client, f"{operation}\t{row}\t{etag}")
                    seen = proxy.seen[row]
                    bodies = "equal" if len({body for _, body in seen}) == 1 else "differ"
                    there = direct.send("GET", key_path(table, "p", row)).status == 200
                    lines.append("\t".join([sdk, operation, fault, str(len(seen)), bodies, told, "there" if there else "absent"]))
                    print(lines[-1], flush=True)
            client.stdin.close()
            client.wait(timeout=10)
    finally:
        direct.send("DELETE", f"Tables('{table}')")
    if not given.expected.exists():
        return
    expected = given.expected.read_text(encoding="utf-8").splitlines()[1:]
    different = sorted(set(expected) ^ set(lines))
    for line in different:
        print(("missing: " if line in expected else "new: ") + line)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
