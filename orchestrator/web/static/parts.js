// Parts of a page (data-live) that are replaced by their newer selves.

// Puts the parts of `html`, a whole page, into this one; returns the document that holds them now.
export function put(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  for (const old of document.querySelectorAll("[data-live]")) {
    const now = fresh.querySelector(`[data-live="${old.dataset.live}"]`);
    const inUse = old.contains(document.activeElement) || old.querySelector("details[open]");
    if (now && !inUse && old.dataset.shown !== now.innerHTML) {
      old.dataset.shown = now.innerHTML;
      old.className = now.className;
      old.innerHTML = now.innerHTML;
    }
  }
  return document;
}
