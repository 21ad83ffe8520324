// The atlas as tables, for whoever does not look at pictures: a table a panel, by the outer factors of both directions.
import { told } from "./atlas-model.js";

const make = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text, ...more });

/** Fill `place`; a number leads to the configurations behind it. */
export function pivots(place, cells, measure, campaign) {
  place.replaceChildren(...cells.panels.groups.map((level, panel) => table(cells, measure, campaign, level, panel)));
}

function table(cells, measure, campaign, level, panel) {
  const { x, y, panels } = cells;
  const wide = make("div", "", { className: "wide" });
  const whole = make("table", "");
  const where = panels.outer ? `${panels.outer} ${told(panels.outer, level)}: ` : "";
  whole.createCaption().textContent = `${where}${measure.name} by ${[y.outer, x.outer].filter(Boolean).join(" and ")}`;
  const head = whole.createTHead().insertRow();
  head.append(make("th", y.outer, { scope: "col" }), ...x.groups.map((group) => make("th", told(x.outer, group), { scope: "col", className: "n" })));
  const body = whole.createTBody();
  for (const [down, group] of y.groups.entries()) {
    const row = body.insertRow();
    row.append(make("th", group === "" ? "" : told(y.outer, group), { scope: "row" }));
    for (const [across, other] of x.groups.entries()) {
      const value = measure.of(block(cells, panel, down, across));
      const cell = make("td", "", { className: "n" });
      const chosen = [[panels.outer, level], [y.outer, group], [x.outer, other]].filter(([name]) => name);
      if (value !== null) cell.append(make("a", measure.told(value), { href: listed(campaign, chosen) }));
      row.append(cell);
    }
  }
  wide.append(whole);
  return wide;
}

/** The configurations of one outer level in each direction. */
function block(cells, panel, down, across) {
  const { x, y } = cells;
  const found = [];
  for (let row = down * y.each.length; row < (down + 1) * y.each.length; row++)
    for (let column = across * x.each.length; column < (across + 1) * x.each.length; column++)
      found.push(...cells.members((panel * y.size + row) * x.size + column));
  return found;
}

/** Where configurations with these levels, [[factor, level], ...], are listed. */
export function listed(campaign, chosen) {
  const query = new URLSearchParams({ verdict: "any" });
  for (const [name, level] of chosen) query.set(name === "mode" ? "mode" : `level.${name}`, level);
  return `${campaign}/flagged?${query}`;
}
