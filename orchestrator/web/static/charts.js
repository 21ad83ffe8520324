// Plotly in the colours of the page, light and dark, and what every chart of ours has in common.
// Only traces that need neither WebGL nor eval: the page's policy allows no eval.

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dark = matchMedia("(prefers-color-scheme: dark)");
const redraws = new Map();

/** The colours of this moment; `series` also tells apart what cannot be told by position. */
export function colours() {
  return {
    ink: style("--ink"), soft: style("--soft"), line: style("--line"), bar: style("--bar"), accent: style("--accent"),
    flag: style("--flag"), series: ["--c1", "--c2", "--c3", "--c4", "--c5"].map(style),
  };
}

const symbols = ["circle", "square", "diamond", "cross", "triangle-up", "triangle-down", "star", "hexagon"];

/** Colour and symbol of the n-th node: five colours, eight symbols, and no pair twice within forty. */
export function marker(n, paint) {
  return { color: paint.series[n % paint.series.length], symbol: symbols[Math.floor(n / paint.series.length) % symbols.length] };
}

/** Draw into `id` what `make(colours)` returns, {traces, layout}; again whenever the colour scheme changes. */
export async function draw(id, make, whenDrawn = () => {}) {
  const place = document.getElementById(id);
  if (!place) return;
  const redraw = async () => {
    const paint = colours();
    const { traces, layout } = make(paint);
    await Plotly.react(place, traces, framed(layout, paint), {
      responsive: true, displaylogo: false,
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
    });
  };
  redraws.set(id, redraw);
  await redraw();
  whenDrawn(place);
}

dark.addEventListener("change", () => redraws.forEach((redraw) => redraw()));

function framed(layout, paint) {
  const axis = { gridcolor: paint.line, zerolinecolor: paint.line, linecolor: paint.soft, automargin: true };
  return {
    margin: { l: 58, r: 14, t: 26, b: 48 }, paper_bgcolor: "transparent", plot_bgcolor: "transparent",
    font: { color: paint.ink, family: "system-ui, sans-serif", size: 13 }, colorway: paint.series, hovermode: "closest",
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    ...layout, xaxis: { ...axis, ...layout.xaxis }, yaxis: { ...axis, ...layout.yaxis },
  };
}
