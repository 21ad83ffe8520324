// The atlas's pictures: cells once, and on a second canvas above them the one that is pointed at.
import { isPredicted, told } from "./atlas-model.js";
import { ramp, scaled } from "./atlas-colours.js";

const FONT = "system-ui, sans-serif";
const TOP = 26, BOTTOM = 40, BETWEEN = 18, GROUP_GAP = 3, LEAST = 4;
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Where every column (or row) begins, in CSS pixels; groups of the outer factor stand apart. */
function edges(direction, length) {
  const gap = direction.groups.length > 1 && direction.each.length > 1 ? GROUP_GAP : 0;
  const size = (length - gap * (direction.groups.length - 1)) / direction.size;
  const starts = Float64Array.from({ length: direction.size }, (_, place) => place * size + gap * Math.floor(place / direction.each.length));
  const at = new Int32Array(Math.ceil(length) + 1).fill(-1);
  starts.forEach((start, place) => at.fill(place, Math.floor(start), Math.ceil(start + size)));
  return { starts, size, at, length };
}

/** Room for the names of the outer factor's levels. */
function leftOf({ y }) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `11px ${FONT}`;
  return 12 + Math.max(0, ...y.groups.map((level) => (level === "" ? 0 : context.measureText(told(y.outer, level)).width)));
}

/** How the panels lie on a page of this width. */
export function geometry(cells, width) {
  const left = leftOf(cells);
  const across = Math.max(1, Math.min(cells.panels.size, Math.floor(width / 330)));
  const panelWidth = (width - BETWEEN * (across - 1)) / across;
  const inner = panelWidth - left;
  const most = Math.max(LEAST, Math.min(26, inner / cells.x.size));
  const height = Math.max(60, cells.y.size * most + GROUP_GAP * cells.y.groups.length);
  const [columns, rows] = [edges(cells.x, inner), edges(cells.y, height)];
  const panelHeight = TOP + height + BOTTOM;
  const origin = (panel) => ({ x: (panel % across) * (panelWidth + BETWEEN) + left, y: Math.floor(panel / across) * panelHeight + TOP });
  return { across, columns, rows, origin, panelWidth, panelHeight, width, height: Math.ceil(cells.panels.size / across) * panelHeight };
}

function fitted(canvas, place) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(place.width * ratio);
  canvas.height = Math.round(place.height * ratio);
  canvas.style.width = `${place.width}px`;
  canvas.style.height = `${place.height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

/** Draw all cells; grouped by colour, so that the brush changes 257 times and not 22,734. */
export function drawCells(canvas, cells, place, measure) {
  const context = fitted(canvas, place);
  const [colours, share] = [ramp(), scaled(measure)];
  const byColour = new Map();
  for (let cell = 0; cell < cells.first.length; cell++) {
    if (cells.first[cell] < 0) continue;
    const value = measure.of(cells.members(cell));
    const colour = value === null ? -1 : Math.round(share(value) * (colours.length - 1));
    if (!byColour.has(colour)) byColour.set(colour, []);
    byColour.get(colour).push(cell);
  }
  const gap = Math.min(1, place.columns.size / 6);
  for (const [colour, all] of byColour) {
    context.fillStyle = colour < 0 ? style("--line") : colours[colour];
    for (const cell of all) {
      const box = boxOf(cells, place, cell);
      context.fillRect(box.x, box.y, Math.max(1, box.width - gap), Math.max(1, box.height - gap));
    }
  }
  hatch(context, cells, place, gap);
  for (let panel = 0; panel < cells.panels.size; panel++) labels(context, cells, place, panel);
}

/** Strokes across the cells that are predicted and not measured. */
function hatch(context, cells, place, gap) {
  if (!cells.atlas.predicted) return;
  context.strokeStyle = style("--paper");
  context.lineWidth = 1;
  for (let cell = 0; cell < cells.first.length; cell++) {
    if (cells.first[cell] < 0 || !isPredicted(cells.atlas, cells.members(cell))) continue;
    const { x, y, width, height } = boxOf(cells, place, cell);
    context.save();
    context.beginPath();
    context.rect(x, y, width - gap, height - gap);
    context.clip();
    context.beginPath();
    for (let at = 3; at < width + height; at += 5) {
      context.moveTo(x + at, y);
      context.lineTo(x + at - height, y + height);
    }
    context.stroke();
    context.restore();
  }
}

function labels(context, cells, place, panel) {
  const { x: left, y: top } = place.origin(panel);
  const { x, y, panels } = cells;
  context.textBaseline = "middle";
  context.fillStyle = style("--ink");
  context.font = `600 13px ${FONT}`;
  if (panels.outer) context.fillText(told(panels.outer, panels.groups[panel]), left, top - 14);
  context.fillStyle = style("--soft");
  context.font = `11px ${FONT}`;
  const bottom = top + place.rows.length;
  axis(context, x, place.columns, (text, at) => ({ text, x: left + at, y: bottom + 11, align: "center" }), (text) => context.measureText(text).width + 8);
  axis(context, y, place.rows, (text, at) => ({ text, x: left - 7, y: top + at, align: "right" }), () => 13);
  context.textAlign = "left";
  const names = (one) => [one.outer + unitOf(one).replace(/ (.+)/, " ($1)"), one.inner && `in each: ${one.inner}`].filter(Boolean).join(", ");
  context.fillText(`→ ${names(x)}${y.outer ? `   ↓ ${names(y)}` : ""}`, left, bottom + 27, place.columns.length);
}

/** ` GHz` where all outer levels have it; then it stands with the factor's name and not with every level. */
function unitOf({ outer, groups }) {
  const units = new Set(groups.map((level) => (outer ? (/ [A-Za-z]+$/.exec(told(outer, level)) ?? [""])[0] : "")));
  return units.size === 1 ? [...units][0] : "";
}

/** Names of the outer levels, as many as there is room for. */
function axis(context, direction, lines, place, room) {
  const unit = unitOf(direction);
  let free = -Infinity;
  const group = lines.size * direction.each.length;
  for (const [number, level] of direction.groups.entries()) {
    const text = level === "" ? "" : told(direction.outer, level).replace(unit, "");
    const at = lines.starts[number * direction.each.length] + group / 2;
    if (!text || at - room(text) / 2 < free) continue;
    free = at + room(text) / 2;
    const spot = place(text, at);
    context.textAlign = spot.align;
    context.fillText(spot.text, spot.x, spot.y);
  }
}

/** A cell's rectangle. */
export function boxOf(cells, place, cell) {
  const { column, row, panel } = cells.split(cell);
  const origin = place.origin(panel);
  return { x: origin.x + place.columns.starts[column], y: origin.y + place.rows.starts[row], width: place.columns.size, height: place.rows.size };
}

/** The cell at a point, or -1. */
export function cellAt(cells, place, x, y) {
  const [across, down] = [Math.floor(x / (place.panelWidth + BETWEEN)), Math.floor(y / place.panelHeight)];
  const panel = down * place.across + across;
  if (across < 0 || across >= place.across || panel < 0 || panel >= cells.panels.size) return -1;
  const origin = place.origin(panel);
  const column = place.columns.at[Math.floor(x - origin.x)] ?? -1;
  const row = place.rows.at[Math.floor(y - origin.y)] ?? -1;
  if (column < 0 || row < 0) return -1;
  const cell = (panel * cells.y.size + row) * cells.x.size + column;
  return cells.first[cell] < 0 ? -1 : cell;
}

/** A canvas above the cells: marks one and forgets the one before, whatever the size of the map. */
export function pointer(canvas, place) {
  const context = fitted(canvas, place);
  let last = null;
  return (box) => {
    if (last) context.clearRect(last.x - 5, last.y - 5, last.width + 10, last.height + 10);
    last = box;
    if (!box) return;
    context.lineWidth = 4;
    context.strokeStyle = style("--paper");
    context.strokeRect(box.x - 1, box.y - 1, box.width + 1, box.height + 1);
    context.lineWidth = 2;
    context.strokeStyle = style("--flag");
    context.strokeRect(box.x - 1, box.y - 1, box.width + 1, box.height + 1);
  };
}
