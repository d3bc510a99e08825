// The catalogue of failures: a field that hides the rows without all typed words. The address keeps them: failures/?filter=oom
// failure-words.json has the words that `skyrl-doctor list` compares. Without it, as from a file, the words of the rows count.
"use strict";

const stored = new URL("failure-words.json", document.currentScript.src);
const WORD = /[\p{L}\p{N}_.:/+'-]*[\p{L}\p{N}_]/gu;

// The words of a search in the form in which the stored words have them, as cli/search.py makes it.
function telling(text, { same, empty, ends }) {
  let plain = text.toLowerCase().replaceAll("\u2019", "'");
  for (const [word, ways] of Object.entries(same)) {
    for (const way of ways) plain = ` ${plain} `.replaceAll(` ${way.toLowerCase()} `, ` ${word} `);
  }
  const every = (plain.match(WORD) || []).map((word) => word.replace(/^'+|'+$/g, ""));
  const rest = every.filter((word) => !empty.includes(word));
  return (rest.length ? rest : every).map((word) => word.replace(new RegExp(ends), ""));
}

function matches(words, known) {
  return words.every((word) => known.some((one) => (/^\d+$/.test(word) ? one === word : one.startsWith(word))));
}

function addFilter(place) {
  const label = document.createElement("label");
  const field = document.createElement("input");
  const count = document.createElement("span");
  label.textContent = "Filter ";
  field.type = "search";
  field.placeholder = "memory, slurm, podman …";
  count.setAttribute("role", "status");
  label.append(field);
  place.append(label, " ", count);
  let search = { same: {}, empty: [], ends: "$^", words: {} };
  const wordsOf = (row) => {
    const id = row.cells[0].textContent.trim();
    if (!(id in search.words)) search.words[id] = (row.textContent.toLowerCase().match(WORD) || []).join(" ");
    return search.words[id].split(" ");
  };
  const tables = [...place.parentElement.querySelectorAll("table")];

  const apply = () => {
    const words = telling(field.value, search);
    let shown = 0;
    for (const table of tables) {
      let left = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = !matches(words, wordsOf(row));
        left += !row.hidden;
      }
      shown += left;
      const block = table.closest(".md-typeset__scrollwrap") || table;
      block.hidden = !left;
      let title = block.previousElementSibling;
      if (title && title.tagName === "H2") title.hidden = !left;
    }
    count.textContent = words.length ? `${shown} ${shown === 1 ? "failure" : "failures"}` : "";
    const address = new URL(location.href);
    if (words.length) address.searchParams.set("filter", field.value.trim());
    else address.searchParams.delete("filter");
    history.replaceState(null, "", address);
  };
  field.value = new URLSearchParams(location.search).get("filter") || "";
  field.addEventListener("input", apply);
  if (field.value) apply();
  fetch(stored)
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)))
    .then((found) => {
      search = found;
      if (field.value) apply();
    })
    .catch(() => {});
}

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("filter");
  if (place) addFilter(place);
});
