// Draws the training report from the JSON block of the page, with what kit.js offers.
(function () {
  "use strict";
  const { data, page, el, known, percent, number, whole, words, seconds, bytes, section, table, sortable,
    canPlot, css, plot, axis, start, footer } = topworkPage;
  const judged = data.evaluation;
  const kind = judged ? judged.kind : "softmax";
  const isRegression = kind === "mse" || kind === "huber";

  const steps = [];
  for (let power = 1; power <= 1e7; power *= 10) steps.push(power, 2 * power, 5 * power);
  function curves(id, title, rows, series, format, range) {
    const epochs = rows.map((row) => row.epoch);
    const values = [epochs, ...series.map((s) => rows.map((row) => known(row[s.key]) ? row[s.key] : null))];
    const first = epochs[0], last = epochs[epochs.length - 1];
    return plot(id, title, () => ({
      scales: { x: { time: false, range: first === last ? [first - 1, last + 1] : [first, last] },
                y: range ? { range } : {} },
      axes: [axis({ incrs: steps }), axis({ size: 64, values: (u, ticks) => ticks.map(format) })],
      series: [{ label: "epoch" }, ...series.map((s) => ({
        label: s.label, stroke: css(s.color), width: 2, points: { show: rows.length <= 30 },
        value: (u, v) => (v === null || v === undefined ? "–" : format(v)) }))],
    }), values);
  }

  // --- sections
  function drawHead() {
    page.append(el("h1", {}, data.title || "A new last layer"),
      el("p", { class: "sub" }, data.about || data.model + " trained on " + data.data +
        (data.output ? ", written to " + data.output : "")));
    if (data.note) page.append(el("p", { class: "warn" }, data.note));
    const cards = [];
    const card = (value, what) => cards.push(el("div", { class: "card" }, el("b", {}, value), el("span", {}, what)));
    if (judged && kind === "softmax") card(percent(judged.top1), "right, of " + data.evaluated_on);
    if (judged && kind === "sigmoid") {
      card(percent(judged.accuracy), "of decisions right, of " + data.evaluated_on);
      card(percent(judged.mean_average_precision), "mean average precision");
    }
    if (judged && isRegression) {
      card(number(judged.r2), "R², of " + data.evaluated_on);
      card(number(judged.mae), "mean absolute error");
    }
    if (judged) card(number(judged.loss), "loss");
    if (judged && known(judged.calibration_error)) card(percent(judged.calibration_error), "calibration error");
    const refused = data.rejection;
    if (refused && known(refused.unknown_refused)) card(percent(refused.unknown_refused), "of unknown examples refused");
    else if (refused) card(percent(refused.known_refused), "of known examples refused");
    if (data.seconds && known(data.seconds.total)) card(seconds(data.seconds.total), "from start to file");
    if (data.memory && known(data.memory.peak)) card(bytes(data.memory.peak), "peak memory");
    page.append(el("div", { class: "cards" }, ...cards));
  }

  function drawCurves() {
    const rows = data.epochs || [];
    if (rows.length === 0 || (rows.length === 1 && data.candidates)) return;
    const both = (name) => ["train_" + name, "validation_" + name]
      .map((key, i) => ({ key, label: i ? "validation" : "training", color: i ? "--held" : "--train" }))
      .filter((s) => rows.some((row) => known(row[s.key])));
    const parts = [];
    if (!isRegression && both("accuracy").length > 0) {
      const lowest = Math.min(...rows.flatMap((row) => both("accuracy").map((s) => row[s.key])).filter(known));
      const bottom = Math.min(0.9, Math.floor(10 * lowest) / 10);
      parts.push(curves("plot-accuracy", "Accuracy by epoch", rows, both("accuracy"),
        (v) => Math.round(1000 * v) / 10 + "%", [bottom, 1]));
    }
    parts.push(curves("plot-loss", "Loss by epoch", rows, both("loss"), (v) => String(Number(v.toPrecision(3))),
      (u, low, high) => [0, high > 0 ? 1.05 * high : 1]));
    if (rows.some((row) => known(row.learning_rate))) {
      parts.push(curves("plot-rate", "Learning rate", rows, [{ key: "learning_rate", label: "rate", color: "--train" }],
        (v) => String(Number(v.toPrecision(3))), (u, low, high) => [0, high > 0 ? 1.05 * high : 1]));
    }
    section("curves", "Training", canPlot ? null : "The program that wrote this report was built without uPlot, " +
      "so the plots are left out. The tables below hold the same numbers.", el("div", { class: "plots" }, ...parts));
  }

  function drawCalibration() {
    const bins = judged && judged.reliability;
    if (!bins || bins.length === 0) return;
    const n = bins.length;
    const middle = bins.map((_, i) => (i + 0.5) / n);
    const values = [[0, ...middle, 1], [null, ...bins.map((b) => (b.n_examples ? b.accuracy : null)), null],
                    [0, ...middle, 1]];
    const share = (v) => Math.round(100 * v) + "%";
    const shown = (u, v) => (known(v) ? percent(v) : "–");
    const diagram = plot("plot-reliability", "Share that was right, by confidence", () => ({
      scales: { x: { time: false, range: [0, 1] }, y: { range: [0, 1] } },
      axes: [axis({ values: (u, ticks) => ticks.map(share) }), axis({ size: 56, values: (u, ticks) => ticks.map(share) })],
      series: [{ label: "confidence", value: shown },
        { label: "right", stroke: css("--train"), fill: css("--train") + "66", paths: uPlot.paths.bars({ size: [0.9, 60] }),
          points: { show: false }, value: shown },
        { label: "ideal", stroke: css("--soft"), dash: [6, 4], width: 1.5, points: { show: false }, value: shown }],
    }), values);
    const rows = bins.map((b, i) => [percent(i / n) + " – " + percent((i + 1) / n), whole(b.n_examples),
      b.n_examples ? percent(b.confidence) : "–", b.n_examples ? percent(b.accuracy) : "–"]);
    const lines = [["calibration error (ECE)", percent(judged.calibration_error)]];
    const scaled = data.calibration;
    if (scaled) {
      lines.push(["temperature", number(scaled.temperature) + (scaled.at_bound ? " (at its bound)" : "")],
        ["ECE before → after", percent(scaled.error_before) + " → " + percent(scaled.error_after)],
        ["loss before → after", number(scaled.loss_before) + " → " + number(scaled.loss_after)]);
    }
    section("calibration", "Calibration", "How often the model is right when it says that it is so sure.",
      el("div", { class: "plots" }, diagram, el("div", {}, table(["", ""], lines, { id: "calibration-table" }),
        el("details", {}, el("summary", {}, "Bins"),
          table(["confidence", "examples", "mean confidence", "right"], rows, { id: "bins" })))));
  }

  function drawCandidates() {
    if (!data.candidates) return;
    section("tried", "What was tried", data.choice + ". Figures of examples left out of the fit.", table(
      ["way", "accuracy", "loss", "time"], data.candidates.map((row) => [
        row.chosen ? el("b", {}, row.name + " (taken)") : row.name, percent(row.accuracy), number(row.loss),
        seconds(row.seconds)]), { id: "candidates" }));
  }

  function drawDepths() {
    if (!data.depths) return;
    const rows = data.depths.filter((row) => !row.skipped);
    section("depths", "Layers tried", data.depth_reason + ".", table(
      ["layers", "accuracy", "loss, held back", "time", "memory"], rows.map((row) => [
        row.chosen ? el("b", {}, row.name + " (taken)") : row.name, percent(row.accuracy),
        number(row.loss), seconds(row.seconds), bytes(row.bytes)]), { id: "depth-table" }));
  }

  // Of a training: the examples left out in turn, and negatives. Of an evaluation: known and unknown examples.
  function drawRejection() {
    const refused = data.rejection;
    if (!refused) return;
    const rows = [];
    const row = (what, n, share) => { if (n > 0) rows.push([what, whole(n), percent(share)]); };
    row("known", known(refused.n_known) ? refused.n_known : refused.n_calibrated, refused.known_refused);
    row("unknown", refused.n_unknown, refused.unknown_refused);
    row("negatives", refused.n_negatives, refused.negatives_refused);
    const facts = [["promised", "at most " + percent(refused.promised) + " of known"]];
    if (known(refused.auroc)) facts.push(["AUROC", number(refused.auroc)]);
    if (known(refused.fpr95)) facts.push(["FPR95", percent(refused.fpr95)]);
    if (known(refused.n_stored)) facts.push(["examples in the model", whole(refused.n_stored)]);
    const curve = refused.curve || [];
    const share = (v) => Math.round(100 * v) + "%";
    const shown = (u, v) => (known(v) ? percent(v) : "–");
    const line = (label, color, extra) => Object.assign({ label, stroke: css(color), width: 2,
      points: { show: false }, value: shown }, extra);
    const drawn = curve.length === 0 ? null : plot("plot-rejection", "Share refused, by --reject", () => ({
      scales: { x: { time: false, range: [0, curve[curve.length - 1].rate] }, y: { range: [0, 1] } },
      axes: [axis({ values: (u, ticks) => ticks.map(share) }), axis({ size: 56, values: (u, ticks) => ticks.map(share) })],
      series: [{ label: "--reject", value: shown }, line("unknown", "--held"), line("known", "--train"),
        line("promised", "--soft", { dash: [6, 4], width: 1.5 })],
    }), [curve.map((p) => p.rate), curve.map((p) => p.unknown), curve.map((p) => p.known), curve.map((p) => p.rate)]);
    section("rejection", "Refusing the unknown", known(refused.n_calibrated) ?
      "What the new model says of its own examples, each judged as if it had not been taught." :
      "Known examples are those of the model's classes.",
      el("div", { class: "plots" }, drawn, el("div", {}, table(["", "examples", "refused"], rows, { id: "refused" }),
        el("div", { class: "pairs" }, table(["", ""], facts, { id: "refused-facts" })))));
  }

  function drawConfusion() {
    if (!judged) return;
    const names = (judged.classes || []).map((c) => c.name);
    if (judged.confusion && judged.confusion.length > 0) {
      const others = (judged.confusion_other || []).some((count) => count > 0);
      const head = names.map((name) => el("th", { title: name }, el("span", {}, name)));
      if (others) head.push(el("th", {}, el("span", {}, "other")));
      const body = judged.confusion.map((counts, i) => {
        const row = others ? [...counts, judged.confusion_other[i]] : counts;
        const total = row.reduce((a, b) => a + b, 0);
        return el("tr", {}, el("th", { title: names[i] }, names[i]), ...row.map((count, j) => {
          const strength = count === 0 ? 0 : 0.12 + 0.55 * count / total;
          return el("td", { style: "background:rgba(var(--" + (i === j ? "good" : "bad") + ")," + strength.toFixed(2) + ")",
            title: names[i] + " → " + (j < names.length ? names[j] : "other") + ": " + count },
            count === 0 ? "·" : String(count));
        }));
      });
      section("confusion", "Confusion matrix", "Rows: true class. Columns: what the model said.",
        el("div", { class: "scroll" }, el("table", { class: "matrix" + (names.length > 20 ? " dense" : ""), id: "matrix" },
          el("thead", {}, el("tr", {}, el("th", {}), ...head)), el("tbody", {}, ...body))));
    } else if (judged.worst_confusions && judged.worst_confusions.length > 0) {
      section("confusion", "Most frequent confusions", "Too many classes for a matrix.",
        table(["true class", "the model said", "examples"],
          judged.worst_confusions.map((c) => [c.label, c.predicted, whole(c.n_examples)]), { id: "confusions" }));
    }
  }

  function drawClasses() {
    if (!judged) return;
    if (isRegression) {
      section("classes", "Outputs", null, sortable("outputs", [
        { title: "output", key: "name", show: (v) => v }, { title: "MAE", key: "mae", show: number },
        { title: "RMSE", key: "rmse", show: number }, { title: "R²", key: "r2", show: number }], judged.outputs,
        ["all", number(judged.mae), number(judged.rmse), number(judged.r2)]));
      return;
    }
    const columns = [{ title: "class", key: "name", show: (v) => v }, { title: "examples", key: "n_examples", show: whole },
      { title: "precision", key: "precision", show: percent }, { title: "recall", key: "recall", show: percent },
      { title: "F1", key: "f1", show: percent }];
    const macro = judged.macro || {};
    const last = ["mean", whole(judged.n_examples), percent(macro.precision), percent(macro.recall), percent(macro.f1)];
    if (kind === "sigmoid") {
      columns.push({ title: "average precision", key: "average_precision", show: percent });
      last[1] = "";
      last.push(percent(judged.mean_average_precision));
    }
    section("classes", "Classes", "A column's title sorts by it.", sortable("class-table", columns, judged.classes, last));
  }

  function drawGroups() {
    if (!judged || !judged.groups) return;
    const last = isRegression ? { title: "loss", key: "loss", show: number } : { title: "right", key: "accuracy", show: percent };
    section("groups", "Groups", "The worst one first.", sortable("group-table", [
      { title: "group", key: "name", show: (v) => v }, { title: "examples", key: "n_examples", show: whole }, last], judged.groups));
  }

  // Tiles of examples with what was said of them.
  function tiles(examples, facts) {
    return el("div", { class: "worst" }, ...examples.map((example) => {
      const image = example.image ? el("img", { src: example.image, alt: example.name }) : null;
      if (image) image.addEventListener("load", () => { if (image.naturalWidth <= 42) image.classList.add("tiny"); });
      const answer = example.predicted === undefined ? example.suggested : example.predicted;
      const said = answer === undefined ? null : el("span", {}, " → ",
        el("span", { class: answer === example.label ? "" : "said" }, answer));
      return el("figure", {}, image ? el("div", { class: "shown" }, image) : null,
        el("figcaption", {}, example.label || "", said, el("span", { class: "name" }, facts(example)),
          el("span", { class: "name" }, example.name)));
    }));
  }
  function drawWorst() {
    const worst = data.worst || [];
    if (worst.length === 0) return;
    section("worst", isRegression ? "Furthest from the truth" : "Worst-classified examples",
      "Of the " + data.evaluated_on + ", these " + worst.length + " have the largest loss.",
      tiles(worst, (example) => "loss " + number(example.loss)));
  }
  function drawAudit() {
    if (!data.audit) return;
    const { n_suspects, suspects } = data.audit;
    const sub = "Every label was judged by a head that was fitted without its example. " +
      (n_suspects === 0 ? "None is probably wrong." : whole(n_suspects) + (n_suspects === 1 ? " is" : " are") +
        " probably wrong. To correct labels: topwork audit " + data.model + " --data " + data.data + " --report audit.html");
    section("audit", "Labels", sub, suspects.length === 0 ? null :
      tiles(suspects, (example) => "margin " + number(example.margin)));
  }

  function drawRun() {
    const pairs = (object, show) => Object.entries(object || {}).map(([name, value]) => [words(name), show(value)]);
    const box = (id, title, rows) => rows.length === 0 ? null :
      el("div", {}, el("h3", {}, title), table(["", ""], rows, { id }));
    const epochs = (data.epochs || []).filter((row) => known(row.seconds)).map((row) => row.seconds);
    const times = pairs(data.seconds, seconds);
    const quality = (value) => (kind === "softmax" ? percent(value) : number(value));
    const checks = [];
    const compare = (result, before, after) => {
      if (result) checks.push([before, quality(result.before)], [after, quality(result.after)]);
    };
    compare(data.golden, "golden set, shipped head", "golden set, new head");
    compare(data.stored, "as trained", "as stored in the model");
    if (epochs.length > 0) times.push(["mean epoch", seconds(epochs.reduce((a, b) => a + b, 0) / epochs.length)]);
    if (times.length > 1 || data.settings) section("run", "This run", null, el("div", { class: "pairs" }, box("times", "Time", times),
      box("memory", "Memory", pairs(data.memory, bytes)), box("settings", "Settings", pairs(data.settings, String)),
      box("model", "Model", pairs(data.model_info, String)), box("checks", "Checks", checks)));
    if (data.epochs && data.epochs.length > 0) {
      page.append(el("details", {}, el("summary", {}, "Every epoch"), table(
        ["epoch", "loss", "accuracy", "validation: loss", "accuracy", "learning rate", "time"],
        data.epochs.map((row) => [String(row.epoch), number(row.train_loss), percent(row.train_accuracy),
          number(row.validation_loss), percent(row.validation_accuracy), number(row.learning_rate),
          known(row.seconds) ? seconds(row.seconds) : "–"]), { id: "epochs" })));
    }
    const plain = (examples) => (examples || []).map((example) => Object.assign({}, example, { image: undefined }));
    const bare = Object.assign({}, data, { worst: plain(data.worst) });
    if (data.audit) bare.audit = Object.assign({}, data.audit, { suspects: plain(data.audit.suspects) });
    footer(bare);
  }

  drawHead();
  drawCurves();
  drawDepths();
  drawCandidates();
  drawRejection();
  drawCalibration();
  drawConfusion();
  drawClasses();
  drawGroups();
  drawWorst();
  drawAudit();
  drawRun();
  start();
})();
