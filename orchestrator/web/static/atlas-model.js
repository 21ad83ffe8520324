// The atlas without its pictures: configurations in columns become cells of panels, rows and columns.

/** Levels as people write them: `1.2 GHz`, `64 MB`; others as they are. */
export function told(name, level) {
  if (typeof level !== "number") return String(level);
  if (name.endsWith("_khz")) return `${Number((level / 1e6).toPrecision(3))} GHz`;
  if (name.endsWith("_kb")) return level >= 1048576 ? `${level / 1048576} GB` : level >= 1024 ? `${level / 1024} MB` : `${level} kB`;
  return level.toLocaleString();
}

/** One direction of the map: the levels of one factor and, within each, those of another. */
function direction(atlas, outer, inner) {
  const names = atlas.axes.map((axis) => axis.name);
  const [first, second] = [names.indexOf(outer), names.indexOf(inner === outer ? "" : inner)];
  const levels = (axis) => (axis < 0 ? [""] : atlas.axes[axis].levels);
  const [groups, each] = [levels(first), levels(second)];
  const at = (column, one) => (column < 0 ? 0 : atlas.places[column][one]);
  return {
    outer: first < 0 ? "" : outer, inner: second < 0 ? "" : inner, groups, each, size: groups.length * each.length,
    place: (one) => at(first, one) * each.length + at(second, one),
    levels: (place) => [[outer, groups[Math.floor(place / each.length)]], [inner, each[place % each.length]]]
      .filter((_, part) => (part ? second : first) >= 0),
  };
}

/** Cells: `first[cell]` is a configuration in it or -1, `next` leads to the others of the same cell. */
export function arrange(atlas, layout) {
  const [x, y] = [direction(atlas, layout.x, layout.x_within), direction(atlas, layout.y, layout.y_within)];
  const panels = direction(atlas, layout.panels, "");
  const count = atlas.setting.length;
  const [first, next] = [new Int32Array(panels.size * x.size * y.size).fill(-1), new Int32Array(count)];
  for (let one = count - 1; one >= 0; one--) {
    const cell = (panels.place(one) * y.size + y.place(one)) * x.size + x.place(one);
    next[one] = first[cell];
    first[cell] = one;
  }
  const members = (cell) => {
    const found = [];
    for (let one = cell < 0 ? -1 : first[cell]; one >= 0; one = next[one]) found.push(one);
    return found;
  };
  const split = (cell) => ({ column: cell % x.size, row: Math.floor(cell / x.size) % y.size, panel: Math.floor(cell / (x.size * y.size)) });
  const levels = (cell) => {
    const { column, row, panel } = split(cell);
    return [...panels.levels(panel), ...x.levels(column), ...y.levels(row)];
  };
  return { atlas, x, y, panels, first, members, split, levels };
}

const mean = (values) => (values.length ? values.reduce((sum, one) => sum + one, 0) / values.length : null);

function middle(values) {
  const sorted = values.filter((one) => one !== null).sort((a, b) => a - b);
  return sorted.length ? sorted[(sorted.length - 1) >> 1] : null;
}

/** Predictions fill the columns where nothing is analysed: `atlas.predicted` says where, `atlas.chance` what a flag would be. */
export function withPredictions(atlas, predictions) {
  const key = (setting, mode) => `${setting} ${mode}`;
  const found = new Map(predictions.predicted.map((one) => [key(one.setting_id, one.mode), one]));
  const modes = atlas.axes.at(-1).levels;
  const of = atlas.setting.map((setting, one) => (atlas.components[one] ? undefined : found.get(key(setting, modes[atlas.places.at(-1)[one]]))));
  return { ...atlas, predicted: of.map(Boolean), chance: of.map((one) => one?.p_multimodal ?? null), median: atlas.median.map((value, one) => of[one]?.median ?? value) };
}

/** Whether all that a cell shows is predicted. */
export const isPredicted = (atlas, all) => Boolean(atlas.predicted) && all.length > 0 && all.every((one) => atlas.predicted[one]);

/** What can be shown: how it is told, and one number for the configurations of a cell; null: not analysed. */
export function measures(atlas) {
  const flagged = atlas.verdicts.indexOf("multimodal");
  const percent = (value) => `${Number((100 * value).toPrecision(2))} %`;
  const unit = atlas.unit === "kB/s" ? (value) => {
    const [factor, name] = value >= 1e6 ? [1e6, "GB/s"] : value >= 1e3 ? [1e3, "MB/s"] : [1, "kB/s"];
    return `${Number((value / factor).toPrecision(3))} ${name}`;
  } : (value) => `${Number(value.toPrecision(3))} ${atlas.unit}`;
  return {
    flagged: {
      name: "flagged share", told: percent, range: () => [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], note: "share of a cell's configurations with several modes",
      of: (all) => mean(all.map((one) => (atlas.verdict[one] >= 0 ? Number(atlas.verdict[one] === flagged) : atlas.chance?.[one] ?? null)).filter((one) => one !== null)),
    },
    components: {
      name: "components", told: (value) => String(Number(value.toPrecision(2))), range: () => [1, atlas.components.reduce((most, one) => Math.max(most, one), 2)], whole: true,
      note: "number of components of the best fit, the mean of a cell's", of: (all) => mean(all.map((one) => atlas.components[one]).filter((one) => one > 0)),
    },
    variation: {
      name: "coefficient of variation", told: percent, log: true, range: () => bulk(atlas.variation),
      note: "standard deviation / mean, the median of a cell's; logarithmic, ends hold what lies beyond", of: (all) => middle(all.map((one) => atlas.variation[one])),
    },
    median: {
      name: `median ${atlas.metric}`, told: unit, log: true, range: () => bulk(atlas.median),
      note: "the median of a cell's medians; logarithmic, ends hold what lies beyond", of: (all) => middle(all.map((one) => atlas.median[one])),
    },
  };
}

/** From the 2nd to the 98th percentile of what is positive. */
function bulk(column) {
  const sorted = Float64Array.from(column.filter((one) => one > 0)).sort();
  if (!sorted.length) return [1, 10];
  const [low, high] = [0.02, 0.98].map((q) => sorted[Math.round(q * (sorted.length - 1))]);
  return high > low ? [low, high] : [low / 1.1, low * 1.1];
}
