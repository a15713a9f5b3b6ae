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
      axis: { ...labels, domainColor: soft, tickColor: soft, gridColor: line, gridOpacity: 0.6, labelOverlap: true, labelSeparation: 8 },
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
    const most = spec.usermeta.most || 260;
    const cell = Math.max(90, Math.min(most, Math.floor(width / columns) - (columns > 1 ? 62 : 110)));
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
    if (plot.scrollWidth > plot.clientWidth) plot.tabIndex = 0;  // arrows move it
    else plot.removeAttribute("tabindex");
    figure.view = result.view;
    if (bind.childElementCount) figure.controls.append(bind);
    for (const form of ["svg", "png"]) {
      const button = element("button", { type: "button", "aria-label": `Save ${title} as ${form.toUpperCase()}` }, form.toUpperCase());
      button.addEventListener("click", async () => save(`${figure.id}.${form}`, await result.view.toImageURL(form, 2)));
      figure.controls.append(button);
    }
    figure.dataset.drawn = "true";
  }

  // Drawings are there already; this lets them be moved, and two beside each other together.
  function drawGraph(figure) {
    const boxes = [...figure.querySelectorAll("div.graph")];
    const controls = element("div", { class: "controls" });
    const found = element("span", { role: "status" });
    const search = element("input", { type: "search", placeholder: "Find an address", "aria-label": "Find an address in " + titleOf(figure) });
    const size = (svg) => svg.viewBox.baseVal;
    const room = (box) => [box.clientWidth - 20, box.clientHeight - 20];
    const across = Math.min(...boxes.map((box) => room(box)[0] / size(box.firstElementChild).width));
    const down = Math.min(...boxes.map((box) => room(box)[1] / size(box.firstElementChild).height));
    const whole = Math.min(across, down);
    let scale = Math.max(0.35, Math.min(1.2, across));

    function zoom(to) {
      const factor = Math.min(8, Math.max(0.02, to)) / scale;
      scale *= factor;
      for (const box of boxes) {
        const svg = box.firstElementChild;
        const [x, y] = [box.scrollLeft + box.clientWidth / 2, box.scrollTop + box.clientHeight / 2];
        svg.setAttribute("width", size(svg).width * scale);
        svg.setAttribute("height", size(svg).height * scale);
        box.scrollTo(x * factor - box.clientWidth / 2, y * factor - box.clientHeight / 2);
      }
    }

    function find() {
      const text = search.value.trim().toLowerCase();
      let count = 0;
      for (const box of boxes) {
        let first = null;
        for (const node of box.querySelectorAll(".node")) {
          const hit = text !== "" && node.querySelector("title").textContent.toLowerCase().includes(text);
          node.classList.toggle("found", hit);
          if (hit && box === boxes[0]) ++count;
          if (hit && !first) first = node;
        }
        if (!first) continue;
        const [at, frame] = [first.getBoundingClientRect(), box.getBoundingClientRect()];
        box.scrollBy(at.x - frame.x - frame.width / 2, at.y - frame.y - frame.height / 2);
      }
      found.textContent = text === "" ? "" : `${count} found`;
    }

    for (const [label, name, act] of [["+", "Zoom in", () => zoom(scale * 1.4)], ["\u2212", "Zoom out", () => zoom(scale / 1.4)], ["Whole", "Whole graph", () => zoom(whole)]]) {
      const button = element("button", { type: "button", "aria-label": name }, label);
      button.addEventListener("click", act);
      controls.append(button);
    }
    search.addEventListener("input", find);
    controls.append(search, found);
    figure.querySelector(".plot").before(controls);

    for (const box of boxes) {
      box.firstElementChild.setAttribute("aria-hidden", "true");
      box.addEventListener("scroll", () => {
        for (const other of boxes) if (other !== box) other.scrollTo(box.scrollLeft, box.scrollTop);
      });
      box.addEventListener("wheel", (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        zoom(event.deltaY < 0 ? scale * 1.15 : scale / 1.15);
      }, { passive: false });
      box.addEventListener("pointermove", (event) => {
        if (event.pointerType === "mouse" && event.buttons === 1) box.scrollBy(-event.movementX, -event.movementY);
      });
    }
    zoom(scale);
    figure.dataset.drawn = "true";
  }

  const cell = (text) => element("td", { class: "words" }, text);

  // Traces, choice by choice; one under two programs side by side.
  function drawTraces(figure) {
    const { sides } = specOf(figure);
    const plot = figure.querySelector(".plot");
    const count = Math.min(...sides.map((side) => side.traces.length));
    const pick = element("select", { "aria-label": "Trace" });
    for (let i = 0; i < count; ++i) pick.append(element("option", { value: i }, `Trace ${i + 1}`));
    const back = element("button", { type: "button" }, "Previous choice");
    const next = element("button", { type: "button" }, "Next choice");
    const where = element("span", { role: "status" });
    const places = element("div", { class: "sides" });
    let step = 0, tables = [];

    function showStep() {
      const longest = Math.max(...tables.map((rows) => rows.length));
      step = Math.max(0, Math.min(longest - 1, step));
      back.disabled = step === 0;
      next.disabled = step >= longest - 1;
      where.textContent = `${step + 1} of ${longest}`;
      for (const rows of tables) {
        rows.forEach((row, i) => {
          if (i === step) row.setAttribute("aria-current", "step");
          else row.removeAttribute("aria-current");
        });
        if (rows[step]) {
          const frame = rows[step].closest(".scroll");
          frame.scrollTop = rows[step].offsetTop - frame.clientHeight / 2;
        }
      }
    }

    function showTrace() {
      const traces = sides.map((side) => side.traces[pick.value]);
      step = 0;
      tables = [];
      places.replaceChildren(...sides.map((side, s) => {
        const body = element("tbody");
        const draws = traces[s].steps.some((item) => item.transition);  // where it goes next
        tables.push(traces[s].steps.map((item) => {
          const row = element("tr", {}, element("th", { scope: "row" }, item.address), cell(item.value), cell(item.distribution || ""), cell(item.role));
          if (draws) row.append(cell(item.transition || ""));
          if (item.transition < 0.5) row.classList.add("differs");
          body.append(row);
          return row;
        }));
        const head = element("tr", {}, ...["address", "value", "drawn from", "what", ...(draws ? ["P(coming there)"] : [])].map((name) => element("th", { scope: "col", class: "words" }, name)));
        const caption = `${side.name}: log p = ${traces[s].log_p}`;
        return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Trace of the " + side.name },
          element("table", {}, element("caption", {}, caption), element("thead", {}, head), body));
      }));
      showStep();
    }

    pick.addEventListener("change", showTrace);
    back.addEventListener("click", () => { --step; showStep(); });
    next.addEventListener("click", () => { ++step; showStep(); });
    plot.append(element("div", { class: "controls" }, pick, back, next, where), places);
    showTrace();
    figure.dataset.drawn = "true";
  }

  const drawers = { vega: drawVega, drawing: drawGraph, traces: drawTraces };

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
