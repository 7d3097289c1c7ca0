import { assert, keysOf, refused } from "../support.mjs";
import { TableTransaction } from "@azure/data-tables";

const entity = (rowKey, more = {}) => ({ partitionKey: "p", rowKey, ...more });

// Expects that a batch is refused because of the action at this index, and that nothing of it stays.
async function fails(table, actions, index, status, ...codes) {
  const before = await keysOf(table.listEntities());
  const error = await refused(table.submitTransaction(actions), status, ...codes);
  const text = error.details?.odataError?.message?.value ?? error.message;
  assert.equal(text.split(":")[0], String(index), `index in: ${text.split("\n")[0]}`);
  assert.deepEqual(await keysOf(table.listEntities()), before);
  return error;
}

export default function batches(checks) {
  const check = checks.area("batches");

  check("every kind of action", async (server) => {
    const table = await server.table(["m", "r", "d", "um", "ur"].map((r) => entity(r, { old: 1 })));
    const transaction = new TableTransaction();
    transaction.createEntity(entity("c", { a: 1 }));
    transaction.updateEntity(entity("m", { a: 1 }), "Merge");
    transaction.updateEntity(entity("r", { a: 1 }), "Replace");
    transaction.deleteEntity("p", "d");
    transaction.upsertEntity(entity("um", { a: 1 }), "Merge");
    transaction.upsertEntity(entity("ur", { a: 1 }), "Replace");
    transaction.upsertEntity(entity("un", { a: 1 }), "Merge");
    const answer = await table.submitTransaction(transaction.actions);
    assert.equal(answer.status, 202);
    assert.deepEqual(answer.subResponses.map((r) => r.status), Array(7).fill(204));
    assert.ok(answer.getResponseForEntity("c").etag);
    assert.deepEqual(await keysOf(table.listEntities()), ["p/c", "p/m", "p/r", "p/um", "p/un", "p/ur"]);
    const old = async (row) => (await table.getEntity("p", row)).old;
    assert.deepEqual([await old("m"), await old("r"), await old("um"), await old("ur")], [1, undefined, 1, undefined]);
  });

  check("the etags of a batch are in force", async (server) => {
    const table = await server.table();
    const answer = await table.submitTransaction([["create", entity("1")], ["create", entity("2")]]);
    for (const row of ["1", "2"]) {
      const { etag } = answer.getResponseForEntity(row);
      assert.equal((await table.getEntity("p", row)).etag, etag);
      await table.deleteEntity("p", row, { etag });
    }
  });

  check("a hundred actions", async (server) => {
    const table = await server.table();
    const rows = Array.from({ length: 100 }, (_, i) => ["create", entity(String(i))]);
    assert.equal((await table.submitTransaction(rows)).subResponses.length, 100);
    assert.equal((await keysOf(table.listEntities())).length, 100);
  });

  check("a hundred and one actions", async (server) => {
    const table = await server.table();
    const rows = Array.from({ length: 101 }, (_, i) => ["create", entity(String(i))]);
    await refused(table.submitTransaction(rows), 400, "InvalidInput");
    assert.deepEqual(await keysOf(table.listEntities()), []);
  });

  check("an entity that is there fails by its index", async (server) => {
    const table = await server.table([entity("2")]);
    const actions = ["0", "1", "2"].map((r) => ["create", entity(r)]);
    await fails(table, actions, 2, 409, "EntityAlreadyExists");
  });

  check("an entity that is missing fails by its index", async (server) => {
    const table = await server.table();
    await fails(table, [["create", entity("0")], ["update", entity("x"), "Merge"]], 1, 404, "ResourceNotFound");
    await fails(table, [["create", entity("0")], ["delete", entity("x")]], 1, 404, "ResourceNotFound");
  });

  check("an etag that is over fails by its index", async (server) => {
    const table = await server.table([entity("1")]);
    const { etag } = await table.getEntity("p", "1");
    await table.updateEntity(entity("1", { a: 1 }), "Merge");
    const actions = [["create", entity("0")], ["update", entity("1"), "Replace", { etag }]];
    await fails(table, actions, 1, 412, "UpdateConditionNotSatisfied");
  });

  check("an entity twice fails by its index", async (server) => {
    const table = await server.table();
    const actions = [["create", entity("0")], ["create", entity("1")], ["upsert", entity("0"), "Merge"]];
    await fails(table, actions, 2, 400, "InvalidDuplicateRow");
  });

  check("a bad entity fails by its index", async (server) => {
    const table = await server.table();
    const actions = [["create", entity("0")], ["create", entity("1", { text: "x".repeat(32769) })]];
    await fails(table, actions, 1, 400, "PropertyValueTooLarge");
  });

  check("two partitions", async (server) => {
    const table = await server.table();
    // The SDK refuses this itself: the second partition goes past it by hand.
    const transaction = [["create", entity("0")], ["create", { partitionKey: "q", rowKey: "0" }]];
    await assert.rejects(table.submitTransaction(transaction));
    assert.deepEqual(await keysOf(table.listEntities()), []);
  });

  check("of a missing table", async (server) => {
    const client = server.client(server.freshName());
    await refused(client.submitTransaction([["create", entity("0")]]), 404, "TableNotFound");
  });

  check("types and odd text in a batch", async (server) => {
    const table = await server.table();
    const text = "--batch\r\n\r\nHTTP/1.1 204 No Content\r\nžluť 🐎";
    const sent = { text, large: 5n, bytes: new Uint8Array([1, 2]), at: new Date(0) };
    await table.submitTransaction([["create", entity("0", sent)]]);
    const got = await table.getEntity("p", "0");
    assert.equal(got.text, text);
    assert.equal(got.large, 5n);
    assert.deepEqual([...got.bytes], [1, 2]);
    assert.equal(new Date(got.at).getTime(), 0);
  });

  check("a body of 3 MiB, and one of more than 4", async (server) => {
    const table = await server.table();
    const fat = (r) => ["create", entity(r, { text: "x".repeat(32768), more: "x".repeat(32768) })];
    await table.submitTransaction(Array.from({ length: 46 }, (_, i) => fat(String(i))));
    const more = Array.from({ length: 66 }, (_, i) => fat(`m${i}`));
    await refused(table.submitTransaction(more), 413, "RequestBodyTooLarge");
  });
}
