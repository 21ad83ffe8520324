// Keeps a page up to date: fetches it again, and puts in the parts (data-live) that have changed.
//
// When: whenever its event stream tells something (data-live-stream), and every so many seconds (data-live-every).
// A part that somebody is using, because it holds the focus or an open menu, waits.
import { localise } from "./times.js";
import { put } from "./parts.js";

const AT_MOST_EVERY_MS = 2500;
const RETRY_MS = [1000, 2000, 4000, 8000, 15000];
const root = document.querySelector("[data-live-stream]");
const told = document.querySelector("[data-connection]");
let failures = 0;
let wanted = false;
let busy = false;
let lastAt = 0;

function tell(state, text) {
  told.hidden = false;
  told.dataset.connection = state;
  if (told.textContent !== text) told.textContent = text;
}

async function refresh() {
  wanted = true;
  if (busy || document.hidden) return;
  busy = true;
  while (wanted && !document.hidden) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, lastAt + AT_MOST_EVERY_MS - Date.now())));
    wanted = false;
    lastAt = Date.now();
    await fetchPage();
  }
  busy = false;
}

async function fetchPage() {
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (answer.redirected && new URL(answer.url).pathname === "/sign-in") {
      tell("lost", "Signed out: reload to sign in");
    } else if (!answer.ok) {
      throw new Error(`status ${answer.status}`);
    } else {
      localise(put(await answer.text()));
      if (!over && (!source || source.readyState === EventSource.OPEN)) tell("live", "Live");
      failures = 0;
    }
  } catch {
    tell("lost", "Connection lost, trying again; what you see may be old");
    failures += 1;
    setTimeout(refresh, RETRY_MS[Math.min(failures, RETRY_MS.length) - 1]);
  }
}

// The browser opens a stream that broke off again by itself, but not one that was refused.
let source = null;
let over = false;
function listen(address) {
  source = new EventSource(address);
  source.onopen = () => {
    failures = 0;
    tell("live", "Live");
    refresh();
  };
  for (const name of ["progress", "campaigns", "nodes", "event"]) source.addEventListener(name, refresh);
  source.addEventListener("end", () => {
    source.close();
    over = true;
    tell("over", "Ended: nothing changes any more");
    refresh();
  });
  source.onerror = () => {
    tell("lost", "Connection lost, trying again; what you see may be old");
    if (source.readyState === EventSource.CLOSED) {
      failures += 1;
      setTimeout(() => listen(address), RETRY_MS[Math.min(failures, RETRY_MS.length) - 1]);
    }
  };
}

if (root?.dataset.liveStream) listen(root.dataset.liveStream);
if (root?.dataset.liveEvery) setInterval(refresh, 1000 * Number(root.dataset.liveEvery));
document.addEventListener("visibilitychange", () => { if (!document.hidden && root) refresh(); });
