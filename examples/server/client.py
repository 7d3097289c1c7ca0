"""Inserts an employee into the example's store, as any program with the service's own library does.

    pip install azure-data-tables
    python client.py
"""

from azure.core.exceptions import ResourceExistsError
from azure.data.tables import TableClient

CONNECTION = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"
)

with TableClient.from_connection_string(CONNECTION, "Company") as company:
    eve = {
        "PartitionKey": "Sales",
        "RowKey": "empid_000003",
        "EntityType": "employee",
        "Name": "Eve",
        "Email": "eve@contoso.com",
        "Age": 28,
    }
    company.upsert_entity(eve)
    # The address is unique: the store refuses a second employee who has it.
    try:
        company.create_entity({**eve, "RowKey": "empid_000004"})
    except ResourceExistsError as taken:
        print("refused:", taken.status_code)
    # The copies that indexes keep are entities, too. This header leaves them out.
    entities = company.query_entities("PartitionKey eq 'Sales'", headers={"x-table-copies": "hide"})
    for entity in entities:
        print(entity["RowKey"], entity["Name"], entity["Age"])
