// A table that is wider than its place scrolls; then, and only then, the keyboard gets to it as well.
const seen = new WeakSet();
const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => reach(target.closest(".wide"))));

function reach(place) {
  if (place.scrollWidth > place.clientWidth) place.tabIndex = 0;
  else place.removeAttribute("tabindex");
}

function watch() {
  for (const one of document.querySelectorAll(".wide, .wide > table")) {
    if (!seen.has(one)) sizes.observe(one);
    seen.add(one);
  }
}

watch();
new MutationObserver(watch).observe(document.getElementById("content"), { childList: true, subtree: true });
