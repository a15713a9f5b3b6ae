// Opens reports from disk in a browser without a network, and finds fault with them.
//   node look.js MODULES FOLDER REPORT...
// MODULES has playwright-core and axe-core; screenshots go to FOLDER. One line a fault; fails if
// there is one.
"use strict";
const path = require("path");
const fs = require("fs");
const [modules, folder, ...reports] = process.argv.slice(2);
const { chromium } = require(path.join(modules, "playwright-core"));
const axe = fs.readFileSync(path.join(modules, "axe-core", "axe.min.js"), "utf8");

const kFlags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

// What a reader would do; returns what does not work, in words.
const checks = {
  async "every figure is drawn"(page) {
    return page.$$eval("figure", (figures) => figures
      .filter((figure) => !figure.dataset.drawn || !figure.querySelector(".plot svg, .plot canvas, .plot table"))
      .map((figure) => `figure '${figure.id}' is not drawn`));
  },

  async "marks tell their numbers"(page) {
    const faults = [];
    for (const figure of await page.$$('figure[data-form="vega"]')) {
      const mark = await figure.$("svg .mark-rect path, svg .mark-symbol path");
      if (!mark || !(await mark.isVisible())) continue;
      await mark.scrollIntoViewIfNeeded();
      await mark.hover({ force: true });
      const shown = await page.waitForSelector("#vg-tooltip-element.visible", { timeout: 2000 }).catch(() => null);
      if (!shown) faults.push(`figure '${await figure.getAttribute("id")}' has no tooltip`);
      await page.mouse.move(0, 0);
      break;
    }
    return faults;
  },

  async "data are behind figures"(page) {
    return page.$$eval("figure details.data", async (all) => {
      const faults = [];
      for (const details of all) {
        details.open = true;
        await new Promise((next) => setTimeout(next, 20));
        if (details.querySelectorAll("tbody tr").length === 0) faults.push(`no data behind '${details.closest("figure").id}'`);
        details.open = false;
      }
      return faults;
    });
  },

  async "nothing is wider than the page"(page) {
    return page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1
      ? [`the page is ${document.documentElement.scrollWidth} wide, the window ${innerWidth}`] : []);
  },

  async "no serious accessibility fault"(page) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    return violations.filter((v) => v.impact === "serious" || v.impact === "critical")
      .map((v) => `axe ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.target.join(" ")).join(", ")}`);
  },
};

async function look(browser, report, width, dark) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: dark ? "dark" : "light" });
  const faults = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => faults.push(`script: ${error.message}`));
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) faults.push(`asks for ${request.url()}`); });
  await page.context().setOffline(true);
  const begin = Date.now();
  await page.goto("file://" + path.resolve(report));
  await page.waitForSelector("html[data-ready]", { timeout: 60000 });
  const seconds = (Date.now() - begin) / 1000;
  for (const [what, check] of Object.entries(checks)) {
    for (const fault of await check(page)) faults.push(`${what}: ${fault}`);
  }
  const figures = await page.$$eval("figure", (all) => all.length);
  const name = `${path.basename(report, ".html")}-${width}${dark ? "-dark" : ""}.png`;
  await page.screenshot({ path: path.join(folder, name), fullPage: true });
  await page.close();
  console.log(`${report} at ${width}${dark ? ", dark" : ""}: ${figures} figures in ${seconds.toFixed(1)} s`);
  return faults.map((fault) => `${report} at ${width}${dark ? ", dark" : ""}: ${fault}`);
}

(async () => {
  fs.mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({ executablePath: process.env.PSN_BROWSER || "/usr/bin/chromium", args: kFlags });
  const faults = [];
  try {
    for (const report of reports) {
      faults.push(...await look(browser, report, 1280, false));
      faults.push(...await look(browser, report, 390, true));
    }
  } finally {
    await browser.close();
  }
  for (const fault of faults) console.log(fault);
  process.exitCode = faults.length ? 1 : 0;
})();
