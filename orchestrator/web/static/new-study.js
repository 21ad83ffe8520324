// The study editor: checks the text while it is written, numbers its lines, marks those that are wrong.
import { put } from "./parts.js";

const PAUSE_MS = 350;
const form = document.getElementById("study-form");
const text = document.getElementById("study");
const gutter = form.querySelector(".gutter");
const told = form.querySelector("[data-checking]");
const file = form.elements.file;
let timer = 0;
let running = null;

function number() {
  const wrong = new Set([...form.querySelectorAll("[data-line]")].map((problem) => Number(problem.dataset.line)));
  const lines = text.value.split("\n").length;
  gutter.replaceChildren(
    ...Array.from({ length: lines }, (_, place) => {
      const line = document.createElement("span");
      line.textContent = place + 1;
      line.classList.toggle("wrong", wrong.has(place + 1));
      return line;
    }),
  );
  text.setAttribute("aria-invalid", form.querySelector("li.problem") ? "true" : "false");
  gutter.scrollTop = text.scrollTop;
}

async function check() {
  running?.abort();
  running = new AbortController();
  const body = new FormData(form);
  body.delete("file");
  try {
    const answer = await fetch("/studies/check", { method: "POST", body, signal: running.signal });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    put(await answer.text());
    told.hidden = true;
  } catch (error) {
    if (error.name === "AbortError") return;
    told.hidden = false;
    told.textContent = "The service does not answer: this text is not checked.";
  }
  number();
}

function soon() {
  number();
  clearTimeout(timer);
  timer = setTimeout(check, PAUSE_MS);
}

function goTo(line) {
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  text.focus();
  text.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  text.scrollTop = (line - 4) * (text.scrollHeight / lines.length);
}

text.addEventListener("input", soon);
text.addEventListener("scroll", () => { gutter.scrollTop = text.scrollTop; });
form.addEventListener("click", (event) => {
  const line = event.target.closest("[data-go]")?.dataset.go;
  if (line) goTo(Number(line));
});
// A chosen file becomes the text, where it can still be changed.
file.addEventListener("change", async () => {
  if (!file.files.length) return;
  text.value = await file.files[0].text();
  file.value = "";
  soon();
});
form.querySelector("[formaction]").addEventListener("click", (event) => {
  event.preventDefault();
  check();
});
number();
