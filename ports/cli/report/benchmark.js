// Draws the page of a benchmark from the JSON block of the page, with what kit.js offers.
(function () {
  "use strict";
  const { data, page, el, known, percent, number, whole, seconds, bytes, section, table, sortable,
    canPlot, css, plot, axis, start, footer } = topworkPage;
  const results = data.results;
  const first = results[0];
  const colours = ["--train", "--held", "--third", "--fourth", "--fifth", "--sixth"];
  const shown = results.slice(0, colours.length);
  const ms = (x) => (known(x) ? (x >= 1000 ? (x / 1000).toPrecision(4) + " s" : x >= 0.1 ?
    String(Number(x.toPrecision(4))) + " ms" : String(Number((1000 * x).toPrecision(4))) + " µs") : "–");
  const short = (path) => path.slice(path.lastIndexOf("/") + 1);
  const rate = (x, unit) => {
    if (!known(x)) return "–";
    const prefixes = ["", " k", " M", " G", " T"];
    let p = 0;
    while (x >= 1000 && p < 4) { x /= 1000; ++p; }
    return Number(x.toPrecision(3)) + (p ? prefixes[p] : " ") + unit;
  };

  // What tells a result from the others.
  function name(result) {
    const differs = (key) => results.some((other) => other[key] !== first[key]);
    const parts = [];
    if (differs("model")) parts.push(short(result.model));
    if (differs("device")) parts.push(result.device);
    if (differs("precision")) parts.push(result.precision);
    if (differs("batch")) parts.push("batch " + result.batch);
    if (differs("threads_asked")) parts.push(result.threads + (result.threads === 1 ? " thread" : " threads"));
    return parts.length ? parts.join(", ") : short(result.model);
  }

  function drawHead() {
    page.append(el("h1", {}, "Benchmark"), el("p", { class: "sub" },
      [...new Set(results.map((result) => result.model))].join(", ") + " on " +
      (data.machine.processor || "an unknown processor") + ", " + data.date));
    results.filter((result) => result.throttled).forEach((result) => page.append(
      el("p", { class: "warn" }, "Slowed down: " + (results.length > 1 ? name(result) + ": " : "") + result.throttled)));
    const cards = [];
    const card = (value, what) => cards.push(el("div", { class: "card" }, el("b", {}, value), el("span", {}, what)));
    const fastest = results.reduce((a, b) => (b.latency_ms.p50 < a.latency_ms.p50 ? b : a));
    card(ms(fastest.latency_ms.p50), (results.length > 1 ? "fastest median, " + name(fastest) : "median of " + whole(first.runs) + " runs"));
    card(ms(fastest.latency_ms.p99), "99th percentile");
    card(ms(fastest.open_ms + fastest.plan_ms + fastest.first_run_ms), "from file to first answer");
    if (fastest.train) card(ms(fastest.train.personalise_ms.p50), "to personalise");
    card(bytes(Math.max(...results.map((result) => result.rss_peak_bytes))), "peak memory");
    if (data.comparison) card(String(data.comparison.n_slower), "settings slower than before");
    page.append(el("div", { class: "cards" }, ...cards));
  }

  function drawSettings() {
    const rows = results.map((r) => Object.assign({ name: name(r), first: r.first_run_ms, plan: r.plan_ms,
      arena: r.arena_bytes, packed: r.packed_bytes }, r.latency_ms));
    section("settings", results.length > 1 ? "Settings" : "Times", results.length > 1 ? "A column's title sorts by it." : null,
      sortable("setting-table", [{ title: "setting", key: "name", show: (v) => v },
        ...[["median", "p50"], ["min", "min"], ["p90", "p90"], ["p99", "p99"], ["plan", "plan"], ["first run", "first"]]
          .map(([title, key]) => ({ title, key, show: ms })),
        { title: "arena", key: "arena", show: bytes }, { title: "weights", key: "packed", show: bytes }], rows));
  }

  // Outliers beyond this would hide everything else.
  const far = (result) => 3 * result.latency_ms.p90;
  // --- distribution: shares of the runs by latency, and the latency of each run
  function histogram(result) {
    const sorted = [...result.samples_ms].sort((a, b) => a - b);
    const low = sorted[0], high = Math.min(sorted[Math.floor(0.99 * (sorted.length - 1))], far(result));
    const n = Math.max(5, Math.min(40, Math.round(Math.sqrt(sorted.length))));
    const width = (high - low) / n || low / 10;
    const counts = new Array(n).fill(0);
    sorted.forEach((x) => { if (x <= high) ++counts[Math.min(n - 1, Math.floor((x - low) / width))]; });
    return [counts.map((_, i) => low + (i + 0.5) * width), counts.map((count) => count / sorted.length)];
  }
  function drawDistribution() {
    const plain = (u, v) => (known(v) ? ms(v) : "–");
    const ticks = (u, values) => values.map((v) => (known(v) ? ms(v) : ""));
    const share = (u, v) => (known(v) ? percent(v) : "–");
    const shares = histogram(first), half = (shares[0][1] - shares[0][0]) / 2;
    const parts = [plot("plot-histogram", "Latency of " + name(first), () => ({
      scales: { x: { time: false, range: (u, low, high) => [low - half, high + half] }, y: { range: (u, low, high) => [0, 1.05 * high] } },
      axes: [axis({ values: ticks, space: 70 }), axis({ size: 56, values: (u, v) => v.map((x) => Math.round(1000 * x) / 10 + "%") })],
      series: [{ label: "latency", value: plain }, { label: "share of the runs", stroke: css("--train"), fill: css("--train") + "66",
        paths: canPlot ? uPlot.paths.bars({ size: [0.95, 60] }) : undefined, points: { show: false }, value: share }],
    }), shares)];
    const longest = Math.max(...shown.map((result) => result.samples_ms.length));
    const numbers = Array.from({ length: longest }, (_, i) => i + 1);
    parts.push(plot("plot-runs", "Latency of each run", () => ({
      scales: { x: { time: false }, y: { range: (u, low, high) => [0, Math.min(1.05 * high, Math.max(...shown.map(far)))] } },
      axes: [axis({}), axis({ size: 72, values: ticks })],
      series: [{ label: "run" }, ...shown.map((result, i) => ({ label: name(result), stroke: css(colours[i]), width: 1,
        points: { show: longest <= 60 }, value: plain }))],
    }), [numbers, ...shown.map((result) => numbers.map((_, i) => (i < result.samples_ms.length ? result.samples_ms[i] : null)))]));
    section("distribution", "Distribution", canPlot ? "Left out: in the first plot runs beyond the 99th percentile, in both those beyond three times the 90th." :
      "The program that wrote this page was built without uPlot, so the plots are left out.",
      el("div", { class: "plots" }, ...parts));
  }

  // --- operators: bars of their time
  const bar = (part, colour) => el("span", { class: "bar" }, el("span", { class: "fill",
    style: "width:" + (100 * Math.min(1, part)).toFixed(1) + "%;background:var(" + (colour || "--train") + ")" }));
  // A line may end behind each underscore.
  const breakable = (text) => el("span", {}, ...text.split("_").flatMap((part, i) => (i ? ["_", el("wbr"), part] : [part])));
  function drawOperators() {
    const ops = first.ops || [];
    if (ops.length === 0) return;
    const total = ops.reduce((sum, op) => sum + op.p50_ms, 0) || 1;
    const types = {};
    ops.forEach((op) => {
      const type = types[op.op] = types[op.op] || { name: op.op, count: 0, p50_ms: 0 };
      ++type.count;
      type.p50_ms += op.p50_ms;
    });
    const byTime = (a, b) => b.p50_ms - a.p50_ms;
    const sorted = [...ops].sort(byTime), top = sorted.slice(0, 20);
    const kinds = Object.values(types).sort(byTime);
    const roofs = ops.some((op) => op.limit);
    const limit = (op) => (op.limit && known(op.limit_share) ? Math.round(100 * op.limit_share) + " % " + op.limit : "–");
    section("operators", "Operators", "Of " + name(first) + ", in runs of their own; medians.",
      el("div", { class: "pairs" },
        el("div", {}, el("h3", {}, "By type"), table(["operator", "", "time", "share"], kinds.map((kind) =>
          [breakable(kind.count + " × " + kind.name), bar(kind.p50_ms / kinds[0].p50_ms), ms(kind.p50_ms), percent(kind.p50_ms / total)]), { id: "types" })),
        el("div", {}, el("h3", {}, top.length < ops.length ? "The longest " + top.length : "Each"),
          table(["operator", "", "time", ...(roofs ? ["of the limit"] : [])], top.map((op) =>
            [breakable(op.step + " " + op.op), bar(op.p50_ms / sorted[0].p50_ms), ms(op.p50_ms), ...(roofs ? [limit(op)] : [])]), { id: "ops" }))));
  }

  // --- roofline: operations per second over operations per byte
  function drawRoofline() {
    if (!data.limits || data.limits.length === 0) return;
    const bandwidth = (l, which) => l.bytes_per_s[which < 0 ? l.bytes_per_s.length - 1 : 0].bytes_per_s;
    section("roofline", "Roofline", "What the devices can do, measured, and what each operator does of it.",
      el("div", { class: "plots" }, rooflinePlot(data.limits[0], bandwidth)),
      table(["device", "float32", "bytes", "memory", "cache", "launch"], data.limits.map((l) => [
        l.name + (l.threads ? ", " + l.threads + (l.threads === 1 ? " thread" : " threads") : ""),
        rate(l.flops_per_s, "FLOP/s"), rate(l.byte_ops_per_s, "op/s"), rate(bandwidth(l, -1), "B/s"),
        rate(bandwidth(l, 0), "B/s"), ms(l.launch_ns * 1e-6)]), { id: "limits" }));
  }
  function rooflinePlot(limit, bandwidth) {
    const here = (first.ops || []).filter((op) => op.flops > 0 && op.bytes > 0 && op.p50_ms > 0 &&
      (op.backend === "cpu") === (limit.name === "cpu"));
    if (here.length === 0) return null;
    const points = here.map((op) => ({ x: op.flops / op.bytes, y: op.flops / op.p50_ms * 1e3, bytes: op.is_bytes }));
    const low = Math.min(0.05, ...points.map((p) => p.x)), high = Math.max(100, ...points.map((p) => p.x));
    const grid = [];
    for (let x = low; x < high * 1.01; x *= 1.15) grid.push({ x });
    const all = [...points, ...grid].sort((a, b) => a.x - b.x);
    const roof = (peak, which) => all.map((p) => Math.min(peak, p.x * bandwidth(limit, which)));
    const of = (isBytes) => all.map((p) => (p.y && p.bytes === isBytes ? p.y : null));
    const lines = [["roof, from memory", roof(limit.flops_per_s, -1), "--soft", [6, 4]], ["roof, from cache", roof(limit.flops_per_s, 0), "--soft", []]];
    if (known(limit.byte_ops_per_s) && points.some((p) => p.bytes)) lines.push(["roof of bytes", roof(limit.byte_ops_per_s, 0), "--third", []]);
    const dots = [["float operators", of(false), "--train"], ["byte operators", of(true), "--held"]].filter((d) => d[1].some(known));
    const show = (unit) => (u, v) => rate(v, unit);
    return plot("plot-roofline", "Operators of " + name(first), () => ({
      scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
      axes: [axis({ values: (u, v) => v.map((x) => (known(x) ? String(Number(x.toPrecision(2))) : "")), label: "operations per byte", labelSize: 20 }),
        axis({ size: 72, values: (u, v) => v.map((x) => (known(x) ? rate(x, "") : "")) })],
      series: [{ label: "op/B", value: (u, v) => number(v) },
        ...lines.map(([label, , colour, dash]) => ({ label, stroke: css(colour), dash, width: 1.5, points: { show: false }, value: show("op/s") })),
        ...dots.map(([label, , colour]) => ({ label, stroke: css(colour), paths: () => null, points: { show: true, size: 7, fill: css(colour) }, value: show("op/s") }))],
    }), [all.map((p) => p.x), ...lines.map((line) => line[1]), ...dots.map((d) => d[1])]);
  }

  // --- comparison: the interval of each ratio on a common scale
  function drawComparison() {
    const compared = data.comparison;
    if (!compared) return;
    const rows = compared.rows.filter((row) => known(row.ratio));
    const low = Math.min(0.8, ...rows.map((row) => row.low)), high = Math.max(1.25, ...rows.map((row) => row.high));
    const at = (x) => Math.min(100, Math.max(0, 100 * (Math.log(x) - Math.log(low)) / (Math.log(high) - Math.log(low))));
    const strip = (row) => el("span", { class: "strip" },
      el("span", { class: "same", style: "left:" + at(1 / (1 + compared.tolerance)) + "%;right:" + (100 - at(1 + compared.tolerance)) + "%" }),
      el("span", { class: "interval " + row.verdict, style: "left:" + at(row.low) + "%;right:" + (100 - at(row.high)) + "%" }),
      el("span", { class: "mark", style: "left:" + at(row.ratio) + "%" }));
    section("comparison", "Comparison", "Medians now over those of " + compared.base + ", with intervals of " +
      percent(compared.confidence) + " confidence in all; grey: within the tolerance of " + percent(compared.tolerance) + ".",
      table(["setting", "verdict", "ratio", "faster · slower", "before", "now"], compared.rows.map((row) => known(row.ratio) ?
        [row.key, row.verdict, row.ratio.toFixed(3), strip(row), ms(row.before_ms), ms(row.after_ms)] :
        [row.key, row.verdict, "–", "", "–", "–"]), { id: "compared" }),
      ...compared.notes.map((note) => el("p", { class: "sub" }, note)));
  }

  function drawTraining() {
    const trained = results.filter((result) => result.train);
    if (trained.length === 0) return;
    section("training", "Training", "A new head from random examples, from an open model to an exported one.",
      table(["setting", "to personalise", "backbone", "fit", "export", "features/s", "steps/s", "memory"], trained.map((result) => {
        const t = result.train;
        return [name(result), ms(t.personalise_ms.p50), ms(t.features_ms.p50), ms(t.fit_ms.p50), ms(t.export_ms.p50),
          number(t.features_per_s), number(t.steps_per_s), bytes(t.memory_bytes)];
      }), { id: "train-table" }));
  }

  function drawMachine() {
    const machine = data.machine, before = first.clocks.before, after = first.clocks.after;
    const rows = [["processor", machine.processor || "–"], ["instruction set", machine.instruction_set],
      ["processors", whole(machine.n_processors)], ["memory", bytes(machine.memory_bytes)], ["governor", machine.governor || "not readable"]];
    const clock = (state) => (state.mhz ? Math.round(Math.max(...state.mhz)) + " MHz" : "not readable");
    rows.push(["clock before, after", clock(before) + ", " + clock(after)]);
    const warmest = (state) => (state.celsius ? Math.max(...state.celsius.map((zone) => zone.celsius)).toFixed(1) + " °C" : "not readable");
    rows.push(["warmest zone before, after", warmest(before) + ", " + warmest(after)]);
    rows.push(["library", data.version]);
    section("machine", "Machine", null, el("div", { class: "pairs" }, table(["", ""], rows, { id: "machine-table" })));
  }

  drawHead();
  drawSettings();
  drawComparison();
  drawDistribution();
  drawOperators();
  drawRoofline();
  drawTraining();
  drawMachine();
  footer(data);
  start();
})();
