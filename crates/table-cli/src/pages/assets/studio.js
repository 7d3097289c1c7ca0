// What pages do beyond links and forms: keys, the class of a query while it is typed, fragments that stay fresh.
"use strict";

const query = document.querySelector("[data-query]");

// The theme that was chosen last.
for (const choice of document.querySelectorAll(".theme input")) {
  if (localStorage.getItem("theme") === choice.value) choice.checked = true;
  choice.addEventListener("change", () => localStorage.setItem("theme", choice.value));
}

// `/` goes to the query, `j` and `k` go from row to row, `n` to the next page.
document.addEventListener("keydown", (event) => {
  const at = document.activeElement;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (at && /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) && at.type !== "radio") {
    if (event.key === "Escape") at.blur();
    return;
  }
  const rows = [...document.querySelectorAll("[data-row]")];
  const step = { j: 1, k: -1 }[event.key];
  if (event.key === "/" && query) {
    query.focus();
    query.select();
  } else if (step && rows.length > 0) {
    const next = rows[Math.min(Math.max(rows.indexOf(at) + step, 0), rows.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  } else if (event.key === "n") {
    document.querySelector("[data-next]")?.click();
  } else {
    return;
  }
  event.preventDefault();
});

// What a query would read is told before it runs.
const told = document.querySelector("[data-explained]");
if (query && told) {
  let waiting = 0;
  let last = 0;
  const tell = async () => {
    // Of two that are under way the later one is shown, whichever comes first.
    const number = ++last;
    const form = new URLSearchParams(new FormData(query.form));
    const answer = await fetch(`${query.dataset.query}?${form}`);
    const text = await answer.text();
    if (answer.ok && number === last) told.innerHTML = text;
  };
  query.form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(tell, 150);
  });
}

// A fragment that the server sends anew as it changes.
const live = document.querySelector("[data-live]");
if (live) {
  const events = new EventSource(live.dataset.live);
  events.onmessage = (event) => {
    if (!live.contains(document.activeElement)) live.innerHTML = event.data;
  };
  window.addEventListener("pagehide", () => events.close());
}
