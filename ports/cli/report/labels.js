// Draws the page that gives examples labels from its JSON block, with what kit.js offers. A mark is the
// label that an example gets, or null where it is dropped; examples without a mark stay as they are.
(function () {
  "use strict";
  const { data, page, el, section, footer } = topworkPage;
  const canSave = data.files.length > 0;
  const marks = new Map();
  const redraws = new Map();  // index → what draws its tiles again; an example may be in two sections

  const labelOf = (index) => (marks.has(index) ? marks.get(index) : data.labels[index]);
  function mark(index, label) {
    if (label === "") return;
    if (label === data.labels[index]) marks.delete(index); else marks.set(index, label);
    redraws.get(index).forEach((redraw) => redraw());
    drawBar();
  }

  // The same as CsvLine of ports/cli/data/csv.cc.
  function csvLine(fields) {
    return fields.map((field) => (/[,"\r\n\t]|^ | $/.test(field) ? '"' + field.replace(/"/g, '""') + '"' : field))
      .join(",") + "\n";
  }
  function csv() {
    let text = data.groups ? "file,label,group\n" : "file,label\n";
    data.files.forEach((file, index) => {
      const label = labelOf(index);
      if (label) text += csvLine(data.groups ? [file, label, data.groups[index]] : [file, label]);
    });
    return text;
  }
  function save() {
    const link = el("a", { href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })), download: "labels.csv" });
    page.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // --- one example
  function choices(row) {
    const buttons = [];
    const button = (text, label, title) => {
      const node = el("button", { type: "button", title }, text);
      node.addEventListener("click", () => mark(row.index, label));
      buttons.push([node, label]);
    };
    const own = data.labels[row.index];
    if (own) button(own, own, "the label is right");
    if (row.suggested && row.suggested !== own) button(row.suggested, row.suggested, "the class that is suggested");
    if (data.has_labels) button("drop", null, "leave this example out");
    const other = el("input", { type: "text", list: "classes", placeholder: "other class", "aria-label": "other class of " + data.files[row.index] });
    other.addEventListener("change", () => mark(row.index, other.value.trim()));
    const redraw = () => {
      const label = labelOf(row.index);
      buttons.forEach(([node, its]) => node.setAttribute("aria-pressed", String(its === label)));
      other.value = label && !buttons.some(([, its]) => its === label) ? label : "";
    };
    if (!redraws.has(row.index)) redraws.set(row.index, []);
    redraws.get(row.index).push(redraw);
    redraw();
    return el("div", { class: "choices" }, ...buttons.map(([node]) => node), other);
  }
  function tile(row) {
    const image = row.image ? el("img", { src: row.image, alt: data.files[row.index] }) : null;
    if (image) image.addEventListener("load", () => { if (image.naturalWidth <= 42) image.classList.add("tiny"); });
    const said = row.suggested && row.suggested !== row.label;
    const title = [row.label || null, said ? el("span", {}, row.label ? " → " : "", el("span", { class: row.label ? "said" : "" }, row.suggested)) : null];
    return el("figure", { class: row.is_suspect ? "suspect" : "", "data-index": String(row.index) },
      image ? el("div", { class: "shown" }, image) : null,
      el("figcaption", {}, ...title, ...row.facts.map((fact) => el("span", { class: "name" }, fact)),
        el("span", { class: "name" }, canSave ? data.files[row.index] : "example " + row.index),
        canSave ? choices(row) : null));
  }

  // --- what stands at the bottom of the window
  const state = el("span", { id: "state", role: "status" });
  const saveButton = el("button", { type: "button", id: "save" }, "Save labels.csv");
  function drawBar() {
    const dropped = [...marks.values()].filter((label) => label === null).length;
    const changed = marks.size - dropped;
    const named = data.has_labels ? (changed === 1 ? " correction" : " corrections") : (changed === 1 ? " label" : " labels");
    state.textContent = changed + named + (dropped ? ", " + dropped + " dropped" : "");
    saveButton.disabled = marks.size === 0;
  }
  function bar() {
    const all = el("button", { type: "button", id: "all" }, "Take all suggestions");
    all.addEventListener("click", () => data.sections[0].rows.forEach((row) => {
      if (row.suggested && (!data.has_labels || row.is_suspect)) mark(row.index, row.suggested);
    }));
    saveButton.addEventListener("click", save);
    drawBar();
    return el("div", { class: "bar-below" }, state, all, saveButton);
  }

  page.append(el("h1", {}, data.title.replace(/^Topwork:? /, "").replace(/^./, (c) => c.toUpperCase())), el("p", { class: "sub" }, data.about));
  if (data.cards.length > 0) {
    page.append(el("div", { class: "cards" }, ...data.cards.map(([value, what]) =>
      el("div", { class: "card" }, el("b", {}, value), el("span", {}, what)))));
  }
  if (canSave) {
    page.append(el("p", { class: "sub", id: "how" }, (data.has_labels ? "Mark what is to change" : "Give labels") +
      " and save labels.csv. Put the file into " + data.folder + ": the next train --data takes the labels from it."),
      el("datalist", { id: "classes" }, ...data.classes.map((name) => el("option", { value: name }))));
  }
  for (const { id, title, about, rows } of data.sections) {
    if (rows.length > 0) section(id, title, about, el("div", { class: "worst labels" }, ...rows.map(tile)));
  }
  footer(data.document);
  if (canSave) page.append(bar());
})();
