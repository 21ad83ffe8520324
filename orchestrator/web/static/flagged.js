// While one picks: what it would cost, from the measured length of each setting's runs. The server counts again.
const form = document.getElementById("picks");
const cost = document.getElementById("cost");
const all = document.getElementById("all");
const boxes = [...(form?.querySelectorAll("input[name=pick]") ?? [])];

function duration(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86400 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 86400).toFixed(1)} days`;
}

function tell() {
  const picked = boxes.filter((box) => box.checked);
  const settings = new Map(picked.map((box) => [box.value.split(":", 1)[0], box.dataset.elapsed]));
  const runs = settings.size * Number(form.dataset.replicates);
  const known = [...settings.values()].filter(Boolean).map(Number);
  const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
  cost.textContent = picked.length === 0
    ? "Tick configurations to see what measuring them again costs."
    : `${picked.length} picked, ${settings.size} settings: ${runs.toLocaleString()} runs, ${known.length ? `${duration(mean * runs)} of benchmark time on one node` : "nobody knows yet how long one takes"}.`;
  document.getElementById("price").disabled = picked.length === 0;
  all.checked = picked.length === boxes.length;
  all.indeterminate = picked.length > 0 && !all.checked;
}

if (all) {
  all.hidden = false;
  all.addEventListener("change", () => { for (const box of boxes) box.checked = all.checked; tell(); });
  form.addEventListener("change", (event) => { if (event.target.name === "pick") tell(); });
  tell();
}
