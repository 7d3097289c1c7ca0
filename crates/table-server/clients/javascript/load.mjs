// Writes to a server that is killed and started again, and notes in a file what was acknowledged:
// `node load.mjs ENDPOINT TABLE NOTES`, until its input ends. What is written is what `python/load.py` writes.
import { appendFileSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Server } from "./support.mjs";

const WRITERS = 4;
const [endpoint, name, notes] = process.argv.slice(2);
const server = new Server(endpoint);
server.options = { allowInsecureConnection: true, retryOptions: { retryDelayInMs: 50, maxRetryDelayInMs: 500 } };
const client = server.client(name);
let ended = false;
process.stdin.on("end", () => (ended = true)).resume();

writeFileSync(notes, "");
const note = (...words) => appendFileSync(notes, `${words.join("\t")}\n`);
const padded = (number) => String(number).padStart(6, "0");
const absent = (error) => {
  if (error.statusCode !== 404) throw error;
};

// Counts one up, once: whether a try whose answer was lost had counted is seen by its row.
async function increment(writer, number) {
  const rowKey = `op-${padded(number)}`;
  while (!ended) {
    if (await client.getEntity(writer, rowKey).catch(absent)) return true;
    const counter = await client.getEntity(writer, "counter").catch(absent);
    const n = (counter?.n ?? 0) + 1;
    const entity = { partitionKey: writer, rowKey: "counter", n };
    const step = counter ? ["update", entity, "Replace", { etag: counter.etag }] : ["create", entity];
    try {
      await client.submitTransaction([step, ["create", { partitionKey: writer, rowKey, n }]]);
      return true;
    } catch (error) {
      if (![409, 412].includes(error.statusCode)) throw error;
    }
  }
  return false;
}

async function write(writer) {
  for (let number = 1; !ended; number++) {
    try {
      await client.createEntity({ partitionKey: writer, rowKey: `insert-${padded(number)}`, n: number });
      note("insert", writer, number);
    } catch (error) {
      note("failed", writer, number, error.statusCode ?? error.code);
    }
    for (let turn = 0; turn < 100 && !ended; turn++) {
      try {
        if (await increment(writer, number)) note("count", writer, number);
        break;
      } catch {
        // What came of it is seen by the next try.
        await pause(100);
      }
    }
    try {
      await client.upsertEntity({ partitionKey: writer, rowKey: "merge", n: number }, "Merge");
      note("merge", writer, number);
    } catch {
      // The next number is written instead.
    }
  }
}

await Promise.all(Array.from({ length: WRITERS }, (_, n) => write(`javascript-${n}`)));
