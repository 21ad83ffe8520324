// Cividis (Nunez, Anderton, Renslow 2018): its lightness rises evenly, and it reads the same with any colour blindness.
// High values stand out from the page: dark on a light one, light on a dark one.
const CIVIDIS = ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838"]
  .map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));
const STEPS = 256;
const dark = matchMedia("(prefers-color-scheme: dark)");

function mixed(share) {
  const place = share * (CIVIDIS.length - 1);
  const at = Math.min(Math.floor(place), CIVIDIS.length - 2);
  return CIVIDIS[at].map((low, part) => Math.round(low + (place - at) * (CIVIDIS[at + 1][part] - low)));
}

/** 256 colours from the least to the most. */
export function ramp() {
  const shares = Array.from({ length: STEPS }, (_, step) => step / (STEPS - 1));
  return shares.map((share) => `rgb(${mixed(dark.matches ? 0.06 + 0.94 * share : 1 - share).join(" ")})`);
}

/** A measure's value as a share of its range, 0 to 1. */
export function scaled(measure) {
  const [low, high] = measure.range();
  const by = measure.log ? Math.log : (value) => value;
  const [start, width] = [by(low), by(high) - by(low)];
  return (value) => (measure.log && value <= 0 ? 0 : Math.min(1, Math.max(0, (by(value) - start) / width)));
}

/** The key to the colours, as elements. */
export function legend(measure, place) {
  const [low, high] = measure.range();
  const colours = ramp();
  const at = measure.log ? (share) => low * (high / low) ** share : (share) => low + share * (high - low);
  const values = measure.whole ? Array.from({ length: high - low + 1 }, (_, step) => low + step) : measure.ticks ?? [0, 0.25, 0.5, 0.75, 1].map(at);
  const [bar, ticks, note] = [document.createElement("div"), document.createElement("div"), document.createElement("p")];
  bar.className = "ramp";
  bar.style.background = `linear-gradient(to right, ${colours.filter((_, step) => step % 15 === 0).join(", ")})`;
  ticks.className = "ticks";
  ticks.append(...values.map((value) => Object.assign(document.createElement("span"), { textContent: measure.told(value) })));
  note.className = "soft";
  note.append(`Colour: ${measure.note}. Cividis, readable with any colour blindness; `, Object.assign(document.createElement("span"), { className: "swatch open" }), " not analysed.");
  place.replaceChildren(bar, ticks, note);
}

/** Calls back when the page turns light or dark. */
export function whenSchemeChanges(act) {
  dark.addEventListener("change", act);
}
