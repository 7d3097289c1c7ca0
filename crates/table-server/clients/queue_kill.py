#!/usr/bin/env python3
"""Kills a server with SIGKILL, again and again, while clients send, receive, update and delete messages of a queue.

    queue_kill.py WORK ENDPOINT --start COMMAND [--messages N] [--seed N] [--senders N] [--receivers N]

COMMAND starts the server, durable, with its queues at ENDPOINT's address; words are split as a shell does. When as many
messages were acknowledged, all that are left are received. Each acknowledged message was received; what was received had been
sent; and none came back whose deletion was acknowledged. Exit code 1 tells of a violation.
"""

import argparse
import os
import pathlib
import random
import shlex
import signal
import subprocess
import sys
import threading
import time
import uuid

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here / "python"))


class Server:
    def __init__(self, command, log):
        self.command, self.log, self.process = command, log, None

    def start(self, answers):
        self.process = subprocess.Popen(
            shlex.split(self.command), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True
        )
        until = time.monotonic() + 30
        while time.monotonic() < until:
            if self.process.poll() is not None:
                sys.exit(f"the server ended with {self.process.returncode}: see {self.log.name}")
            if answers():
                return
            time.sleep(0.01)
        sys.exit("the server does not answer after 30 seconds")

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Told:
    """What the clients were told."""

    def __init__(self, wanted):
        self.wanted, self.lock = wanted, threading.Lock()
        self.tried, self.sent, self.received, self.deleted, self.doubtful = set(), set(), set(), set(), set()
        self.failed, self.wrong = 0, []
        self.is_over = threading.Event()

    def note(self, kind, text):
        with self.lock:
            getattr(self, kind).add(text)

    def fails(self):
        with self.lock:
            self.failed += 1


def client(endpoint, queue):
    from azure.core.credentials import AzureNamedKeyCredential
    from azure.storage.queue import QueueClient
    from devtools_testutils import ACCOUNT, KEY

    credential = AzureNamedKeyCredential(ACCOUNT, KEY)
    return QueueClient(endpoint, queue, credential=credential, retry_total=0, connection_timeout=2, read_timeout=5)


def send(queue, told, name):
    """Sends texts, each until it is acknowledged: one whose answer is lost may be there twice."""
    number = 0
    while len(told.sent) < told.wanted:
        text = f"{name}-{number}"
        told.note("tried", text)
        try:
            queue.send_message(text)
        except Exception:
            # It may be there, and once more from the next try: one deletion is of one of both.
            told.note("doubtful", text)
            told.fails()
            time.sleep(0.02)
            continue
        told.note("sent", text)
        number += 1


def receive(queue, told, seed):
    """Receives messages, and deletes them; some are updated before."""
    chance = random.Random(seed)
    while not told.is_over.is_set():
        try:
            messages = list(queue.receive_messages(max_messages=32, messages_per_page=32, visibility_timeout=2))
        except Exception:
            told.fails()
            time.sleep(0.02)
            continue
        for message in messages:
            text = message.content
            with told.lock:
                if text not in told.tried:
                    told.wrong.append(f"{text} was received and never sent")
                if text in told.deleted and text not in told.doubtful:
                    told.wrong.append(f"{text} was received after it was deleted")
            told.note("received", text)
            try:
                if chance.random() < 0.1:
                    message = queue.update_message(message, visibility_timeout=5)
                queue.delete_message(message)
            except Exception:
                told.fails()
                continue
            told.note("deleted", text)
        if not messages:
            time.sleep(0.02)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("work", type=pathlib.Path)
    arguments.add_argument("endpoint")
    arguments.add_argument("--start", required=True)
    arguments.add_argument("--messages", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--senders", type=int, default=4)
    arguments.add_argument("--receivers", type=int, default=3)
    given = arguments.parse_args()
    subprocess.run([here / "install.sh", given.work, "queues"], check=True, timeout=1000)
    python = given.work.resolve() / "queues-venv/bin/python"
    if pathlib.Path(sys.prefix).resolve() != python.parent.parent.resolve():
        os.execv(python, [str(python), __file__, *sys.argv[1:]])

    name, chance, told = "kill" + uuid.uuid4().hex, random.Random(given.seed), Told(given.messages)
    queue = lambda: client(given.endpoint, name)

    def answers():
        try:
            queue().get_queue_properties()
        except Exception as error:
            return getattr(error, "status_code", None) is not None
        return True

    with open(given.work / "queue-kill-server.log", "w", encoding="utf-8") as log:
        server = Server(given.start, log)
        server.start(answers)
        kills = 0
        try:
            queue().create_queue()
            senders = [
                threading.Thread(target=send, args=(queue(), told, f"s{n}"), daemon=True) for n in range(given.senders)
            ]
            receivers = [
                threading.Thread(target=receive, args=(queue(), told, n), daemon=True) for n in range(given.receivers)
            ]
            for thread in senders + receivers:
                thread.start()
            while any(thread.is_alive() for thread in senders):
                time.sleep(chance.uniform(0.5, 2.0))
                server.kill()
                server.start(answers)
                kills += 1
            until = time.monotonic() + 120
            while time.monotonic() < until and queue().get_queue_properties().approximate_message_count:
                time.sleep(0.1)
            told.is_over.set()
            for thread in receivers:
                thread.join(timeout=30)
            left = queue().get_queue_properties().approximate_message_count
            queue().delete_queue()
        finally:
            server.kill()
    lost = told.sent - told.received
    told.wrong += [f"{text} was acknowledged and never received" for text in sorted(lost)]
    if left:
        told.wrong.append(f"{left} messages can't be received")
    print(
        f"{kills} kills, {len(told.sent)} messages acknowledged, {len(told.received)} received, {len(told.deleted)} deleted, "
        f"{told.failed} calls that failed, {len(told.wrong)} violations"
    )
    for text in told.wrong[:20]:
        print(text)
    sys.exit(1 if told.wrong or not kills else 0)


if __name__ == "__main__":
    main()
