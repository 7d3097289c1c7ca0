// Clicks through the pages in headless Chromium. Called by pages.sh.
//   pages.mjs PLAYWRIGHT PICTURES DESIGN STUDIO WRITER
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [home, pictures, designFile, address, writer] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(home), "package.json"))("playwright-core");
const origin = new URL(address).origin;

const looks = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 400 },
  { colorScheme: "dark", width: 400 },
];
const query = (filter) => `filter=${encodeURIComponent(filter)}`;
const pages = {
  home: "/",
  rows: "/t/Company",
  range: `/t/Company?kind=employee&${query("PartitionKey eq 'Sales' and Age ge 40")}`,
  scan: `/t/Company?${query("Salary ge 60000")}`,
  mistake: `/t/Company?${query("Age is 40")}`,
  row: "/t/Company/row?p=Sales&r=name_Hall_001001",
  sealed: "/t/Numbers",
  notes: "/t/Notes",
  design: "/t/Company/design",
  queues: "/queues",
  queue: "/queues/hires",
  jobs: "/jobs",
  outbox: "/outbox",
  statistics: "/statistics",
  check: "/check",
};

const profile = mkdtempSync(join(tmpdir(), "pages-"));
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    `--crash-dumps-dir=${profile}`,
  ],
});

// Opens a page that notes what it asks for and complains of.
async function opened(look) {
  const context = await browser.newContext({
    colorScheme: look.colorScheme,
    viewport: { width: look.width, height: 900 },
    javaScriptEnabled: look.scripts ?? true,
  });
  const page = await context.newPage();
  const told = [];
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    assert.ok(protocol === "file:" || hostname === "127.0.0.1", `a request leaves the machine: ${request.url()}`);
  });
  page.on("console", (message) => told.push(message.text()));
  page.on("pageerror", (error) => told.push(String(error)));
  page.on("dialog", (dialog) => {
    told.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  return { context, page, told };
}

async function lookAt(page, name, look) {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wider <= 0, `${name} is ${wider} pixels wider than a window of ${look.width}`);
  await page.screenshot({ path: join(pictures, `${name}-${look.colorScheme}-${look.width}.png`), fullPage: true });
}

// Nothing is shown to a browser that was not given the token.
async function strangers() {
  const { context, page } = await opened(looks[0]);
  for (const path of [...Object.values(pages), "/style.css", "/script.js", "/live/statistics", "/?token=guess"]) {
    const answer = await page.goto(origin + path);
    assert.equal(answer.status(), 403, path);
    const text = await answer.text();
    assert.ok(!/Company|employee|sample/.test(text), `${path} shows ${text}`);
  }
  await context.close();
}

async function everyPage(look) {
  const { context, page, told } = await opened(look);
  await page.goto(address);
  assert.ok(!page.url().includes("token"), "the token stays in the address");
  for (const [name, path] of Object.entries(pages)) {
    const answer = await page.goto(origin + path);
    assert.equal(answer.status(), 200, path);
    assert.ok(!(await page.title()).includes("taken"), `${path} ran what a value says`);
    if (name === "rows") await page.locator("summary[data-row]").nth(4).click();
    if (name === "notes") await page.locator("summary[data-row]").nth(1).click();
    if (name === "statistics") await page.locator(".spark").first().waitFor();
    if (name === "check") {
      await page.getByRole("button", { name: "Check the store" }).click();
      await page.getByText("Copies that disagree").first().waitFor();
    }
    await lookAt(page, name, look);
  }
  assert.deepEqual(told, [], "the console");
  await context.close();
}

// Links lead to every page, and keys go where links go.
async function walk() {
  const { context, page, told } = await opened(looks[0]);
  await page.goto(address);
  await page.getByRole("navigation", { name: "Tables" }).getByRole("link", { name: "Company" }).click();
  // The page's script, which hears the keys, runs once the page is loaded.
  await page.waitForURL("**/t/Company");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  const first = page.locator("details[open]");
  await first.waitFor();
  assert.equal(await first.locator("summary").count(), 1);
  assert.ok(await page.locator("summary[data-row]").first().evaluate((row) => row === document.activeElement));

  await page.keyboard.press("n");
  await page.waitForURL(/after=/);
  await page.getByRole("link", { name: "First page" }).click();
  await page.waitForURL((url) => !url.search.includes("after="));

  // The class stands there before the query runs.
  await page.keyboard.press("/");
  await page.keyboard.type("PartitionKey eq 'Sales' and RowKey eq 'empid_001001'");
  await page.locator(".explain .pill", { hasText: "point read" }).waitFor();
  assert.ok(!page.url().includes("filter="));
  assert.deepEqual(await page.locator(".space .read").allTextContents(), ["Sales", 'row "empid_001001"']);
  await page.keyboard.press("Enter");
  await page.waitForURL(/filter=/);
  await page.locator("summary[data-row]").click();
  assert.equal(await page.locator("summary[data-row]").count(), 1);
  await page.locator(".copies .pill.bad").first().waitFor();
  await page.getByRole("link", { name: "Sales / name_Hall_001001" }).click();
  await page.getByText("says something else of Email").waitFor();
  await page.getByRole("link", { name: "Sales / empid_001001" }).click();
  await page.getByRole("heading", { name: "Copies" }).waitFor();

  await page.goto(`${origin}/t/Company?kind=employee`);
  await page.getByText("Find by a key of employee").click();
  const form = page.locator(".find form").nth(1);
  await form.getByLabel("Department").fill("Sales");
  await form.getByLabel("Email").fill("hall.1001@contoso.com");
  await form.getByRole("button").click();
  await page.getByRole("heading", { name: "email_hall.1001@contoso.com" }).waitFor();

  await page.goto(`${origin}/t/Company`);
  await page.getByRole("link", { name: "Design" }).click();
  await page.getByText("As a picture").first().click();
  const picture = page.locator("details[open] img");
  await picture.scrollIntoViewIfNeeded();
  await page.waitForFunction((image) => image.complete && image.naturalWidth > 0, await picture.elementHandle());

  for (const name of ["Queues", "Jobs", "Outbox", "Statistics", "Check"]) {
    await page.getByRole("navigation", { name: "Store" }).getByRole("link", { name }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
  }
  // The theme that is chosen stays.
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await back();
  await page.getByLabel("Dark").check({ force: true });
  const dark = await back();
  assert.notEqual(light, dark);
  await page.reload();
  await page.waitForFunction(() => document.querySelector("#theme-dark").checked);
  assert.equal(await back(), dark);
  assert.deepEqual(told, [], "the console");
  await context.close();
}

// Links and forms do without scripts.
async function withoutScripts() {
  const { context, page } = await opened({ ...looks[0], scripts: false });
  await page.goto(address);
  await page.getByRole("link", { name: "Company" }).first().click();
  await page.getByRole("searchbox").fill("PartitionKey eq 'Legal'");
  await page.getByRole("combobox").selectOption("employee");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".explain .pill", { hasText: "range" }).waitFor();
  await page.locator("summary[data-row]").first().click();
  await page.locator("details[open] .copies").waitFor();
  await page.getByRole("link", { name: "Next page" }).click();
  await page.getByRole("link", { name: "First page" }).waitFor();
  await context.close();
}

// Who may write sends messages anew, and pauses a queue.
async function writing() {
  const look = looks[0];
  const { context, page, told } = await opened(look);
  await page.goto(writer);
  await page.getByRole("link", { name: "Queues", exact: true }).click();
  await page.getByRole("link", { name: "hires", exact: true }).click();
  await lookAt(page, "writing", look);
  await page.getByRole("button", { name: "Send anew what was set aside" }).click();
  await page.getByRole("heading", { name: "Next" }).waitFor();
  assert.equal(await page.getByRole("heading", { name: "Set aside" }).count(), 0);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  assert.deepEqual(told, [], "the console");
  await context.close();
}

// The file of designs asks for nothing, and is light or dark by a switch.
async function designs(look) {
  const { context, page, told } = await opened(look);
  let asked = 0;
  page.on("request", () => (asked += 1));
  await page.goto(pathToFileURL(designFile).href);
  assert.equal(asked, 1, "the file asks for others");
  await page.getByRole("heading", { name: "Company" }).waitFor();
  await lookAt(page, "designs", look);
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const shown = await back();
  await page.getByLabel(look.colorScheme === "light" ? "Dark" : "Light").check({ force: true });
  assert.notEqual(await back(), shown);
  assert.deepEqual(told, [], "the console");
  await context.close();
}

try {
  await strangers();
  for (const look of looks) {
    await everyPage(look);
    await designs(look);
  }
  await walk();
  await withoutScripts();
  await writing();
  console.log(`every page is as it should be; the pictures are in ${pictures}`);
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
