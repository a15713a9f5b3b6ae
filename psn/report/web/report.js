// What a report does in the browser: draws its figures with Vega in the page's colours, builds the
// table behind each, and lets graphs be moved and searched and traces be stepped through.
"use strict";
(() => {
  const root = document.documentElement;
  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  function element(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  // Colours and fonts of the page, as Vega wants them.
  function vegaConfig() {
    const ink = style("--ink"), soft = style("--soft"), line = style("--line");
    const labels = { labelColor: soft, titleColor: ink, labelFontSize: 11, titleFontSize: 12, titleFontWeight: 500 };
    return {
      background: "transparent",
      font: getComputedStyle(document.body).fontFamily,
      aria: false,  // the place says it all in one sentence
      view: { stroke: line },
      title: { color: ink },
      axis: { ...labels, domainColor: soft, tickColor: soft, gridColor: line, gridOpacity: 0.6, labelOverlap: true },
      legend: { ...labels, orient: "top", labelLimit: 300 },
      header: { labelColor: ink, titleColor: ink },
      rule: { color: ink }, text: { color: ink }, tick: { color: ink },
      range: {
        category: [0, 1, 2, 3, 4, 5, 6, 7].map((i) => style("--c" + i)),
        heatmap: [style("--heat0"), style("--heat1"), style("--heat2")],
        ramp: [style("--heat0"), style("--heat1"), style("--heat2")],
      },
    };
  }

  // Charts of several views are given widths here, for Vega fits only single ones to their place.
  function fit(spec, width) {
    const columns = spec.usermeta && spec.usermeta.columns;
    if (!columns) return spec;
    const cell = Math.max(90, Math.min(260, Math.floor(width / columns) - 62));
    for (const row of spec.vconcat || [spec]) {
      for (const view of row.hconcat) {
        view.width = cell;
        view.height = Math.round(cell * (spec.usermeta.aspect || 1));
      }
    }
    return spec;
  }

  // All rows of a specification's data, in the order of its views.
  function rowsOf(spec) {
    const rows = spec.data && spec.data.values ? [...spec.data.values] : [];
    for (const inner of [spec.vconcat, spec.hconcat, spec.layer]) {
      for (const view of inner || []) rows.push(...rowsOf(view));
    }
    return rows;
  }

  function shown(value) {
    if (value === null || value === undefined) return "";
    if (Array.isArray(value)) return value.length + " numbers: " + value.slice(0, 8).join(", ") + (value.length > 8 ? ", ..." : "");
    return String(value);
  }

  function dataTable(rows, title) {
    const most = 2000;
    const names = [...new Set(rows.slice(0, most).flatMap(Object.keys))];
    const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)));
    const body = element("tbody");
    for (const row of rows.slice(0, most)) {
      body.append(element("tr", {}, ...names.map((name) => element("td", {}, shown(row[name])))));
    }
    const caption = rows.length > most ? `${title}: the first ${most} of ${rows.length} rows` : title;
    const table = element("table", {}, element("caption", {}, caption), element("thead", {}, head), body);
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Data: " + title }, table);
  }

  function addData(figure, spec, title) {
    const details = element("details", { class: "data" }, element("summary", {}, "Data of this figure"));
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1) details.append(dataTable(rowsOf(spec), title));
    });
    figure.append(details);
  }

  function save(name, url) {
    element("a", { href: url, download: name }).click();
  }

  const titleOf = (figure) => figure.querySelector("h4").textContent;
  const specOf = (figure) => JSON.parse(figure.querySelector("script").textContent);

  async function drawVega(figure) {
    const plot = figure.querySelector(".plot"), title = titleOf(figure);
    const spec = specOf(figure);
    if (!figure.controls) {
      figure.controls = element("div", { class: "controls" });
      plot.after(figure.controls);
      addData(figure, spec, title);
    }
    if (!window.vegaEmbed) {
      plot.textContent = "This psn was built without what draws figures; the data are below.";
      return;
    }
    figure.controls.replaceChildren();
    const bind = element("div", { class: "vega-bind" });
    if (figure.view) figure.view.finalize();
    const meta = spec.usermeta || {};
    const result = await window.vegaEmbed(plot, fit(structuredClone(spec), plot.clientWidth), {
      mode: "vega-lite", actions: false, renderer: meta.renderer || "svg", config: vegaConfig(), bind,
      tooltip: { theme: root.dataset.theme === "dark" ? "dark" : "default" },
    });
    plot.firstElementChild.setAttribute("aria-hidden", "true");
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", title + ". " + figure.querySelector(".reading").textContent);
    figure.view = result.view;
    if (bind.childElementCount) figure.controls.append(bind);
    for (const form of ["svg", "png"]) {
      const button = element("button", { type: "button", "aria-label": `Save ${title} as ${form.toUpperCase()}` }, form.toUpperCase());
      button.addEventListener("click", async () => save(`${figure.id}.${form}`, await result.view.toImageURL(form, 2)));
      figure.controls.append(button);
    }
    figure.dataset.drawn = "true";
  }

  const drawers = { vega: drawVega };

  async function draw(figure) {
    try {
      await drawers[figure.dataset.form](figure);
    } catch (error) {
      figure.querySelector(".plot").textContent = "This figure cannot be drawn: " + error.message;
      console.error(figure.id, error);
    }
  }

  // One after the other, so that the first can be read while later ones are drawn.
  let round = 0;
  async function drawAll(forms) {
    const mine = ++round;
    for (const figure of document.querySelectorAll("figure")) {
      if (mine !== round) return;
      if (!forms.includes(figure.dataset.form)) continue;
      await draw(figure);
      await new Promise((next) => setTimeout(next));
    }
    root.dataset.ready = "true";
  }

  function setTheme(theme) {
    root.dataset.theme = theme;
    const button = document.getElementById("theme");
    button.setAttribute("aria-pressed", String(theme === "dark"));
  }

  let theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  try { theme = localStorage.getItem("psn-theme") || theme; } catch { /* a file may not keep anything */ }
  setTheme(theme);
  document.getElementById("theme").addEventListener("click", () => {
    setTheme(root.dataset.theme === "dark" ? "light" : "dark");
    try { localStorage.setItem("psn-theme", root.dataset.theme); } catch { /* likewise */ }
    drawAll(["vega"]);
  });
  let width = innerWidth, waiting = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(() => drawAll(["vega"]), 200);
  });
  drawAll(Object.keys(drawers));
})();
