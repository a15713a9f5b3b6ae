// Opens reports from disk in a browser without a network, and finds fault with them.
//   node look.js MODULES FOLDER REPORT...
// MODULES has playwright-core and axe-core; screenshots go to FOLDER. One line a fault, below the
// report that has it; fails if there is one.
"use strict";
const path = require("path");
const fs = require("fs");
const [modulesFolder, folder, ...reports] = process.argv.slice(2);
const modules = path.resolve(modulesFolder);
const { chromium } = require(path.join(modules, "playwright-core"));
const axe = fs.readFileSync(path.join(modules, "axe-core", "axe.min.js"), "utf8");

const kFlags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

// What a reader would do; returns what does not work, in words. At both widths:
const looks = {
  async "every figure is drawn"(page) {
    return page.$$eval("figure", (figures) => figures
      .filter((figure) => !figure.dataset.drawn || !figure.querySelector(".plot svg, .plot canvas, .plot table"))
      .map((figure) => `figure '${figure.id}' is not drawn`));
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

// In the wide window: the same code runs in either.
const actions = {
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

  async "choosers and sliders change what is drawn"(page) {
    const faults = [];
    for (const figure of await page.$$('figure[data-form="vega"]:has(.vega-bind select, .vega-bind input)')) {
      const picture = () => figure.evaluate((f) => f.view.toImageURL("png").then((url) => url.length + url.slice(-4000)));
      const before = await picture();
      await figure.$eval(".vega-bind select, .vega-bind input", (input) => {
        if (input.tagName === "SELECT") input.selectedIndex = input.options.length - 1;
        else input.value = input.max;
        input.dispatchEvent(new Event(input.tagName === "SELECT" ? "change" : "input"));
      });
      await page.waitForTimeout(150);
      if (await picture() === before) faults.push(`nothing changes in '${await figure.getAttribute("id")}'`);
    }
    return faults;
  },

  async "lines are zoomed with Ctrl and the wheel"(page) {
    for (const figure of await page.$$('figure[data-form="vega"]:has(.mark-line)')) {
      const zooms = await figure.evaluate((f) => JSON.parse(f.querySelector("script").textContent).layer
        ?.some((layer) => layer.params?.some((p) => p.bind === "scales")));
      if (!zooms) continue;
      const labels = () => figure.$$eval(".role-axis-label text", (all) => all.map((t) => t.textContent).join());
      const before = await labels();
      await figure.scrollIntoViewIfNeeded();
      const box = await (await figure.$(".plot svg")).boundingBox();
      await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.5);
      await page.keyboard.down("Control");
      await page.mouse.wheel(0, -600);
      await page.keyboard.up("Control");
      await page.waitForTimeout(200);
      return await labels() === before ? [`'${await figure.getAttribute("id")}' does not zoom`] : [];
    }
    return [];
  },

  async "graphs are zoomed and searched"(page) {
    const faults = [];
    for (const figure of await page.$$('figure[data-form="drawing"]')) {
      const width = () => figure.$eval("div.graph svg", (svg) => Number(svg.getAttribute("width")));
      const before = await width();
      await (await figure.$('button[aria-label="Zoom in"]')).click();
      if (!(await width() > before)) faults.push("a graph does not zoom");
      const name = await figure.$eval("g.node title", (title) => title.textContent);
      await (await figure.$('input[type="search"]')).fill(name);
      if (await figure.$$eval("g.found", (all) => all.length) === 0) faults.push(`'${name}' is not found`);
      await (await figure.$('input[type="search"]')).fill("");
    }
    return faults;
  },

  async "traces are stepped through with the keyboard"(page) {
    const faults = [];
    for (const figure of await page.$$('figure[data-form="traces"]')) {
      await figure.$$eval("button", (all) => all[1].focus());
      await page.keyboard.press("Enter");
      const step = await figure.$eval("tr[aria-current]", (row) => row.sectionRowIndex);
      if (step !== 1) faults.push(`the second choice is not shown but ${step}`);
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
};

// Of one report, for it draws all figures again, twice; the narrow window is dark anyway.
const once = {
  async "the theme is changed by its button"(page) {
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await colour();
    for (let i = 0; i < 2; ++i) {
      await page.click("#theme");
      await page.waitForFunction(() => [...document.querySelectorAll("figure")].every((f) => f.dataset.drawn));
      if (i === 0 && await colour() === before) return ["it is not"];
    }
    return [];
  },
};

async function look(browser, report, width, dark, checks) {
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
  const bytes = fs.statSync(report).size;
  if (bytes > 5e6) faults.push(`${bytes} bytes are more than five million`);
  const figures = await page.$$eval("figure", (all) => all.length);
  const name = `${report.replace(/\/report\.html$|\.html$/, "")}-${width}${dark ? "-dark" : ""}.png`;
  await page.screenshot({ path: path.join(folder, name), fullPage: true });
  await page.close();
  console.log(`${report} at ${width}${dark ? ", dark" : ""}: ${figures} figures in ${seconds.toFixed(1)} s, ` +
    `looked at for ${((Date.now() - begin) / 1000 - seconds).toFixed(1)} s`);
  for (const fault of faults) console.log(`  ${fault}`);
  return faults;
}

(async () => {
  fs.mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({ executablePath: process.env.PSN_BROWSER || "/usr/bin/chromium", args: kFlags });
  const faults = [];
  try {
    for (const [i, report] of reports.entries()) {
      faults.push(...await look(browser, report, 1280, false, { ...looks, ...actions, ...(i === 0 ? once : {}) }));
      faults.push(...await look(browser, report, 390, true, looks));
    }
  } finally {
    await browser.close();
  }
  process.exitCode = faults.length ? 1 : 0;
})();
