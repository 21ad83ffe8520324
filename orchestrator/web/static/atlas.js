// The atlas: choose factors and a colour, point at a cell, open it. The choice stands in the page's address.
import { arrange, isPredicted, measures, told, withPredictions } from "./atlas-model.js";
import { legend, whenSchemeChanges } from "./atlas-colours.js";
import { boxOf, cellAt, drawCells, geometry, pointer } from "./atlas-canvas.js";
import { listed, pivots } from "./atlas-tables.js";

const id = (name) => document.getElementById(name);
const [map, form, tip, opened] = [id("map"), id("layout"), id("tip"), id("opened")];
const kind = id("colour");
let atlas, cells, place, mark, measure;
const LISTED = 12;
const FEWEST = 10; // fits: from fewer nothing is predicted
let at = -1;

const chosen = () => Object.fromEntries(new FormData(form));

function link(one) {
  const mode = atlas.axes.at(-1).levels[atlas.places.at(-1)[one]];
  return `${map.dataset.campaign}/configurations/${atlas.setting[one]}/${encodeURIComponent(mode)}`;
}

function redraw() {
  const begin = performance.now();
  measure = measures(atlas)[kind.value];
  cells = arrange(atlas, chosen());
  place = geometry(cells, map.clientWidth);
  map.style.height = `${place.height}px`;
  drawCells(id("cells"), cells, place, measure);
  mark = pointer(id("over"), place);
  legend(measure, id("legend"));
  if (atlas.predicted) id("legend").append(Object.assign(document.createElement("p"), { className: "soft", textContent: "Hatched: predicted from what is measured, not measured itself." }));
  point(-1);
  id("pivots").replaceChildren();
  if (id("tables").open) pivots(id("pivots"), cells, measure, map.dataset.campaign);
  map.dataset.drawMs = (performance.now() - begin).toFixed(1);
  map.dataset.drawnAtMs = performance.now().toFixed(0);
}

/** What a cell is, in words. */
function words(cell) {
  const all = cells.members(cell);
  const value = measure.of(all);
  const verdict = isPredicted(atlas, all) ? "predicted, not measured" : all.length === 1 && atlas.verdict[all[0]] >= 0 ? atlas.verdicts[atlas.verdict[all[0]]] : "";
  return [
    cells.levels(cell).map(([name, level]) => `${name} ${told(name, level)}`).join(", "),
    [`${measure.name}: ${value === null ? "not analysed" : measure.told(value)}`, verdict, all.length > 1 ? `${all.length} configurations` : ""].filter(Boolean).join("; "),
  ];
}

function point(cell, { speak = false } = {}) {
  at = cell;
  tip.hidden = cell < 0;
  mark(cell < 0 ? null : boxOf(cells, place, cell));
  if (cell < 0) return;
  const [where, what] = words(cell);
  tip.replaceChildren(Object.assign(document.createElement("strong"), { textContent: what }), document.createElement("br"), where);
  const box = boxOf(cells, place, cell);
  const left = Math.min(Math.max(0, box.x + box.width + 10), Math.max(0, place.width - 290));
  tip.style.transform = `translate(${left}px, ${box.y + box.height + 10}px)`;
  if (speak) id("here").textContent = `${where}. ${what}`;
}

function open(cell) {
  const all = cells.members(cell);
  if (all.length === 0) return;
  if (all.length === 1) return void (location.href = link(all[0]));
  const list = document.createElement("ul");
  for (const one of all.slice(0, LISTED)) {
    const levels = atlas.axes.map((axis, column) => `${axis.name} ${told(axis.name, axis.levels[atlas.places[column][one]])}`);
    const verdict = atlas.verdict[one] < 0 ? "not analysed" : atlas.verdicts[atlas.verdict[one]];
    const item = document.createElement("li");
    item.append(Object.assign(document.createElement("a"), { href: link(one), textContent: levels.join(", ") }), ` ${verdict}`);
    list.append(item);
  }
  const whole = Object.assign(document.createElement("a"), { href: listed(map.dataset.campaign, cells.levels(cell)), textContent: `All ${all.length} as a table` });
  opened.replaceChildren(Object.assign(document.createElement("h3"), { textContent: `${all.length} configurations: ${words(cell)[0]}` }), list, whole);
  opened.hidden = false;
  opened.scrollIntoView({ block: "nearest" });
  list.querySelector("a").focus();
}

/** The nearest cell in a direction that holds something, within its panel. */
function beside(cell, across, down) {
  let { column, row, panel } = cells.split(cell);
  for (;;) {
    [column, row] = [column + across, row + down];
    if (column < 0 || row < 0 || column >= cells.x.size || row >= cells.y.size) return cell;
    const next = (panel * cells.y.size + row) * cells.x.size + column;
    if (cells.first[next] >= 0) return next;
  }
}

function otherPanel(cell, step) {
  const size = cells.x.size * cells.y.size;
  const panel = Math.min(cells.panels.size - 1, Math.max(0, cells.split(cell).panel + step));
  const same = panel * size + (cell % size);
  if (cells.first[same] >= 0) return same;
  const found = cells.first.subarray(panel * size, (panel + 1) * size).findIndex((one) => one >= 0);
  return found < 0 ? cell : panel * size + found;
}

const KEYS = {
  ArrowLeft: (cell) => beside(cell, -1, 0), ArrowRight: (cell) => beside(cell, 1, 0), ArrowUp: (cell) => beside(cell, 0, -1),
  ArrowDown: (cell) => beside(cell, 0, 1), PageUp: (cell) => otherPanel(cell, -1), PageDown: (cell) => otherPanel(cell, 1),
};

function listen() {
  map.addEventListener("pointermove", (event) => {
    const bounds = map.getBoundingClientRect();
    const cell = cellAt(cells, place, event.clientX - bounds.left, event.clientY - bounds.top);
    map.style.cursor = cell < 0 ? "default" : "pointer";
    if (cell !== at) point(cell);
  });
  map.addEventListener("pointerleave", () => point(-1));
  map.addEventListener("click", () => open(at));
  map.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && at >= 0) return open(at);
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    point(at < 0 ? cells.first.findIndex((one) => one >= 0) : KEYS[event.key](at), { speak: true });
  });
  form.addEventListener("change", () => {
    history.replaceState(null, "", `?${new URLSearchParams(chosen())}`);
    opened.hidden = true;
    redraw();
  });
  id("tables").addEventListener("toggle", redraw);
  new ResizeObserver(() => { if (place && map.clientWidth > 0 && Math.abs(place.width - map.clientWidth) > 1) redraw(); }).observe(map);
  whenSchemeChanges(redraw);
}

async function main() {
  for (const [name, value] of new URLSearchParams(location.search)) {
    const choice = form.elements.namedItem(name);
    if (choice && [...choice.options].some((option) => option.value === value)) choice.value = value;
  }
  const answer = await fetch(map.dataset.atlas);
  if (!answer.ok) throw new Error((await answer.json()).detail ?? answer.statusText);
  atlas = await answer.json();
  id("waiting").remove();
  redraw();
  listen();
  const fits = atlas.components.filter((one) => one > 0).length;
  if (fits >= FEWEST && fits < atlas.setting.length) await predict();
}

/** What is not analysed yet is filled in when its predictions are there; without them the map stays as it is. */
async function predict() {
  const answer = await fetch(map.dataset.predictions).catch(() => null);
  if (!answer?.ok) return;
  atlas = withPredictions(atlas, await answer.json());
  redraw();
}

main().catch((problem) => {
  id("waiting").className = "problem";
  id("waiting").textContent = `The map cannot be drawn: ${problem.message}`;
});
