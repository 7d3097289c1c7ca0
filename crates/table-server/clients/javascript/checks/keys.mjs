import { assert, keysOf, query, refused } from "../support.mjs";
import { odata } from "@azure/data-tables";

const ODD = [
  ["a quote", "O'Brien"],
  ["two quotes", "''"],
  ["spaces", " a b "],
  ["parentheses and commas", "a(b),c=d"],
  ["what looks like a key", "',RowKey='x"],
  ["percent signs", "100%25%"],
  ["plus and ampersand", "a+b&c=d"],
  ["letters beyond ASCII", "žluť é ü"],
  ["beyond the first plane", "🐎𝄞"],
  ["quotation marks and brackets", "\"[{<>}]\""],
  ["semicolons, colons and dollars", "$a;b:c@d!e"],
  ["a tilde and a caret", "~^`|"],
];

export default function keys(checks) {
  const check = checks.area("keys");

  for (const [what, odd] of ODD) {
    check(`with ${what}`, async (server) => {
      const key = { partitionKey: odd, rowKey: `${odd}2` };
      const table = await server.table([{ ...key, a: 1 }, { partitionKey: "other", rowKey: "other" }]);
      assert.equal((await table.getEntity(key.partitionKey, key.rowKey)).a, 1);
      await table.updateEntity({ ...key, b: 2 }, "Merge");
      await table.upsertEntity({ ...key, c: 3 }, "Merge");
      const filter = odata`PartitionKey eq ${odd} and RowKey eq ${key.rowKey}`;
      assert.deepEqual(await query(table, filter), [`${odd}/${odd}2`]);
      await table.submitTransaction([["update", { ...key, d: 4 }, "Merge"]]);
      const got = await table.getEntity(key.partitionKey, key.rowKey);
      assert.deepEqual([got.a, got.b, got.c, got.d], [1, 2, 3, 4]);
      await table.deleteEntity(key.partitionKey, key.rowKey);
      await refused(table.getEntity(key.partitionKey, key.rowKey), 404, "ResourceNotFound");
    });
  }

  check("empty ones", async (server) => {
    const table = await server.table([{ partitionKey: "", rowKey: "", a: 1 }, { partitionKey: "", rowKey: "r", a: 2 }]);
    assert.equal((await table.getEntity("", "")).a, 1);
    assert.deepEqual(await query(table, "PartitionKey eq ''"), ["/", "/r"]);
    await table.deleteEntity("", "");
    assert.deepEqual(await keysOf(table.listEntities()), ["/r"]);
  });

  for (const [what, bad] of [["a slash", "a/b"], ["a backslash", "a\\b"], ["a hash", "a#b"], ["a question mark", "a?b"]]) {
    check(`${what} is refused`, async (server) => {
      const table = await server.table();
      const codes = ["OutOfRangeInput", "InvalidInput", "InvalidKey", "PropertyNameInvalid"];
      await refused(table.createEntity({ partitionKey: bad, rowKey: "r" }), 400, ...codes);
      await refused(table.createEntity({ partitionKey: "p", rowKey: bad }), 400, ...codes);
    });
  }

  check("a tab or a control character is refused", async (server) => {
    const table = await server.table();
    await refused(table.createEntity({ partitionKey: "a\tb", rowKey: "r" }), 400);
    await refused(table.createEntity({ partitionKey: "a\u0007b", rowKey: "r" }), 400);
  });

  check("order is that of UTF-16 units, case apart", async (server) => {
    const rows = ["b", "a", "B", "é", "~", "10", "9", "\uffee", "🐎"];
    const table = await server.table(rows.map((rowKey) => ({ partitionKey: "p", rowKey })));
    const sorted = [...rows].sort().map((r) => `p/${r}`);
    assert.deepEqual(await keysOf(table.listEntities()), sorted);
  });
}
