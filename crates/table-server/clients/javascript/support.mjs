// What the checks share: clients of one endpoint, tables that are dropped again, and a list of named checks.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { AzureNamedKeyCredential, AzureSASCredential, TableClient, TableServiceClient } from "@azure/data-tables";

export { assert };

const EMULATOR_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

export class Server {
  constructor(endpoint) {
    this.endpoint = endpoint;
    this.account = process.env.TABLES_ACCOUNT ?? "devstoreaccount1";
    this.credential = new AzureNamedKeyCredential(this.account, process.env.TABLES_KEY ?? EMULATOR_KEY);
    // A check wants the first answer, not what a retry makes of it.
    this.options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
    this.made = [];
  }

  service(credential = this.credential) {
    return new TableServiceClient(this.endpoint, credential, this.options);
  }

  client(name, credential = this.credential) {
    return new TableClient(this.endpoint, name, credential, this.options);
  }

  // Answers whoever holds the token: a string as the SDK's generators return it.
  withToken(name, token) {
    return this.client(name, new AzureSASCredential(token));
  }

  freshName(prefix = "js") {
    return prefix + randomBytes(8).toString("hex");
  }

  async table(entities = [], prefix) {
    const client = this.client(this.freshName(prefix));
    await client.createTable();
    this.made.push(client);
    for (const entity of entities) await client.createEntity(entity);
    return client;
  }

  async drop() {
    for (const client of this.made.splice(0)) await client.deleteTable().catch(() => {});
  }
}

export async function all(pages) {
  const items = [];
  for await (const item of pages) items.push(item);
  return items;
}

export async function keysOf(pages) {
  return (await all(pages)).map((e) => `${e.partitionKey}/${e.rowKey}`);
}

export async function query(client, filter, options = {}) {
  return keysOf(client.listEntities({ ...options, queryOptions: { ...options.queryOptions, filter } }));
}

// Expects that the server refuses, with this status and one of these codes.
export async function refused(promise, status, ...codes) {
  let error;
  try {
    await promise;
  } catch (caught) {
    error = caught;
  }
  assert.ok(error, `was to be refused with ${status} ${codes.join(" or ")}, and succeeded`);
  assert.equal(error.statusCode, status, `status of ${error.message?.split("\n")[0]}`);
  // An action of a batch has its code in its own part of the answer, which the SDK reads; all others also in a header.
  const code = error.details?.odataError?.code || error.code || error.response?.headers.get("x-ms-error-code");
  if (codes.length) assert.ok(codes.includes(code), `code ${code}, not ${codes.join(" or ")}`);
  return error;
}

export const hence = (minutes) => new Date(Date.now() + minutes * 60_000);

// Checks by area, in the order in which they were named.
export class Checks {
  constructor() {
    this.list = [];
  }

  area(area) {
    return (name, run) => this.list.push({ name: `${area}: ${name}`, run });
  }

  async run(server, { only = "", limit = 20_000 } = {}) {
    const outcomes = [];
    for (const { name, run } of this.list) {
      if (!name.includes(only)) continue;
      let timer;
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`took longer than ${limit} ms`)), limit);
      });
      try {
        await Promise.race([run(server), late]);
        outcomes.push({ name, ok: true });
      } catch (error) {
        outcomes.push({ name, ok: false, why: String(error?.message ?? error).split("\n").slice(0, 4).join(" ") });
      } finally {
        clearTimeout(timer);
        await server.drop();
      }
    }
    return outcomes;
  }
}
