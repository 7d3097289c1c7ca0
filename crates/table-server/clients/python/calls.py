"""Makes one call of the Python SDK for each line read, and prints how it ended, as a line of JSON.

    calls.py ENDPOINT TABLE    # a line is `operation TAB row TAB etag`
"""

import json
import sys

from azure.core import MatchConditions
from azure.core.credentials import AzureNamedKeyCredential
from azure.data.tables import TableClient, UpdateMode
from devtools_testutils import ACCOUNT, KEY

endpoint, table = sys.argv[1:]
# How often is tried again is the SDK's own; only the waits are cut.
client = TableClient(endpoint, table, credential=AzureNamedKeyCredential(ACCOUNT, KEY), retry_backoff_factor=0.01)


def call(operation, row, etag):
    entity = {"PartitionKey": "p", "RowKey": row, "n": 1}
    if operation == "insert":
        client.create_entity(entity)
    elif operation == "get":
        client.get_entity("p", row)
    elif operation == "query":
        list(client.query_entities(f"PartitionKey eq 'p' and RowKey eq '{row}'"))
    elif operation == "upsert":
        client.upsert_entity(entity, UpdateMode.MERGE)
    elif operation == "update":
        client.update_entity(entity, UpdateMode.MERGE)
    elif operation == "update-etag":
        client.update_entity(entity, UpdateMode.REPLACE, etag=etag, match_condition=MatchConditions.IfNotModified)
    elif operation == "delete":
        client.delete_entity("p", row)
    elif operation == "batch":
        client.submit_transaction([("create", entity)])


for line in sys.stdin:
    operation, row, etag = line.rstrip("\n").split("\t")
    try:
        call(operation, row, etag)
        answer = "ok"
    except Exception as error:  # whatever it is, it is told
        code = getattr(error, "error_code", None)
        known = (type(error).__name__, getattr(error, "status_code", None), getattr(code, "value", code))
        answer = " ".join(str(x) for x in known if x)
    print(json.dumps(answer), flush=True)
