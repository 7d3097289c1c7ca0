import { assert, hence, refused } from "../support.mjs";

const policy = (id, more = {}) => ({
  id,
  accessPolicy: { start: hence(-60), expiry: hence(60), permission: "raud", ...more },
});

export default function service(checks) {
  const check = checks.area("service");

  check("properties that are set are got", async (server) => {
    const client = server.service();
    const retentionPolicy = { enabled: true, days: 7 };
    const sent = {
      logging: { version: "1.0", read: true, write: false, delete: true, retentionPolicy },
      hourMetrics: { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy },
      minuteMetrics: { version: "1.0", enabled: false, retentionPolicy: { enabled: false } },
      cors: [
        {
          allowedOrigins: "http://example.com,http://example.org",
          allowedMethods: "GET,PUT",
          allowedHeaders: "x-ms-meta-a,x-ms-meta-b*",
          exposedHeaders: "x-ms-*",
          maxAgeInSeconds: 300,
        },
      ],
    };
    await client.setProperties(sent);
    const got = await client.getProperties();
    assert.deepEqual([got.logging.read, got.logging.write, got.logging.delete], [true, false, true]);
    assert.deepEqual(got.logging.retentionPolicy, retentionPolicy);
    assert.deepEqual([got.hourMetrics.enabled, got.hourMetrics.includeAPIs], [true, true]);
    assert.equal(got.minuteMetrics.enabled, false);
    assert.deepEqual({ ...got.cors[0] }, sent.cors[0]);
    await client.setProperties({ ...sent, cors: [] });
    assert.equal((await client.getProperties()).cors?.length ?? 0, 0);
  });

  check("six rules for browsers are too many", async (server) => {
    const rule = {
      allowedOrigins: "*",
      allowedMethods: "GET",
      allowedHeaders: "*",
      exposedHeaders: "*",
      maxAgeInSeconds: 5,
    };
    await refused(server.service().setProperties({ cors: Array(6).fill(rule) }), 400, "InvalidXmlDocument");
  });

  check("retention of 366 days is too long", async (server) => {
    const retentionPolicy = { enabled: true, days: 366 };
    const logging = { version: "1.0", read: true, write: true, delete: true, retentionPolicy };
    await refused(server.service().setProperties({ logging }), 400, "InvalidXmlDocument", "InvalidXmlNodeValue");
  });

  check("statistics", async (server) => {
    const got = await server.service().getStatistics();
    assert.ok(["live", "bootstrap", "unavailable"].includes(got.geoReplication.status), got.geoReplication.status);
  });

  check("a table begins with no policy", async (server) => {
    const got = await (await server.table()).getAccessPolicy();
    assert.deepEqual([...got], []);
  });

  check("policies that are set are got", async (server) => {
    const table = await server.table();
    const sent = [policy("one"), policy("two", { permission: "r" })];
    await table.setAccessPolicy(sent);
    const got = await table.getAccessPolicy();
    assert.deepEqual(got.map((p) => [p.id, p.accessPolicy.permission]), [["one", "raud"], ["two", "r"]]);
    const second = (date) => Math.floor(new Date(date).getTime() / 1000);
    assert.equal(second(got[0].accessPolicy.expiry), second(sent[0].accessPolicy.expiry));
    await table.setAccessPolicy([]);
    assert.deepEqual([...(await table.getAccessPolicy())], []);
  });

  check("six policies are too many", async (server) => {
    const table = await server.table();
    const six = ["1", "2", "3", "4", "5", "6"].map((id) => policy(id));
    await refused(table.setAccessPolicy(six), 400, "InvalidXmlDocument", "InvalidInput");
  });

  check("a policy's name of 65 characters is too long", async (server) => {
    const table = await server.table();
    await refused(table.setAccessPolicy([policy("x".repeat(65))]), 400, "InvalidXmlDocument", "InvalidInput");
  });

  check("policies go with their table", async (server) => {
    const table = await server.table();
    await table.setAccessPolicy([policy("one")]);
    await table.deleteTable();
    await table.createTable();
    assert.deepEqual([...(await table.getAccessPolicy())], []);
  });

  check("policies of a missing table", async (server) => {
    const table = server.client(server.freshName());
    await refused(table.getAccessPolicy(), 404, "TableNotFound", "ResourceNotFound");
  });

  check("a wrong key", async (server) => {
    const { AzureNamedKeyCredential } = await import("@azure/data-tables");
    const table = await server.table();
    const wrong = new AzureNamedKeyCredential(server.account, Buffer.from("wrong").toString("base64"));
    await refused(server.client(table.tableName, wrong).getEntity("p", "r"), 403, "AuthenticationFailed");
  });
}
