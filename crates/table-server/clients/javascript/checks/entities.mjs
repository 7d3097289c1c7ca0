import { assert, refused } from "../support.mjs";

const key = { partitionKey: "p", rowKey: "r" };

export default function entities(checks) {
  const check = checks.area("entities");

  check("create and get", async (server) => {
    const table = await server.table();
    const made = await table.createEntity({ ...key, name: "Ada", age: 36 });
    const got = await table.getEntity("p", "r");
    assert.equal(got.name, "Ada");
    assert.equal(got.age, 36);
    assert.ok(made.etag);
    assert.equal(got.etag, made.etag);
    assert.ok(Math.abs(new Date(got.timestamp) - Date.now()) < 60_000);
  });

  check("every type comes back as it went", async (server) => {
    const table = await server.table();
    const sent = {
      text: "žluťoučký 🐎 <&\"'>",
      empty: "",
      yes: true,
      no: false,
      small: -2147483648,
      large: 9007199254740993n,
      least: -9223372036854775808n,
      half: 0.5,
      whole: { type: "Double", value: "7" },
      tiny: 5e-324,
      moment: new Date("2024-02-29T12:34:56.789Z"),
      guid: { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" },
      bytes: new Uint8Array([0, 1, 127, 128, 255]),
      none: new Uint8Array(),
    };
    await table.createEntity({ ...key, ...sent });
    const got = await table.getEntity("p", "r");
    for (const name of ["text", "empty", "yes", "no", "small", "large", "least", "half", "tiny"]) {
      assert.deepEqual(got[name], sent[name], name);
    }
    assert.equal(got.whole, 7);
    assert.equal(new Date(got.moment).getTime(), sent.moment.getTime());
    assert.deepEqual(got.guid, sent.guid);
    assert.deepEqual([...got.bytes], [...sent.bytes]);
    assert.deepEqual([...got.none], []);
  });

  check("doubles that are not finite", async (server) => {
    const table = await server.table();
    const value = (text) => ({ type: "Double", value: text });
    await table.createEntity({ ...key, a: value("NaN"), b: value("Infinity"), c: value("-Infinity") });
    const got = await table.getEntity("p", "r", { disableTypeConversion: true });
    assert.deepEqual([got.a.value, got.b.value, got.c.value].map(String), ["NaN", "Infinity", "-Infinity"]);
  });

  check("a time keeps its seven digits", async (server) => {
    const table = await server.table();
    await table.createEntity({ ...key, at: { type: "DateTime", value: "2024-02-29T12:34:56.1234567Z" } });
    const got = await table.getEntity("p", "r", { disableTypeConversion: true });
    assert.equal(got.at.value, "2024-02-29T12:34:56.1234567Z");
  });

  check("null is no property", async (server) => {
    const table = await server.table();
    await table.createEntity({ ...key, gone: null, undefined: undefined, there: 1 });
    const got = await table.getEntity("p", "r");
    assert.ok(!("gone" in got) && !("undefined" in got));
    assert.equal(got.there, 1);
  });

  check("a second create is refused", async (server) => {
    const table = await server.table([key]);
    await refused(table.createEntity(key), 409, "EntityAlreadyExists");
  });

  check("a missing entity", async (server) => {
    const table = await server.table();
    await refused(table.getEntity("p", "r"), 404, "ResourceNotFound");
    await refused(table.deleteEntity("p", "r"), 404, "ResourceNotFound");
    await refused(table.updateEntity(key, "Merge"), 404, "ResourceNotFound");
    await refused(table.updateEntity(key, "Replace"), 404, "ResourceNotFound");
  });

  check("select on get", async (server) => {
    const table = await server.table([{ ...key, a: 1, b: 2, c: 3 }]);
    const got = await table.getEntity("p", "r", { queryOptions: { select: ["a", "c"] } });
    assert.deepEqual([got.a, got.b, got.c], [1, undefined, 3]);
  });

  check("merge keeps, replace drops", async (server) => {
    const table = await server.table([{ ...key, a: 1, b: 2 }]);
    await table.updateEntity({ ...key, b: "two", c: 3 }, "Merge");
    let got = await table.getEntity("p", "r");
    assert.deepEqual([got.a, got.b, got.c], [1, "two", 3]);
    await table.updateEntity({ ...key, d: 4 }, "Replace");
    got = await table.getEntity("p", "r");
    assert.deepEqual([got.a, got.b, got.c, got.d], [undefined, undefined, undefined, 4]);
  });

  check("upsert in both modes, absent and present", async (server) => {
    const table = await server.table();
    await table.upsertEntity({ ...key, a: 1 }, "Merge");
    await table.upsertEntity({ ...key, b: 2 }, "Merge");
    let got = await table.getEntity("p", "r");
    assert.deepEqual([got.a, got.b], [1, 2]);
    await table.upsertEntity({ ...key, c: 3 }, "Replace");
    got = await table.getEntity("p", "r");
    assert.deepEqual([got.a, got.b, got.c], [undefined, undefined, 3]);
    await table.upsertEntity({ partitionKey: "p", rowKey: "new", c: 3 }, "Replace");
    assert.equal((await table.getEntity("p", "new")).c, 3);
  });

  check("an etag guards update and delete", async (server) => {
    const table = await server.table([key]);
    const { etag: first } = await table.getEntity("p", "r");
    const { etag: second } = await table.updateEntity({ ...key, a: 1 }, "Merge", { etag: first });
    assert.ok(second && second !== first);
    for (const mode of ["Merge", "Replace"]) {
      await refused(table.updateEntity({ ...key, a: 2 }, mode, { etag: first }), 412, "UpdateConditionNotSatisfied");
    }
    await refused(table.deleteEntity("p", "r", { etag: first }), 412, "UpdateConditionNotSatisfied");
    assert.equal((await table.getEntity("p", "r")).a, 1);
    await table.deleteEntity("p", "r", { etag: second });
    await refused(table.getEntity("p", "r"), 404, "ResourceNotFound");
  });

  check("an etag that another server made", async (server) => {
    const table = await server.table([key]);
    const etag = "W/\"datetime'2001-01-01T00%3A00%3A00.0000000Z'\"";
    await refused(table.updateEntity(key, "Merge", { etag }), 412, "UpdateConditionNotSatisfied");
  });

  check("an etag that is none", async (server) => {
    const table = await server.table([key]);
    await refused(table.updateEntity(key, "Merge", { etag: "nonsense" }), 400, "InvalidInput", "InvalidHeaderValue");
  });

  check("252 properties of one's own, and one more", async (server) => {
    const table = await server.table();
    const properties = (n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`p${i}`, i]));
    await table.createEntity({ ...key, ...properties(252) });
    await refused(table.createEntity({ partitionKey: "p", rowKey: "x", ...properties(253) }), 400, "TooManyProperties");
  });

  check("text of 64 KiB, and one unit more", async (server) => {
    const table = await server.table();
    await table.createEntity({ ...key, text: "x".repeat(32768) });
    assert.equal((await table.getEntity("p", "r")).text.length, 32768);
    const more = { partitionKey: "p", rowKey: "x", text: "x".repeat(32769) };
    await refused(table.createEntity(more), 400, "PropertyValueTooLarge");
  });

  check("an entity over 1 MiB", async (server) => {
    const table = await server.table();
    const fields = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`p${i}`, "x".repeat(32000)]));
    await refused(table.createEntity({ ...key, ...fields }), 400, "EntityTooLarge");
  });

  check("a name of a property that is none", async (server) => {
    const table = await server.table();
    await refused(table.createEntity({ ...key, "a b": 1 }), 400, "PropertyNameInvalid", "InvalidInput");
    await refused(table.createEntity({ ...key, ["n".repeat(256)]: 1 }), 400, "PropertyNameTooLong");
  });

  check("a key too long", async (server) => {
    const table = await server.table();
    const entity = { partitionKey: "p".repeat(2000), rowKey: "r" };
    await refused(table.createEntity(entity), 400, "KeyValueTooLarge", "PropertyValueTooLarge");
  });

  check("a value that its type has not", async (server) => {
    const table = await server.table();
    for (const [type, value] of [["Int64", "9223372036854775808"], ["Guid", "no guid"], ["DateTime", "yesterday"]]) {
      await refused(table.createEntity({ ...key, x: { type, value } }), 400, "InvalidInput", "InvalidPropertyValue");
    }
  });
}
