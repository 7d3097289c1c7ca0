import { all, assert, refused } from "../support.mjs";

export default function tables(checks) {
  const check = checks.area("tables");

  check("create, list, delete", async (server) => {
    const service = server.service();
    const name = server.freshName();
    const named = (t) => t.name === name;
    await service.createTable(name);
    assert.ok((await all(service.listTables())).some(named));
    await service.deleteTable(name);
    assert.ok(!(await all(service.listTables())).some(named));
  });

  check("a second create succeeds silently", async (server) => {
    // The SDK swallows TableAlreadyExists alone, so any other code fails here.
    const table = await server.table();
    await table.createTable();
  });

  check("deleting a missing table succeeds silently", async (server) => {
    await server.service().deleteTable(server.freshName());
  });

  check("a name differs from another by more than its case", async (server) => {
    const table = await server.table([{ partitionKey: "p", rowKey: "r" }]);
    const upper = server.client(table.tableName.toUpperCase());
    assert.equal((await upper.getEntity("p", "r")).rowKey, "r");
    await upper.createTable();
    const like = (await all(server.service().listTables())).filter((t) => t.name.toLowerCase() === table.tableName);
    assert.equal(like.length, 1);
  });

  for (const [what, name] of [["digit first", "1abc"], ["dash", "a-bc"], ["underscore", "a_bc"]]) {
    check(`a name with ${what} is refused`, async (server) => {
      await refused(server.service().createTable(name), 400, "InvalidResourceName");
    });
  }

  for (const length of [2, 64]) {
    check(`a name of ${length} characters is refused`, async (server) => {
      await refused(server.service().createTable("a".repeat(length)), 400, "OutOfRangeInput");
    });
  }

  check("the reserved name is refused", async (server) => {
    await refused(server.service().createTable("tables"), 400, "InvalidResourceName", "InvalidInput");
  });

  check("filter by name", async (server) => {
    const table = await server.table();
    const filter = `TableName eq '${table.tableName}'`;
    const found = await all(server.service().listTables({ queryOptions: { filter } }));
    assert.deepEqual(found.map((t) => t.name), [table.tableName]);
  });

  check("filter by a range of names", async (server) => {
    const prefix = server.freshName("rng");
    for (const end of ["a", "b", "c"]) await server.table([], prefix + end);
    const filter = `TableName ge '${prefix}b' and TableName lt '${prefix}d'`;
    assert.equal((await all(server.service().listTables({ queryOptions: { filter } }))).length, 2);
  });

  check("pages of two", async (server) => {
    const prefix = server.freshName("pg");
    for (let i = 0; i < 5; i++) await server.table([], prefix);
    const filter = `TableName ge '${prefix}' and TableName lt '${prefix}z'`;
    const sizes = [];
    for await (const page of server.service().listTables({ queryOptions: { filter } }).byPage({ maxPageSize: 2 })) {
      sizes.push(page.length);
    }
    assert.deepEqual(sizes, [2, 2, 1]);
  });

  check("a page is found again by its token", async (server) => {
    const prefix = server.freshName("tk");
    const names = [];
    for (let i = 0; i < 4; i++) names.push((await server.table([], prefix)).tableName);
    const queryOptions = { filter: `TableName ge '${prefix}' and TableName lt '${prefix}z'` };
    const first = await server.service().listTables({ queryOptions }).byPage({ maxPageSize: 3 }).next();
    const { continuationToken } = first.value;
    assert.ok(continuationToken);
    const rest = await server.service().listTables({ queryOptions }).byPage({ continuationToken }).next();
    assert.deepEqual([...first.value, ...rest.value].map((t) => t.name), names.sort());
  });

  check("an entity of a missing table", async (server) => {
    const client = server.client(server.freshName());
    await refused(client.createEntity({ partitionKey: "p", rowKey: "r" }), 404, "TableNotFound");
    await refused(all(client.listEntities()), 404, "TableNotFound");
  });

  check("a table made again is empty", async (server) => {
    const table = await server.table([{ partitionKey: "p", rowKey: "r" }]);
    await table.deleteTable();
    await table.createTable();
    assert.deepEqual(await all(table.listEntities()), []);
  });

  check("an account by connection string", async (server) => {
    const { TableServiceClient } = await import("@azure/data-tables");
    const { name, key } = server.credential;
    const text = `DefaultEndpointsProtocol=http;AccountName=${name};AccountKey=${key};TableEndpoint=${server.endpoint};`;
    const service = TableServiceClient.fromConnectionString(text, server.options);
    assert.ok(Array.isArray(await all(service.listTables())));
  });
}
