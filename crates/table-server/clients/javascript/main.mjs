// Runs every check of the JavaScript client against a server: `node main.mjs ENDPOINT RESULTS [part of a name]`.
// Prints `name: ok` or `name: FAIL` with the reason, and writes `passed` or `failed`, a tab and the name into RESULTS.
import { writeFileSync } from "node:fs";
import { Checks, Server } from "./support.mjs";
import tables from "./checks/tables.mjs";
import entities from "./checks/entities.mjs";
import keys from "./checks/keys.mjs";
import queries from "./checks/queries.mjs";
import batches from "./checks/batches.mjs";
import sas from "./checks/sas.mjs";
import service from "./checks/service.mjs";

const [endpoint, results, only] = process.argv.slice(2);
const checks = new Checks();
for (const area of [tables, entities, keys, queries, batches, sas, service]) area(checks);
const outcomes = await checks.run(new Server(endpoint), { only });
for (const { name, ok, why } of outcomes) console.log(ok ? `${name}: ok` : `${name}: FAIL ${why}`);
writeFileSync(results, outcomes.map(({ name, ok }) => `${ok ? "passed" : "failed"}\t${name}\n`).join(""));
