"""Writes to a server that is killed and started again, and notes in a file what was acknowledged.

    load.py ENDPOINT TABLE NOTES    # until its input ends

Every writer inserts rows (`insert`), counts by batches of a counter and a row (`count`), and merges a growing number
(`merge`). A note is a line: what, writer, number.
"""

import sys
import threading

from azure.core import MatchConditions
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import AzureError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.data.tables import TableClient, UpdateMode
from devtools_testutils import ACCOUNT, KEY

WRITERS = 4
endpoint, table, notes = sys.argv[1:]
ended = threading.Event()
noting = threading.Lock()


def note(file, *words):
    with noting:
        file.write("\t".join(map(str, words)) + "\n")
        file.flush()


def increment(client, writer, number):
    """Counts one up, once: whether a try whose answer was lost had counted is seen by its row."""
    row = f"op-{number:06}"
    while not ended.is_set():
        try:
            client.get_entity(writer, row)
            return True
        except ResourceNotFoundError:
            pass
        try:
            counter = client.get_entity(writer, "counter")
            count, etag = counter["n"], counter.metadata["etag"]
            step = ("update", {"PartitionKey": writer, "RowKey": "counter", "n": count + 1})
            step += ({"mode": "replace", "etag": etag, "match_condition": MatchConditions.IfNotModified},)
        except ResourceNotFoundError:
            count, step = 0, ("create", {"PartitionKey": writer, "RowKey": "counter", "n": 1})
        try:
            client.submit_transaction([step, ("create", {"PartitionKey": writer, "RowKey": row, "n": count + 1})])
            return True
        except (ResourceExistsError, ResourceModifiedError):
            continue
    return False


def write(file, writer):
    client = TableClient(
        endpoint, table, credential=AzureNamedKeyCredential(ACCOUNT, KEY), retry_backoff_factor=0.05, read_timeout=10
    )
    number = 0
    while not ended.is_set():
        number += 1
        try:
            client.create_entity({"PartitionKey": writer, "RowKey": f"insert-{number:06}", "n": number})
            note(file, "insert", writer, number)
        except AzureError as error:
            note(file, "failed", writer, number, type(error).__name__)
        for _ in range(100):
            try:
                if increment(client, writer, number):
                    note(file, "count", writer, number)
                break
            except AzureError:
                # What came of it is seen by the next try.
                if ended.wait(0.1):
                    break
        try:
            client.upsert_entity({"PartitionKey": writer, "RowKey": "merge", "n": number}, UpdateMode.MERGE)
            note(file, "merge", writer, number)
        except AzureError:
            pass


with open(notes, "w", encoding="utf-8") as file:
    threads = [threading.Thread(target=write, args=(file, f"python-{n}")) for n in range(WRITERS)]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    ended.set()
    for thread in threads:
        thread.join()
