import { all, assert, keysOf, query, refused } from "../support.mjs";
import { odata } from "@azure/data-tables";

const when = new Date("2024-02-29T12:00:00Z");
const guid = "c9da6455-213d-42c9-9a79-3e9149a57833";

// Ten rows in two partitions: 'a/0'..'a/4' and 'b/0'..'b/4'.
function rows() {
  return ["a", "b"].flatMap((partitionKey, p) =>
    Array.from({ length: 5 }, (_, i) => ({
      partitionKey,
      rowKey: String(i),
      number: i + 5 * p,
      large: BigInt(i) * 1_000_000_000_000n,
      ratio: i / 2,
      even: i % 2 === 0,
      name: `n'${i}`,
      at: new Date(when.getTime() + i * 1000),
      id: { type: "Guid", value: guid.replace(/3$/, String(i)) },
      bytes: new Uint8Array([i, 255]),
      ...(i === 4 ? { rare: "yes" } : {}),
    })),
  );
}

export default function queries(checks) {
  const check = checks.area("queries");

  const finds = (name, filter, expected) =>
    check(name, async (server) => {
      const table = await server.table(rows());
      assert.deepEqual(await query(table, filter), expected);
    });

  check("everything, in order", async (server) => {
    const table = await server.table(rows());
    assert.equal((await keysOf(table.listEntities())).join(" "), "a/0 a/1 a/2 a/3 a/4 b/0 b/1 b/2 b/3 b/4");
  });

  finds("by partition", "PartitionKey eq 'b'", ["b/0", "b/1", "b/2", "b/3", "b/4"]);
  finds("by a range of rows", "PartitionKey eq 'a' and RowKey ge '1' and RowKey lt '3'", ["a/1", "a/2"]);
  finds("by Int32", "number gt 7", ["b/3", "b/4"]);
  finds("by Int64", "PartitionKey eq 'a' and large ge 3000000000000L", ["a/3", "a/4"]);
  finds("by Double", "PartitionKey eq 'a' and ratio eq 1.5", ["a/3"]);
  finds("by a boolean", "PartitionKey eq 'a' and even eq false", ["a/1", "a/3"]);
  finds("by a boolean alone", "PartitionKey eq 'a' and even", ["a/0", "a/2", "a/4"]);
  finds("by text with a quote", odata`PartitionKey eq ${"a"} and name eq ${"n'2"}`, ["a/2"]);
  finds("by a time", odata`PartitionKey eq ${"a"} and at lt ${new Date(when.getTime() + 2000)}`, ["a/0", "a/1"]);
  finds("by a guid", `PartitionKey eq 'a' and id eq guid'${guid.replace(/3$/, "2")}'`, ["a/2"]);
  finds("by bytes", "PartitionKey eq 'a' and bytes eq X'02ff'", ["a/2"]);
  finds("by bytes, in the longer form", "PartitionKey eq 'a' and bytes eq binary'02ff'", ["a/2"]);
  finds("by a property that few have", "rare eq 'yes'", ["a/4", "b/4"]);
  finds("ne leaves out who lacks the property", "rare ne 'no'", ["a/4", "b/4"]);
  finds("not", "PartitionKey eq 'a' and not (number ge 1)", ["a/0"]);
  finds("or, in parentheses", "(number eq 1 or number eq 8) and (even eq false or number gt 5)", ["a/1", "b/3"]);
  finds("and binds closer than or", "number eq 0 or number eq 1 and even eq true", ["a/0"]);
  finds("a constant on the left", "7 lt number", ["b/3", "b/4"]);
  finds("a type that the property has not", "name eq 5", []);
  finds("nothing", "PartitionKey eq 'none'", []);

  check("by Timestamp", async (server) => {
    const table = await server.table(rows());
    const since = new Date(Date.now() - 3_600_000);
    assert.equal((await query(table, odata`Timestamp ge ${since}`)).length, 10);
    assert.equal((await query(table, odata`Timestamp lt ${since}`)).length, 0);
  });

  check("select, with types and without what is missing", async (server) => {
    const table = await server.table(rows());
    const options = { queryOptions: { filter: "PartitionKey eq 'a'", select: ["rowKey", "large", "rare"] } };
    const found = await all(table.listEntities(options));
    assert.equal(found.length, 5);
    assert.deepEqual(found.map((e) => e.large), [0n, 1n, 2n, 3n, 4n].map((n) => n * 1_000_000_000_000n));
    assert.deepEqual(found.map((e) => e.rare ?? null), [null, null, null, null, "yes"]);
    assert.ok(found.every((e) => !("name" in e) && !("number" in e)));
  });

  check("pages, and one found again by its token", async (server) => {
    const table = await server.table(rows());
    const sizes = [];
    let token;
    for await (const page of table.listEntities().byPage({ maxPageSize: 3 })) {
      sizes.push(page.length);
      if (sizes.length === 2) token = page.continuationToken;
    }
    assert.deepEqual(sizes, [3, 3, 3, 1]);
    const again = await table.listEntities().byPage({ maxPageSize: 3, continuationToken: token }).next();
    assert.deepEqual(again.value.map((e) => `${e.partitionKey}/${e.rowKey}`), ["b/1", "b/2", "b/3"]);
  });

  check("pages of what a filter leaves", async (server) => {
    const table = await server.table(rows());
    const found = [];
    const options = { queryOptions: { filter: "even eq true" } };
    for await (const page of table.listEntities(options).byPage({ maxPageSize: 2 })) found.push(...page);
    assert.equal(found.length, 6);
  });

  check("a page ends at a thousand rows", async (server) => {
    const table = await server.table();
    for (let batch = 0; batch < 12; batch++) {
      const actions = Array.from({ length: 100 }, (_, i) => [
        "create",
        { partitionKey: "p", rowKey: String(batch * 100 + i).padStart(5, "0") },
      ]);
      await table.submitTransaction(actions);
    }
    const sizes = [];
    for await (const page of table.listEntities().byPage()) sizes.push(page.length);
    assert.deepEqual(sizes, [1000, 200]);
  });

  check("rows that come and go between pages", async (server) => {
    const table = await server.table(rows());
    const pages = table.listEntities().byPage({ maxPageSize: 4 });
    await pages.next();
    await table.deleteEntity("a", "4");
    await table.createEntity({ partitionKey: "a", rowKey: "9" });
    const { value } = await pages.next();
    assert.equal(value[0].partitionKey + value[0].rowKey, "a9");
  });

  for (const bad of ["number gt", "number foo 5", "(number eq 1", "number eq 'x", "and", "number eq 1 number eq 2"]) {
    check(`a filter that is none: ${bad}`, async (server) => {
      await refused(query(await server.table(rows()), bad), 400, "InvalidInput", "InvalidQuery");
    });
  }

  check("a page of more than a thousand is refused", async (server) => {
    const table = await server.table();
    await refused(table.listEntities().byPage({ maxPageSize: 1001 }).next(), 400);
  });
}
