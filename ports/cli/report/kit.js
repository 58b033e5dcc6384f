// What the pages share: elements, texts, tables and plots. Texts become text nodes, never markup: class,
// file and operator names may hold anything. uPlot, where the build had it, stands above this script
// and draws the plots; a page fetches nothing.
const topworkPage = (function () {
  "use strict";
  const source = document.getElementById("data").textContent;
  const data = JSON.parse(source);
  const page = document.getElementById("page");

  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }
  const known = (x) => typeof x === "number" && isFinite(x);
  const percent = (x) => (known(x) ? (100 * x).toFixed(1) + " %" : "–");
  const number = (x) => (known(x) ? (x !== 0 && Math.abs(x) < 1e-4 ? x.toExponential(1) :
    String(Number(x.toPrecision(4)))) : "–");
  const whole = (x) => (known(x) ? x.toLocaleString("en") : "–");
  const words = (name) => name.replace(/_/g, " ");
  function seconds(s) {
    if (s >= 60) return Math.floor(s / 60) + " min " + Math.round(s % 60) + " s";
    if (s >= 1) return s.toFixed(1) + " s";
    return s >= 0.001 ? Math.round(1000 * s) + " ms" : Math.round(1e6 * s) + " µs";
  }
  function bytes(n) {
    const units = ["B", "KiB", "MiB", "GiB"];
    let u = 0;
    while (n >= 1024 && u < 3) { n /= 1024; ++u; }
    return (u === 0 ? n : n.toFixed(1)) + " " + units[u];
  }
  function section(id, title, sub, ...children) {
    page.append(el("section", { id },
      el("h2", {}, title), sub ? el("p", { class: "sub" }, sub) : null, ...children));
  }
  function table(titles, rows, attributes) {
    return el("div", { class: "scroll" }, el("table", attributes || {},
      titles.some((title) => title) ? el("thead", {}, el("tr", {}, ...titles.map((title) => el("th", {}, title)))) : null,
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell)))))));
  }

  // --- plots: kept as recipes, drawn again when the reader's colours change
  const canPlot = typeof uPlot === "function";
  const plots = [];
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  function plot(id, title, makeOptions, values) {
    if (!canPlot) return null;
    const place = el("div", { class: "plot", id });
    plots.push({ place, makeOptions, values, drawn: null });
    return el("div", {}, el("h3", {}, title), place);
  }
  const heightFor = (width) => Math.round(Math.min(280, Math.max(190, 0.6 * width)));
  function draw(recipe) {
    if (recipe.drawn) recipe.drawn.destroy();
    const width = recipe.place.clientWidth;
    const options = Object.assign({ width, height: heightFor(width) }, recipe.makeOptions());
    recipe.drawn = new uPlot(options, recipe.values, recipe.place);
  }
  function axis(extra) {
    return Object.assign({ stroke: css("--soft"), grid: { stroke: css("--line"), width: 1 },
      ticks: { stroke: css("--line"), width: 1 }, font: "12px system-ui, sans-serif" }, extra);
  }

  // A table whose columns sort; each column is {title, key, show}.
  function sortable(id, columns, rows, lastRow) {
    const body = el("tbody", {});
    const heads = columns.map((column) => el("th", { "aria-sort": "none" }, el("button", { type: "button" }, column.title)));
    function fill(ordered) {
      body.replaceChildren(...ordered.map((row) => el("tr", {}, ...columns.map((c) =>
        el("td", c.key === "name" ? { title: row.name } : {}, c.show(row[c.key]))))));
      if (lastRow) body.append(el("tr", { class: "mean" }, ...lastRow.map((cell) => el("td", {}, cell))));
    }
    heads.forEach((head, i) => head.firstChild.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = columns[i].key;
      const order = (a, b) => (typeof a[key] === "string" ? a[key].localeCompare(b[key]) : (a[key] || 0) - (b[key] || 0));
      fill([...rows].sort((a, b) => (up ? order(a, b) : order(b, a))));
    }));
    fill(rows);
    return el("div", { class: "scroll" }, el("table", { id }, el("thead", {}, el("tr", {}, ...heads)), body));
  }

  // Draws what plot() has noted, and again when a page is turned or its colours change.
  function start() {
    plots.forEach(draw);
    const watch = new ResizeObserver(() => plots.forEach((recipe) => {
      const width = recipe.place.clientWidth;
      if (width > 0 && width !== recipe.drawn.width) recipe.drawn.setSize({ width, height: heightFor(width) });
    }));
    plots.forEach((recipe) => watch.observe(recipe.place));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach(draw));
  }
  // What stands at the end of every page.
  function footer(shown) {
    page.append(el("details", {}, el("summary", {}, "All of it as JSON"), el("pre", {}, JSON.stringify(shown, null, 1))),
      el("footer", {}, (data.made_by || "topwork") + (canPlot ? ". Plots by uPlot (MIT licence)." : ".") + " This page needs no network."));
  }

  return { data, page, el, known, percent, number, whole, words, seconds, bytes, section, table, sortable,
    canPlot, css, plot, axis, start, footer };
})();
