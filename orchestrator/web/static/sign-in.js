// The link that `modescope up` prints carries the token behind a #, which never reaches a server or its logs.
const field = document.getElementById("token");

function takeFromLink() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", location.pathname);
    field.value = token;
    field.form.requestSubmit();
  }
}

addEventListener("hashchange", takeFromLink);
takeFromLink();
