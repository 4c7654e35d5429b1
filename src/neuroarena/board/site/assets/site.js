// A little help for reading: sorting, filtering, choosing a pair. Every page says the same without it.
"use strict";

function makeElement(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function sortBy(table, column, descending) {
  const body = table.tBodies[0];
  const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
  const rows = [...body.rows].sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    const [x, y] = [parseFloat(a), parseFloat(b)];
    const order = Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
    return descending ? -order : order;
  });
  body.append(...rows);
}

function addSorting(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.dataset.plain !== undefined) return;
    const button = makeElement("button", { type: "button", className: "sort" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortBy(table, column, descending);
    });
  });
}

function addFilter(table) {
  const count = makeElement("output", { className: "count" });
  const search = makeElement("input", { type: "search", placeholder: "Search", autocomplete: "off" });
  search.setAttribute("aria-label", "Search the rows of this table");
  const bar = makeElement("div", { className: "tools" }, search);
  const kinds = [...new Set([...table.tBodies[0].rows].map((row) => row.dataset.kind).filter(Boolean))];
  const chosen = makeElement("select", {}, makeElement("option", { value: "" }, `all ${table.dataset.choose ?? "kinds"}`));
  chosen.setAttribute("aria-label", table.dataset.choose ? `Show only one of the ${table.dataset.choose}` : "Show only one kind of entry");
  if (!table.dataset.choose) kinds.sort();
  kinds.forEach((kind) => chosen.append(makeElement("option", { value: kind }, kind)));
  if (kinds.length > 1) bar.append(chosen);
  bar.append(count);
  const update = () => {
    const words = search.value.toLowerCase();
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const fits = row.textContent.toLowerCase().includes(words) && (!chosen.value || row.dataset.kind === chosen.value);
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = words || chosen.value ? `${shown} of ${table.tBodies[0].rows.length}` : "";
  };
  search.addEventListener("input", update);
  chosen.addEventListener("change", update);
  table.closest(".scroll").before(bar);
}

function addPairs(table) {
  const rows = [...table.tBodies[0].rows];
  const teams = [...new Set(rows.flatMap((row) => [row.cells[0].textContent.trim(), row.cells[1].textContent.trim()]))];
  const choose = (label, at) => {
    const made = makeElement("select", {}, ...teams.map((team) => makeElement("option", { value: team }, team)));
    made.setAttribute("aria-label", label);
    made.selectedIndex = at;
    return made;
  };
  const [first, second] = [choose("First entry", 0), choose("Second entry", 1)];
  const said = makeElement("output", { className: "said" });
  const update = () => {
    const row = rows.find((each) => {
      const pair = [each.cells[0].textContent.trim(), each.cells[1].textContent.trim()];
      return pair.includes(first.value) && pair.includes(second.value) && first.value !== second.value;
    });
    if (!row) {
      said.textContent = first.value === second.value ? "Choose two entries." : "This pair is only in the table of verdicts.";
      return;
    }
    const [above, below, delta, judged, p, verdict] = [...row.cells].map((cell) => cell.textContent.trim());
    const by = delta.split(" [")[0] + (judged.startsWith("[") ? ` ${judged}` : ""); // the interval that boards show
    said.textContent = `${above} stands above ${below} by ${by}, corrected p ${p}: ${verdict}.`;
  };
  first.addEventListener("change", update);
  second.addEventListener("change", update);
  update();
  const bar = makeElement("div", { className: "tools pair" }, first, makeElement("span", {}, "against"), second);
  table.closest("details").before(bar, said);
}

// A page on a disk does not know what day it is; whoever reads it does.
function tellState(stretch) {
  const [start, end, now] = [Date.parse(stretch.dataset.from), Date.parse(stretch.dataset.until), Date.now()];
  const state = now < start ? "to come" : now < end ? "open" : "over";
  stretch.className = state.replace(" ", "-");
  stretch.querySelector(".state").textContent = state;
}

document.querySelectorAll(".timeline li[data-from]").forEach(tellState);
document.querySelectorAll("table[data-sortable]").forEach(addSorting);
document.querySelectorAll("table[data-filter]").forEach(addFilter);
document.querySelectorAll("table[data-pairs]").forEach(addPairs);
