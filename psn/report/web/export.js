// Draws one specification of Vega-Lite as SVG: node export.js SPEC VEGA VEGA-LITE, on stdout.
"use strict";
const fs = require("fs");
const vm = require("vm");
const [specification, ...libraries] = process.argv.slice(2);
for (const library of libraries) vm.runInThisContext(fs.readFileSync(library, "utf8"), library);
const { vega, vegaLite } = globalThis;
const spec = JSON.parse(fs.readFileSync(specification, "utf8"));
if (spec.width === "container") spec.width = 480;
const config = { background: "white", view: { stroke: "#d5dae2" }, font: "DejaVu Sans, sans-serif", legend: { orient: "top", labelLimit: 300 } };
const compiled = vegaLite.compile(spec, { config }).spec;
const view = new vega.View(vega.parse(compiled), { renderer: "none" });
view.toSVG().then((svg) => process.stdout.write(svg), (error) => {
  process.stderr.write(error.message + "\n");
  process.exitCode = 1;
});
