// The catalogue of failures: a field that hides the rows without all typed words. The address keeps them: failures/?filter=oom
"use strict";

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
  const tables = [...place.parentElement.querySelectorAll("table")];

  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const table of tables) {
      let left = 0;
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
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
}

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("filter");
  if (place) addFilter(place);
});
