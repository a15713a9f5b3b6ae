// Opens the documentation's site from disk in a browser without a network: node site.js MODULES SITE.
// One line a fault; fails if there is one.
"use strict";
const path = require("path");
const [modules, site] = process.argv.slice(2).map((folder) => path.resolve(folder));
const { chromium } = require(path.join(modules, "playwright-core"));
const kFlags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

// What a reader looks for, and a page that must be found.
const kSearches = {
  "slurm": "run-on-many-machines.html",
  "k-hat": "read-the-diagnostics.html",
  "defensive": "commands/psn-infer.html",
  "train_surrogate": "reference/python.html",
  "lstm_dim": "reference/configuration.html",
  "predator": "gallery/predator_prey.html",
};

async function look(browser) {
  const faults = [];
  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  page.on("pageerror", (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on("requestfailed", (request) => faults.push(`${page.url()}: cannot load ${request.url()}`));
  const open = (name) => page.goto("file://" + path.join(site, name));

  for (const [words, wanted] of Object.entries(kSearches)) {
    await open("index.html");
    await page.fill("input.sidebar-search", words);
    await page.press("input.sidebar-search", "Enter");
    const found = `ul.search li a[href*="${wanted}"]`;
    if (!await page.waitForSelector(found, { timeout: 20000 }).catch(() => null)) {
      faults.push(`a search for '${words}' does not find ${wanted}`);
      continue;
    }
    await page.click(found);
    await page.waitForLoadState("load");
    const marked = await page.$$eval("article .highlighted", (all) => all.length);
    if (!marked) faults.push(`'${words}' is not marked in ${page.url()}`);
    if (!page.url().includes(wanted)) faults.push(`${found} leads to ${page.url()}`);
  }

  for (const name of ["gallery/control_flow.html", "gallery/cure.html", "concepts.html"]) {
    await open(name);
    const pictures = await page.$$eval("article img", (all) => all.map((one) => [one.src, one.naturalWidth]));
    if (!pictures.length) faults.push(`${name} has no picture`);
    for (const [picture, width] of pictures) if (!width) faults.push(`no picture ${picture}`);
  }
  await page.screenshot({ path: path.join(site, "..", "browser", "concepts.png"), fullPage: true });
  await open("index.html");
  await page.screenshot({ path: path.join(site, "..", "browser", "index.png"), fullPage: true });
  return faults;
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.PSN_BROWSER || "/usr/bin/chromium", args: kFlags });
  try {
    const faults = await look(browser);
    for (const fault of faults) console.error(fault);
    process.exitCode = faults.length ? 1 : 0;
  } finally {
    await browser.close();
  }
})();
