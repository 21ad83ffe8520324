// The charts of one configuration. All numbers stand in the page's tables too.
import { draw, marker } from "./charts.js";
import { localise } from "./times.js";

const place = document.getElementById("charts");
const axis = (curves) => `${curves.metric} (${curves.unit})`;
const short = (value) => Number(value.toPrecision(3)).toLocaleString();

async function fetched(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error((await answer.json()).detail ?? answer.statusText);
  return answer.json();
}

function histogram({ shape, ...curves }, paint) {
  const width = shape.edges[1] - shape.edges[0];
  const bars = {
    type: "bar", x: shape.counts.map((_, bin) => shape.edges[bin] + width / 2), y: shape.counts, width: width * 0.96,
    marker: { color: paint.bar }, name: "runs", hovertemplate: "%{y} runs around %{x:.4~g}<extra></extra>",
  };
  const components = shape.components.length < 2 ? [] : shape.components.map((one, number) => ({
    type: "scatter", mode: "lines", x: shape.places, y: one.heights, fill: "tozeroy", line: { width: 1.5 },
    name: `${(100 * one.weight).toFixed(0)} % around ${short(one.median)}`, hoverinfo: "skip",
    ...{ line: { color: paint.series[number % 5], width: 1.5 } },
  }));
  const density = {
    type: "scatter", mode: "lines", x: shape.places, y: shape.density, name: "fitted density",
    line: { color: paint.ink, width: 2.2 }, hoverinfo: "skip",
  };
  const top = Math.max(...shape.counts);
  const peaks = shape.peaks.map((x) => ({
    type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color: paint.soft, width: 1, dash: "dot" },
  }));
  return {
    traces: [bars, ...components, density],
    layout: {
      shapes: peaks, bargap: 0, xaxis: { title: { text: axis(curves) } },
      yaxis: { title: { text: "runs per bin" }, range: [0, 1.08 * Math.max(top, Math.min(Math.max(...shape.density), 2 * top))] },
    },
  };
}

function order(curves, paint) {
  const nodes = [...new Set(curves.runs.map((run) => run.node))].sort();
  const numbered = curves.runs.map((run, number) => ({ ...run, number: number + 1 }));
  const of = (runs, more) => ({
    type: "scatter", mode: "markers", x: runs.map((run) => run.number), y: runs.map((run) => run.value),
    customdata: runs.map((run) => run.id),
    text: runs.map((run) => `replicate ${run.replicate}, ${run.node}<br>${new Date(1000 * run.started_at).toLocaleString()}`),
    hovertemplate: "%{y:.5~g}<br>%{text}<extra></extra>", ...more,
  });
  const traces = nodes.map((node, number) =>
    of(numbered.filter((run) => run.counts && run.node === node), { name: node, marker: { size: 7, ...marker(number, paint) } }));
  const others = numbered.filter((run) => !run.counts);
  if (others.length) traces.push(of(others, { name: "do not count", marker: { size: 7, symbol: "x", color: paint.soft } }));
  const peaks = (curves.shape?.peaks ?? []).map((y) => ({
    type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y, line: { color: paint.soft, width: 1, dash: "dot" },
  }));
  return {
    traces,
    layout: { shapes: peaks, showlegend: true, xaxis: { title: { text: "run, in order of start" }, ...(numbered.length <= 10 ? { dtick: 1 } : {}) }, yaxis: { title: { text: axis(curves) } } },
  };
}

function steps(curves) {
  const sorted = curves.runs.filter((run) => run.counts).map((run) => run.value).sort((a, b) => a - b);
  return { x: sorted, y: sorted.map((_, number) => (number + 1) / sorted.length) };
}

function cumulative(curves, others, paint) {
  const empirical = {
    ...steps(curves), type: "scatter", mode: "lines", line: { shape: "hv", color: paint.series[0], width: 2 }, name: "runs",
    hovertemplate: "%{y:.0%} of runs up to %{x:.4~g}<extra></extra>",
  };
  const fitted = {
    type: "scatter", mode: "lines", x: curves.shape.places, y: curves.shape.cumulative, name: "fit",
    line: { color: paint.ink, width: 1.6 }, hoverinfo: "skip",
  };
  const again = others.filter(([, one]) => one.unit === curves.unit).map(([campaign, one], number) => ({
    ...steps(one), type: "scatter", mode: "lines", name: `campaign ${campaign}`,
    line: { shape: "hv", dash: "dash", width: 1.6, color: paint.series[(number + 1) % 5] },
  }));
  return {
    traces: [empirical, fitted, ...again],
    layout: {
      showlegend: true, xaxis: { title: { text: axis(curves) } },
      yaxis: { title: { text: "share of runs" }, tickformat: ".0%", range: [0, 1.02] },
    },
  };
}

function errors(curves, paint) {
  const traces = curves.quantiles.map((one, number) => ({
    type: "scatter", mode: "lines", x: curves.sizes, y: one.by_size, name: `${100 * one.q} %`,
    line: { color: paint.series[number], dash: ["dot", "dash", "solid", "dashdot", "longdash"][number] },
    hovertemplate: "%{x} runs: ± %{y:.3~g}<extra>%{fullData.name}</extra>",
  }));
  const now = curves.runs.filter((run) => run.counts).length;
  const { n, met, standard_error: allowed } = curves.enough;
  const upright = (x, color, dash) => ({ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color, width: 1.5, dash } });
  const label = (x, y, text, color) => ({ x: Math.log10(x), y, yref: "paper", text, showarrow: false, xanchor: "left", xshift: 5, font: { color } });
  const level = { type: "line", xref: "paper", x0: 0, x1: 1, y0: allowed, y1: allowed, line: { color: paint.soft, width: 1, dash: "dot" } };
  return {
    traces,
    layout: {
      showlegend: true, xaxis: { type: "log", title: { text: "valid runs" }, dtick: "D2" },
      yaxis: { type: "log", title: { text: `standard error (${curves.unit})` }, dtick: "D2" },
      shapes: [level, upright(now, paint.flag), ...(n > now ? [upright(n, paint.ink, "dash")] : [])],
      annotations: [
        label(now, 0.02, `now: ${now}`, paint.flag),
        ...(n > now ? [label(n, 0.1, met ? `enough: ${n}` : `not within ${n}`, paint.ink)] : []),
      ],
    },
  };
}

/** What was observed around a run, from that run's own page. */
async function show(id) {
  const picked = document.getElementById("picked");
  const answer = await fetch(place.dataset.run + id, { headers: { Accept: "text/html" } });
  const section = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#run");
  if (!answer.ok || !section) return void (picked.textContent = "This run cannot be shown now.");
  section.className = "card";
  picked.replaceChildren(section);
  localise(picked);
}

function failed(problem) {
  for (const chart of document.querySelectorAll(".chart")) {
    chart.className = "note";
    chart.textContent = `The chart cannot be drawn: ${problem.message}. The tables hold its numbers.`;
  }
}

async function main() {
  const addresses = place.dataset.others.trim().split(/\s+/).filter(Boolean);
  const pairs = addresses.flatMap((word, at) => (at % 2 ? [] : [[word, addresses[at + 1]]]));
  const curves = await fetched(place.dataset.curves);
  await draw("order", (paint) => order(curves, paint), (chart) =>
    chart.on("plotly_click", (click) => show(click.points[0].customdata)));
  if (!curves.shape) return;
  const others = await Promise.all(pairs.map(async ([campaign, address]) => [campaign, await fetched(address)]));
  await draw("histogram", (paint) => histogram(curves, paint));
  await draw("cumulative", (paint) => cumulative(curves, others, paint));
  if (curves.quantiles.length) await draw("errors", (paint) => errors(curves, paint));
  place.dataset.drawn = "true";
}

main().catch(failed);
