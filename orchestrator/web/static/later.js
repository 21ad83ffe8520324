// Parts of a page that take seconds to work out (data-from: where they are): the page is there before.

async function replace(place) {
  const answer = await fetch(place.dataset.from, { headers: { Accept: "text/html" } });
  const told = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(place.id);
  if (answer.ok && told) place.replaceChildren(...told.children);
}

for (const place of document.querySelectorAll("[data-from]")) replace(place);
