import { all, assert, hence, keysOf, query, refused } from "../support.mjs";
import { AzureSASCredential, generateAccountSas, generateTableSas } from "@azure/data-tables";

const RIGHTS = { query: true, add: true, update: true, delete: true };
const row = (partitionKey, rowKey, more = {}) => ({ partitionKey, rowKey, ...more });
const LOOPBACK = { start: "127.0.0.1" };

// A table of four rows, and a client of it that holds a token of these fields.
async function granted(server, fields) {
  const table = await server.table([row("a", "1"), row("b", "1"), row("b", "2"), row("c", "1")]);
  const token = generateTableSas(table.tableName, server.credential, { expiresOn: hence(60), ...fields });
  return { table, holder: server.withToken(table.tableName, token) };
}

export default function sas(checks) {
  const check = checks.area("sas");

  check("a table's token reads and writes", async (server) => {
    const { holder } = await granted(server, { permissions: RIGHTS, startsOn: hence(-5) });
    assert.equal((await keysOf(holder.listEntities())).length, 4);
    await holder.createEntity(row("d", "1"));
    await holder.updateEntity(row("d", "1", { a: 1 }), "Merge");
    await holder.upsertEntity(row("d", "2"), "Replace");
    await holder.deleteEntity("d", "1");
    await holder.submitTransaction([["create", row("d", "3")], ["delete", row("d", "2")]]);
    assert.equal((await keysOf(holder.listEntities())).length, 5);
  });

  check("a right that is not there", async (server) => {
    const refusals = {
      query: (c) => all(c.listEntities()),
      add: (c) => c.createEntity(row("n", "1")),
      update: (c) => c.updateEntity(row("a", "1"), "Merge"),
      delete: (c) => c.deleteEntity("a", "1"),
    };
    for (const [right, act] of Object.entries(refusals)) {
      const { holder } = await granted(server, { permissions: { ...RIGHTS, [right]: false } });
      await refused(act(holder), 403, "AuthorizationPermissionMismatch");
    }
  });

  check("an upsert needs add and update", async (server) => {
    for (const permissions of [{ add: true }, { update: true }]) {
      const { holder } = await granted(server, { permissions });
      await refused(holder.upsertEntity(row("n", "1"), "Merge"), 403, "AuthorizationPermissionMismatch");
    }
    const { holder } = await granted(server, { permissions: { add: true, update: true } });
    await holder.upsertEntity(row("n", "1"), "Merge");
  });

  check("a right that is not there, in a batch", async (server) => {
    const { table, holder } = await granted(server, { permissions: { query: true, add: true } });
    await refused(holder.submitTransaction([["create", row("a", "2")], ["delete", row("a", "1")]]), 403);
    assert.equal((await keysOf(table.listEntities())).length, 4);
  });

  check("a token that is over", async (server) => {
    const { holder } = await granted(server, { permissions: RIGHTS, expiresOn: hence(-20) });
    await refused(holder.getEntity("a", "1"), 403, "AuthenticationFailed");
  });

  check("a token that is not yet", async (server) => {
    const { holder } = await granted(server, { permissions: RIGHTS, startsOn: hence(40) });
    await refused(holder.getEntity("a", "1"), 403, "AuthenticationFailed");
  });

  check("a token of another table", async (server) => {
    const other = await server.table();
    const { table } = await granted(server, {});
    const token = generateTableSas(other.tableName, server.credential, { permissions: RIGHTS });
    await refused(server.withToken(table.tableName, token).getEntity("a", "1"), 403);
  });

  check("a token that was changed", async (server) => {
    const table = await server.table();
    const token = generateTableSas(table.tableName, server.credential, { permissions: { query: true } });
    const wider = server.withToken(table.tableName, token.replace("sp=r", "sp=raud"));
    await refused(all(wider.listEntities()), 403, "AuthenticationFailed");
  });

  check("a token can neither drop nor share its table", async (server) => {
    const { holder } = await granted(server, { permissions: RIGHTS });
    await refused(holder.deleteTable(), 403);
    await refused(holder.getAccessPolicy(), 403);
    await refused(holder.setAccessPolicy([]), 403);
  });

  const partition = { permissions: RIGHTS, startPartitionKey: "b", endPartitionKey: "b" };
  check("a range of partitions narrows queries", async (server) => {
    const { holder } = await granted(server, partition);
    assert.deepEqual(await keysOf(holder.listEntities()), ["b/1", "b/2"]);
    assert.deepEqual(await query(holder, "PartitionKey ge 'a'"), ["b/1", "b/2"]);
    assert.deepEqual(await query(holder, "PartitionKey eq 'a' or RowKey eq '2'"), ["b/2"]);
  });

  check("a range of partitions hides a row outside", async (server) => {
    const { holder } = await granted(server, partition);
    assert.equal((await holder.getEntity("b", "1")).rowKey, "1");
    await refused(holder.getEntity("a", "1"), 404, "ResourceNotFound");
  });

  check("a range of partitions refuses writes outside", async (server) => {
    const { table, holder } = await granted(server, partition);
    await holder.createEntity(row("b", "3"));
    await refused(holder.createEntity(row("a", "2")), 403);
    await refused(holder.upsertEntity(row("a", "1", { x: 1 }), "Merge"), 403);
    await refused(holder.updateEntity(row("c", "1", { x: 1 }), "Merge"), 403);
    await refused(holder.deleteEntity("a", "1"), 403);
    await refused(holder.submitTransaction([["create", row("a", "3")]]), 403);
    assert.deepEqual(await keysOf(table.listEntities()), ["a/1", "b/1", "b/2", "b/3", "c/1"]);
  });

  check("a range of pairs has its ends inside", async (server) => {
    const ends = { startPartitionKey: "a", startRowKey: "1", endPartitionKey: "b", endRowKey: "1" };
    const { holder } = await granted(server, { permissions: RIGHTS, ...ends });
    assert.deepEqual(await keysOf(holder.listEntities()), ["a/1", "b/1"]);
  });

  check("a range pages", async (server) => {
    const { holder } = await granted(server, partition);
    const sizes = [];
    for await (const page of holder.listEntities().byPage({ maxPageSize: 1 })) sizes.push(page.length);
    assert.equal(sizes.reduce((a, b) => a + b, 0), 2);
  });

  check("an address that is inside, and one that is not", async (server) => {
    const inside = await granted(server, { permissions: RIGHTS, ipRange: LOOPBACK });
    assert.equal((await keysOf(inside.holder.listEntities())).length, 4);
    const outside = await granted(server, { permissions: RIGHTS, ipRange: { start: "10.0.0.1", end: "10.0.0.9" } });
    await refused(all(outside.holder.listEntities()), 403, "AuthorizationSourceIPMismatch");
  });

  check("a token for HTTPS alone", async (server) => {
    const { holder } = await granted(server, { permissions: RIGHTS, protocol: "https" });
    const secure = server.endpoint.startsWith("https:");
    const list = all(holder.listEntities());
    await (secure ? list : refused(list, 403, "AuthorizationProtocolMismatch"));
  });

  check("a policy gives and takes its rights", async (server) => {
    const table = await server.table([row("a", "1")]);
    const accessPolicy = { start: hence(-60), expiry: hence(60), permission: "r" };
    await table.setAccessPolicy([{ id: "reader", accessPolicy }]);
    const token = generateTableSas(table.tableName, server.credential, { identifier: "reader" });
    const holder = server.withToken(table.tableName, token);
    assert.deepEqual(await keysOf(holder.listEntities()), ["a/1"]);
    await refused(holder.createEntity(row("b", "1")), 403);
    await table.setAccessPolicy([{ id: "reader", accessPolicy: { ...accessPolicy, permission: "ra" } }]);
    await holder.createEntity(row("b", "1"));
    await table.setAccessPolicy([]);
    await refused(all(holder.listEntities()), 403, "AuthenticationFailed");
  });

  check("a policy that is over", async (server) => {
    const table = await server.table();
    const accessPolicy = { start: hence(-60), expiry: hence(-30), permission: "r" };
    await table.setAccessPolicy([{ id: "old", accessPolicy }]);
    const token = generateTableSas(table.tableName, server.credential, { identifier: "old" });
    await refused(all(server.withToken(table.tableName, token).listEntities()), 403, "AuthenticationFailed");
  });

  check("a policy that was never set", async (server) => {
    const table = await server.table();
    const token = generateTableSas(table.tableName, server.credential, { identifier: "none" });
    await refused(all(server.withToken(table.tableName, token).listEntities()), 403, "AuthenticationFailed");
  });

  const account = (server, permissions, resourceTypes, more = {}) =>
    new AzureSASCredential(
      generateAccountSas(server.credential, { permissions, resourceTypes, expiresOn: hence(60), ...more }),
    );
  const EVERYTHING = { query: true, write: true, delete: true, list: true, add: true, create: true, update: true };

  check("an account's token does everything", async (server) => {
    const credential = account(server, EVERYTHING, "sco");
    const service = server.service(credential);
    const name = server.freshName();
    await service.createTable(name);
    const holder = server.client(name, credential);
    await holder.createEntity(row("a", "1"));
    await holder.upsertEntity(row("a", "1", { x: 1 }), "Merge");
    await holder.submitTransaction([["create", row("a", "2")]]);
    assert.equal((await keysOf(holder.listEntities())).length, 2);
    assert.ok((await all(service.listTables())).length > 0);
    await service.getProperties();
    await service.deleteTable(name);
  });

  check("an account's token of entities has no tables", async (server) => {
    const table = await server.table([row("a", "1")]);
    const credential = account(server, EVERYTHING, "o");
    assert.equal((await keysOf(server.client(table.tableName, credential).listEntities())).length, 1);
    const name = server.freshName();
    await refused(server.service(credential).createTable(name), 403, "AuthorizationResourceTypeMismatch");
    await refused(server.service(credential).getProperties(), 403, "AuthorizationResourceTypeMismatch");
  });

  check("an account's token that only reads", async (server) => {
    const table = await server.table([row("a", "1")]);
    const holder = server.client(table.tableName, account(server, { query: true, list: true }, "sco"));
    assert.equal((await holder.getEntity("a", "1")).rowKey, "1");
    for (const act of [() => holder.createEntity(row("b", "1")), () => holder.deleteEntity("a", "1")]) {
      await refused(act(), 403, "AuthorizationPermissionMismatch");
    }
  });

  check("an account's token of another service", async (server) => {
    const table = await server.table();
    const token = generateAccountSas(server.credential, { services: { table: true }, permissions: EVERYTHING });
    const holder = server.withToken(table.tableName, token.replace("ss=t", "ss=b"));
    await refused(all(holder.listEntities()), 403);
  });

  check("an account's token from another address", async (server) => {
    const table = await server.table();
    const credential = account(server, EVERYTHING, "sco", { ipRange: { start: "10.0.0.1" } });
    await refused(all(server.client(table.tableName, credential).listEntities()), 403, "AuthorizationSourceIPMismatch");
  });

  check("an account's token that is over", async (server) => {
    const table = await server.table();
    const credential = account(server, EVERYTHING, "sco", { expiresOn: hence(-20) });
    await refused(all(server.client(table.tableName, credential).listEntities()), 403, "AuthenticationFailed");
  });
}
