#!/usr/bin/env python3
"""Kills a server with SIGKILL, again and again, while two SDKs write, and checks after each start what they were told.

    kill.py WORK ENDPOINT --start COMMAND [--rounds N] [--seed N] [--warm SECONDS] [--quiet SECONDS]
    kill.py WORK ENDPOINT --start COMMAND --second ENDPOINT --start-second COMMAND ..

COMMAND starts the server, durable, on ENDPOINT's address; words are split as a shell does. After each start: every write
that was acknowledged before is there; the rows that were written in one batch with a counter are numbered without a gap, and
at the end each counter equals the number of its rows, so nothing was done in part or twice. Exit code 1 tells of a violation.

With a second server, over the same store, each SDK writes to one of the two. One of them is killed in each round, and what
was acknowledged is read from the other while that one is gone, and from both at the end.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shlex
import signal
import subprocess
import sys
import time
import uuid

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here / "compare"))
from signed import Endpoint


class Server:
    def __init__(self, command, endpoint, log):
        self.command, self.endpoint, self.log = command, endpoint, log
        self.process = None

    def start(self):
        """Starts it, and returns the milliseconds until it answers."""
        begun = time.monotonic()
        self.process = subprocess.Popen(
            shlex.split(self.command), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True
        )
        while time.monotonic() < begun + 30:
            if self.process.poll() is not None:
                sys.exit(f"the server ended with {self.process.returncode}: see {self.log.name}")
            try:
                if Endpoint(self.endpoint).send("GET", "Tables", {"$top": "1"}).status == 200:
                    return (time.monotonic() - begun) * 1000
            except OSError:
                time.sleep(0.01)
        sys.exit("the server does not answer after 30 seconds")

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def rows(endpoint, table):
    """Returns all rows, by partition and row key, or nothing if the table is gone."""
    found, more = {}, {}
    while True:
        answer = endpoint.send("GET", f"{table}()", more)
        if answer.status == 404:
            return None
        if answer.status != 200:
            sys.exit(f"rows can't be read: {answer.status} {answer.body[:300]!r}")
        for row in answer.json["value"]:
            found[row["PartitionKey"], row["RowKey"]] = row["n"]
        names = ("NextPartitionKey", "NextRowKey")
        more = {n: answer.headers[f"x-ms-continuation-{n.lower()}"] for n in names if f"x-ms-continuation-{n.lower()}" in answer.headers}
        if not more:
            return found


def acknowledged(notes):
    """Returns the notes of every complete line."""
    for path in notes:
        if path.exists():
            for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
                what, writer, number = line.split("\t")[:3]
                yield what, writer, int(number)


def violations(told, found, is_quiet=False):
    """Returns what is not as the writers were told, and how many writes were checked.

    While writers write, a counter is read on an earlier page than the rows that it counts, so there may be more of them.
    """
    if found is None:
        return ["the table is lost"], len(told)
    wrong, merged, checked = [], collections.Counter(), 0
    for what, writer, number in told:
        checked += what != "failed"
        if what == "insert" and (writer, f"insert-{number:06}") not in found:
            wrong.append(f"insert {number} of {writer} is lost")
        elif what == "count" and (writer, f"op-{number:06}") not in found:
            wrong.append(f"count {number} of {writer} is lost")
        elif what == "merge":
            merged[writer] = max(merged[writer], number)
    for writer, number in merged.items():
        if found.get((writer, "merge"), 0) < number:
            wrong.append(f"merge {number} of {writer} is lost")
    for writer in {writer for writer, _ in found}:
        counts = sorted(n for (w, row), n in found.items() if w == writer and row.startswith("op-"))
        counter = found.get((writer, "counter"), 0)
        if counts != list(range(1, len(counts) + 1)) or len(counts) < counter or is_quiet and len(counts) > counter:
            wrong.append(f"the counter of {writer} is {counter}, and there are {len(counts)} rows of it")
    return wrong, checked


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("work", type=pathlib.Path)
    arguments.add_argument("endpoint")
    arguments.add_argument("--start", required=True)
    arguments.add_argument("--second", metavar="ENDPOINT")
    arguments.add_argument("--start-second", metavar="COMMAND")
    arguments.add_argument("--rounds", type=int, default=10)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--warm", type=float, default=1.5, help="seconds before the first kill")
    arguments.add_argument("--quiet", type=float, default=0.0, help="seconds between a kill and the next start")
    given = arguments.parse_args()
    if (given.second is None) != (given.start_second is None):
        arguments.error("--second and --start-second belong together")
    subprocess.run([here / "install.sh", given.work, "python", "javascript"], check=True, timeout=1000)
    work = given.work.resolve()
    chance = random.Random(given.seed)
    notes = [work / f"kill-{sdk}.tsv" for sdk in ("python", "javascript")]
    for path in notes:
        path.unlink(missing_ok=True)
    writers, wrong, checked = [], [], 0
    table = "kill" + uuid.uuid4().hex
    with open(work / "kill-server.log", "w", encoding="utf-8") as log:
        servers = [Server(given.start, given.endpoint, log)]
        if given.second:
            servers.append(Server(given.start_second, given.second, log))
        try:
            for server in servers:
                server.start()
            made = Endpoint(given.endpoint).send("POST", "Tables", body=json.dumps({"TableName": table}).encode())
            if made.status != 201:
                sys.exit(f"no table could be made: {made.status} {made.body[:300]!r}")
            commands = [
                [str(work / "python-venv/bin/python"), str(here / "python/load.py")],
                ["node", str(work / "javascript/load.mjs")],
            ]
            # The last server is the second, or the only one.
            for command, path, server in zip(commands, notes, (servers[0], servers[-1])):
                words = [*command, server.endpoint, table, str(path)]
                writers.append(subprocess.Popen(words, stdin=subprocess.PIPE))
            time.sleep(given.warm)
            for turn in range(1, given.rounds + 1):
                time.sleep(chance.uniform(0.3, 1.5))
                server = chance.choice(servers)
                server.kill()
                told = list(acknowledged(notes))
                time.sleep(given.quiet)
                others = [other for other in servers if other is not server]
                found = [rows(Endpoint(other.endpoint), table) for other in others]
                ready = server.start()
                found.append(rows(Endpoint(server.endpoint), table))
                new = []
                for of_server in found:
                    found_wrong, checked = violations(told, of_server)
                    new += found_wrong
                wrong += [f"round {turn}: {text}" for text in new]
                if None in found:
                    sys.exit(f"round {turn}: the table is lost, and {checked} acknowledged writes with it")
                print(f"round {turn}: {checked} acknowledged, {len(new)} violations, ready after {ready:.0f} ms", flush=True)
            for writer in writers:
                writer.stdin.close()
            for writer in writers:
                writer.wait(timeout=60)
            told = list(acknowledged(notes))
            for server in servers:
                new, checked = violations(told, rows(Endpoint(server.endpoint), table), is_quiet=True)
                wrong += [f"at the end: {text}" for text in new]
            # A round that killed nobody's write shows little.
            failed = sum(what == "failed" for what, *_ in told)
            print(f"{given.rounds} kills, {checked} acknowledged writes, {failed} that failed, {len(wrong)} violations")
            Endpoint(given.endpoint).send("DELETE", f"Tables('{table}')")
        finally:
            for writer in writers:
                if writer.poll() is None:
                    writer.kill()
            for server in servers:
                server.kill()
    for text in wrong[:20]:
        print(text)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
