// Makes one call of the JavaScript SDK for each line read, and prints how it ended, as a line of JSON:
// `node calls.mjs ENDPOINT TABLE`, a line is `operation TAB row TAB etag`.
import { createInterface } from "node:readline";
import { Server, all } from "./support.mjs";

const [endpoint, name] = process.argv.slice(2);
const server = new Server(endpoint);
// How often is tried again is the SDK's own; only the waits are cut.
server.options = { allowInsecureConnection: true, retryOptions: { retryDelayInMs: 10, maxRetryDelayInMs: 20 } };
const client = server.client(name);

const calls = {
  insert: (entity) => client.createEntity(entity),
  get: (entity) => client.getEntity("p", entity.rowKey),
  query: (e) => all(client.listEntities({ queryOptions: { filter: `PartitionKey eq 'p' and RowKey eq '${e.rowKey}'` } })),
  upsert: (entity) => client.upsertEntity(entity, "Merge"),
  update: (entity) => client.updateEntity(entity, "Merge"),
  "update-etag": (entity, etag) => client.updateEntity(entity, "Replace", { etag }),
  delete: (entity) => client.deleteEntity("p", entity.rowKey),
  batch: (entity) => client.submitTransaction([["create", entity]]),
};

for await (const line of createInterface({ input: process.stdin })) {
  const [operation, rowKey, etag] = line.split("\t");
  let answer = "ok";
  try {
    await calls[operation]({ partitionKey: "p", rowKey, n: 1 }, etag);
  } catch (error) {
    const code = error.details?.odataError?.code || error.code;
    answer = [error.name, error.statusCode, code].filter(Boolean).join(" ");
  }
  console.log(JSON.stringify(answer));
}
