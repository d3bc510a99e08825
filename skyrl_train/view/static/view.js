// The viewer of rollouts. All texts become text nodes: nothing that a model or a sandbox wrote is ever HTML.
"use strict";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const POLL_MS = 2000;
let known = null; // the last state, to see what is new
let asked = 0; // the number of the latest question; an older answer is dropped

const nodes = (children) => children.flat(9).filter((one) => one !== null && one !== undefined).map((one) => one instanceof Node ? one : document.createTextNode(String(one)));
const fill = (...children) => $("content").replaceChildren(...nodes(children));

function el(name, attributes, ...children) {
  const made = name.startsWith("svg:") ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...nodes(children));
  return made;
}

async function ask(question, words) {
  const query = new URLSearchParams(Object.entries(words || {}).filter(([, value]) => value !== "" && value !== null && value !== undefined));
  const answer = await fetch(`api/${question}?${query}`, { cache: "no-store" });
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error || answer.statusText);
  return data;
}

function where() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").map(decodeURIComponent);
  return { view: parts[0] || "rollouts", parts: parts.slice(1), words: Object.fromEntries(new URLSearchParams(query || "")) };
}

const link = (...parts) => "#/" + parts.map((part) => encodeURIComponent(part)).join("/");
const number = (value, digits = 0) => value === null || value === undefined ? "–" : Number(value).toLocaleString("en", { maximumFractionDigits: digits });
const figure = (value) => value === null || value === undefined ? "–" : Number(value).toLocaleString("en", { maximumSignificantDigits: 3 });
const seconds = (value) => value >= 120 ? `${number(value / 60, 1)} min` : `${number(value, 1)} s`;
const kind = (one) => one.masked ? "masked" : one.reward === null ? "unscored" : one.reward >= 1 ? "solved" : one.reward > 0 ? "partly" : "failed";
const reward = (one) => one.masked && one.reward === null ? "masked" : one.reward === null ? "none" : number(one.reward, 3);

function table(caption, heads, rows, numbers = [], style = null) {
  const cell = (tag, value, place) => el(tag, { class: numbers.includes(place) ? "n" : null, scope: tag === "th" ? "col" : null, "data-head": tag === "td" ? heads[place] : null }, value);
  return el("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    el("table", { class: style }, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads.map((one, place) => cell("th", one, place)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((one, place) => cell("td", one, place)))))));
}

function rewardMark(one) {
  return [el("span", { class: `dot ${kind(one)}`, "aria-hidden": "true" }), reward(one)];
}

// -- the list

async function showRollouts(place, page) {
  const body = el("div");
  const note = el("p", { role: "status" });
  const more = el("button", { type: "button", hidden: true }, "More");
  const rows = [];
  let next = null, searched = 0;
  const draw = () => {
    body.replaceChildren(table("Rollouts, the newest first", ["rollout", "step", "task", "reward", "end", "turns", "tokens", "time", "why"],
      rows.map((one) => [
        el("a", { href: link("rollout", one.rollout), class: "row" }, one.rollout), one.step ?? "",
        el("a", { href: link("group", one.step ?? "", one.task) }, one.task), rewardMark(one), one.finish, number(one.turns),
        number(one.written + one.read), seconds(one.duration_s), el("span", { class: "why" }, one.detail || one.why),
      ]), [1, 5, 6, 7], "cards"));
  };
  const load = async () => {
    more.disabled = true;
    do {
      const found = await ask("rollouts", { ...place.words, before: next });
      if (page !== asked) return;
      rows.push(...found.rows);
      next = found.next;
      searched += found.searched || 0;
      note.textContent = found.count === undefined
        ? `${number(rows.length)} found in ${number(searched)} searched${next ? "; searching…" : ""}`
        : `${number(found.count)} rollouts, ${number(rows.length)} listed`;
      draw();
    } while (place.words.text && next && rows.length < 100);
    if (place.words.text) note.textContent = note.textContent.replace("; searching…", "; press More to search on");
    more.hidden = !next;
    more.disabled = false;
  };
  more.addEventListener("click", () => load().catch(fail));
  fill(el("h2", {}, "Rollouts"), note, body, more);
  await load();
}

// -- groups

function groupRow(group) {
  return [group.step ?? "", el("a", { href: link("group", group.step ?? "", group.task), class: "row" }, group.task),
    el("span", { class: "chips" }, group.rollouts.map((one) => el("a", { class: `chip ${kind(one)}`, href: link("rollout", one.rollout), title: `${one.rollout}: ${one.finish}` }, reward(one)))),
    number(mean(group.rollouts.map((one) => one.reward)), 3)];
}

const mean = (values) => {
  const finite = values.filter((value) => value !== null);
  return finite.length ? finite.reduce((sum, value) => sum + value, 0) / finite.length : null;
};

async function showGroups(place, page) {
  const groups = [], body = el("div"), more = el("button", { type: "button", hidden: true }, "More");
  let next = 0;
  const load = async () => {
    const found = await ask("groups", { ...place.words, start: next });
    if (page !== asked) return;
    groups.push(...found.groups);
    next = found.next;
    more.hidden = next === null;
    body.replaceChildren(table("Rollouts of one prompt in a step", ["step", "task", "rewards of its rollouts", "mean"], groups.map(groupRow), [0, 3], "narrow"));
  };
  more.addEventListener("click", () => load().catch(fail));
  fill(el("h2", {}, "Groups"), body, more);
  await load();
}

async function showGroup(place, page) {
  const [step, task] = place.parts;
  const group = await ask("group", { step, task });
  if (page !== asked) return;
  const side = el("div", { class: "side", role: "region", "aria-label": "Rollouts side by side", tabindex: "0" });
  fill(el("h2", {}, `${task}, step ${step || "unknown"}`), el("p", {}, `${group.rollouts.length} rollouts of one prompt, side by side`), side);
  for (const one of group.rollouts.slice(0, 16)) {
    const whole = await ask("rollout", { name: one.rollout });
    if (page !== asked) return;
    side.append(el("article", { class: "column" }, el("h3", {}, el("a", { href: link("rollout", one.rollout), class: "row" }, one.rollout)),
      el("p", {}, rewardMark(one), ` · ${one.finish} · ${number(one.turns)} turns · ${seconds(one.duration_s)}`),
      whole.turns.map((turn, at) => el("details", { open: at === whole.turns.length - 1 },
        el("summary", {}, el("span", { class: "turn" }, `${at + 1}`), ` ${callText(turn)}`),
        el("pre", {}, turn.reply.text.slice(0, 1500)), turn.result ? el("pre", { class: "result" }, turn.result.text.slice(0, 1500)) : null,
        el("p", {}, el("a", { href: link("rollout", one.rollout, at + 1) }, "open this turn"))))));
  }
}

// -- one rollout

function callText(turn) {
  if (turn.call.error) return `no call: ${turn.call.error}`;
  const first = turn.call.arguments.map(([, value]) => value).join(" ").replace(/\s+/g, " ");
  return `${turn.call.name} ${first.slice(0, 90)}`;
}

function longText(name, at, what, part, style) {
  const text = el("pre", { class: style, tabindex: "0" }, part.text);
  if (part.next === null) return text;
  let next = part.next;
  const more = el("button", { type: "button" }, `Show more of ${number(part.letters)} letters`);
  more.addEventListener("click", async () => {
    const piece = await ask("part", { name, turn: at, what, start: next }).catch(fail);
    if (!piece) return;
    text.append(piece.text);
    next = piece.next;
    if (next === null) more.remove();
  });
  return el("div", {}, text, more);
}

function turnBlock(whole, turn, at) {
  const id = link("rollout", whole.rollout, at + 1);
  const call = turn.call.error
    ? el("div", { class: "call error" }, el("b", {}, `not run: ${turn.call.error}`), el("pre", {}, turn.call.text))
    : el("div", { class: "call" }, el("b", {}, turn.call.name), turn.call.repairs.length ? ` repaired: ${turn.call.repairs.join(", ")}` : "",
      turn.call.ignored_calls ? ` ${turn.call.ignored_calls} more calls ignored` : "",
      el("dl", {}, turn.call.arguments.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, el("pre", { tabindex: "0" }, value))))));
  const result = turn.result && [el("h4", {}, "Result", el("small", {}, ` ${number(turn.result.letters)} letters · ${seconds(turn.command_s)}`,
    turn.result.exit_code === null ? "" : ` · exit status ${turn.result.exit_code}`, turn.result.timed_out ? " · stopped at its limit" : "")),
  longText(whole.rollout, at, "result", turn.result, "result")];
  return el("section", { class: "turnbox", id: `turn-${at + 1}`, tabindex: "-1", "aria-labelledby": `turn-${at + 1}-title` },
    el("h3", { id: `turn-${at + 1}-title` }, el("a", { href: id, class: "row" }, `Turn ${at + 1}`), el("small", {}, ` ${seconds(turn.reply_s)} · ended by ${turn.ended}`)),
    tokens(turn, whole.masked), longText(whole.rollout, at, "reply", turn.reply, "reply"), el("h4", {}, "Call"), call, result);
}

function tokens(turn, masked) {
  const all = Math.max(1, turn.trained + turn.read);
  const width = (count) => `${((100 * count) / all).toFixed(1)}%`;
  const words = masked ? `${number(turn.trained)} tokens written, masked; ${number(turn.read)} read, mask 0` : `${number(turn.trained)} tokens trained, mask 1; ${number(turn.read)} read, mask 0`;
  return el("div", { class: "tokens" }, el("svg:svg", { class: "mask", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
    el("svg:rect", { x: 0, y: 0, width: width(turn.trained), height: 4, class: masked ? "masked" : "trained" }),
    el("svg:rect", { x: width(turn.trained), y: 0, width: width(turn.read), height: 4, class: "read" })), el("small", {}, words));
}

async function showRollout(place, page) {
  const [name, turn] = place.parts;
  const whole = await ask("rollout", { name });
  if (page !== asked) return;
  const facts = [["reward", rewardMark(whole)], ["end", whole.finish], ["step", whole.step ?? "unknown"], ["task", el("a", { href: link("group", whole.step ?? "", whole.task) }, whole.task)],
    ["turns", number(whole.turns.length)], ["tokens", `${number(whole.prompt)} prompt, ${number(whole.written)} written, ${number(whole.read)} read`],
    ["time", `${seconds(whole.duration_s)}: model ${seconds(whole.reply_s)}, commands ${seconds(whole.command_s)}`],
    ["training", whole.masked ? "masked: not trained on" : "trained on"]];
  const jump = (target, word) => target ? el("a", { href: link("rollout", target), id: `go-${word}` }, word) : el("span", { class: "dim" }, word);
  fill(
    el("h2", {}, whole.rollout), el("p", { class: "jump" }, jump(whole.older, "older"), " · ", jump(whole.newer, "newer")),
    el("dl", { class: "facts" }, facts.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value)))),
    el("section", { class: "tests", "aria-labelledby": "tests-title" }, el("h3", { id: "tests-title" }, "Tests and reward"),
      el("p", {}, rewardMark(whole), whole.why ? `: ${whole.why}` : ": no result was stored"), whole.detail ? el("p", {}, `It ended with: ${whole.detail}`) : null),
    el("details", {}, el("summary", {}, `Prompt: ${whole.prompt} tokens`), whole.prompt_messages.map((one, at) => [el("h4", {}, one.role), longText(name, at, "prompt", one, "reply")])),
    whole.turns.map((one, at) => turnBlock(whole, one, at)),
    whole.left_out ? el("p", {}, `${number(whole.left_out)} more turns`) : null);
  const target = turn && $(`turn-${turn}`);
  if (target) { target.scrollIntoView(); target.focus({ preventScroll: true }); }
}

// -- plots

const PLOTS = [["reward", "mean reward"], ["solved", "share solved"], ["masked", "share masked"], ["written", "tokens written"], ["read", "tokens read"], ["turns", "turns"],
  ["reply_s", "seconds of the model"], ["command_s", "seconds in the sandbox"], ["longest_s", "longest rollout (s)"], ["call_errors", "replies without a valid call"]];

function plot(title, points) {
  const width = 380, height = 130, left = 54, right = 8, top = 8, bottom = 18;
  const values = points.map(([, value]) => value);
  if (!values.length) return null;
  const low = Math.min(...values), high = Math.max(...values), first = points[0][0], last = points[points.length - 1][0];
  const x = (step) => (left + (last > first ? (step - first) / (last - first) : 0.5) * (width - left - right)).toFixed(1);
  const y = (value) => (height - bottom - (high > low ? (value - low) / (high - low) : 0.5) * (height - top - bottom)).toFixed(1);
  const drawn = points.length > 1 ? points : [points[0], points[0]];
  const now = low === high ? `${figure(low)}${values.length > 1 ? " at every step" : ""}` : `${figure(values[values.length - 1])} at step ${last}`;
  const words = low === high ? now : `${now}; ${figure(low)} to ${figure(high)}`; // the axis has the range
  const axis = (at) => el("svg:line", { class: "axis", x1: left, x2: width - right, y1: at, y2: at });
  return el("figure", {}, el("figcaption", {}, el("b", {}, title), ` ${now}`),
    el("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${words}` }, axis(height - bottom), axis(top),
      el("svg:text", { x: left - 5, y: top + 4, "text-anchor": "end" }, figure(high)), high > low ? el("svg:text", { x: left - 5, y: height - bottom, "text-anchor": "end" }, figure(low)) : null,
      el("svg:text", { x: left, y: height - 4 }, `step ${first}`), el("svg:text", { x: width - right, y: height - 4, "text-anchor": "end" }, last),
      el("svg:polyline", { points: drawn.map(([step, value]) => `${x(step)},${y(value)}`).join(" ") })));
}

async function showPlots(place, page) {
  const { steps } = await ask("steps");
  if (page !== asked) return;
  const figures = PLOTS.map(([name, title]) => plot(title, steps.filter((one) => one[name] !== null).map((one) => [one.step, one[name]])));
  const heads = ["step", "rollouts", ...PLOTS.map(([, title]) => title)];
  const rows = steps.slice(-500).reverse().map((one) => [el("a", { href: `#/rollouts?step=${one.step}`, class: "row" }, one.step), number(one.rollouts), ...PLOTS.map(([name]) => figure(one[name]))]);
  fill(el("h2", {}, "Plots"), el("p", {}, "Means of the rollouts of each step."), el("div", { class: "plots" }, figures.filter(Boolean)),
    table("The last steps", heads, rows, heads.map((_, at) => at)));
}

// -- what is shown, and following

const VIEWS = { rollouts: showRollouts, groups: showGroups, group: showGroup, rollout: showRollout, plots: showPlots };

function fail(error) {
  fill(el("p", { class: "failure", role: "alert" }, error.message || String(error)));
}

async function show({ keepFocus = false } = {}) {
  const place = where(), page = ++asked, view = VIEWS[place.view] || showRollouts;
  for (const name of ["rollouts", "groups", "plots"]) {
    const here = place.view === name || (name === "rollouts" && place.view === "rollout") || (name === "groups" && place.view === "group");
    if (here) $(`nav-${name}`).setAttribute("aria-current", "page"); else $(`nav-${name}`).removeAttribute("aria-current");
  }
  $("filters").hidden = !["rollouts", "groups"].includes(place.view);
  if (!keepFocus) fillFilters(place.words);
  $("nav-groups").href = "#/groups" + (place.view === "rollouts" ? location.hash.replace(/^[^?]*/, "") : "");
  await view(place, page).catch(fail);
  document.body.dataset.ready = String(page);
}

function fillFilters(words) {
  for (const field of $("filters").elements) {
    if (!field.name) continue;
    if (field.type === "checkbox") field.checked = words[field.name] === field.value;
    else {
      if (field.tagName === "SELECT" && words[field.name] && ![...field.options].some((one) => one.value === words[field.name])) field.append(el("option", { value: words[field.name] }, words[field.name]));
      field.value = words[field.name] || "";
    }
  }
}

function applyFilters() {
  const words = new URLSearchParams([...new FormData($("filters"))].filter(([, value]) => value !== ""));
  const view = where().view === "groups" ? "groups" : "rollouts";
  location.hash = `#/${view}${words.size ? `?${words}` : ""}`;
}

function choices(field, names) {
  for (const name of names) if (![...field.options].some((one) => one.value === name)) field.append(el("option", { value: name }, name));
}

async function poll() {
  if (!document.hidden) {
    try {
      const state = await ask("state");
      const grew = known !== null && known.rollouts !== state.rollouts;
      $("title").textContent = document.title = state.title;
      $("state").textContent = [`${number(state.rollouts)} rollouts`, state.step === null ? "" : `last step ${state.step}`, state.broken ? `${number(state.broken)} invalid lines` : "", state.reading && grew ? "reading…" : "", state.trouble].filter(Boolean).join(" · ");
      choices($("filters").elements.end, state.ends.map(([name]) => name));
      choices($("filters").elements.tool, state.tools);
      const view = where().view;
      const listed = document.querySelectorAll("tbody tr").length;
      const first = known === null || known.rollouts === 0;
      if (grew && $("follow").checked && ["rollouts", "groups", "plots"].includes(view) && !where().words.text && (first || (listed <= 100 && window.scrollY < 200))) await show({ keepFocus: true });
      known = state;
    } catch (error) {
      $("state").textContent = `The viewer does not answer (${error.message}). Start skyrl-train view again.`;
    }
  }
  setTimeout(poll, known !== null && known.reading ? POLL_MS / 4 : POLL_MS);
}

function step(direction) {
  const stops = [...document.querySelectorAll("main .row")];
  if (!stops.length) return;
  const at = stops.indexOf(document.activeElement);
  const box = document.activeElement && document.activeElement.closest && document.activeElement.closest(".turnbox");
  const from = at >= 0 ? at : box ? stops.indexOf(box.querySelector(".row")) : direction > 0 ? -1 : stops.length;
  const next = stops[Math.min(stops.length - 1, Math.max(0, from + direction))];
  next.focus();
  next.scrollIntoView({ block: where().view === "rollout" ? "start" : "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const acts = {
    "/": () => { const field = $("filters").elements.text; if (!$("filters").hidden) field.focus(); },
    j: () => step(1), k: () => step(-1),
    "[": () => $("go-older") && $("go-older").click(), "]": () => $("go-newer") && $("go-newer").click(),
    u: () => { location.hash = "#/rollouts"; },
  };
  if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
});
$("filters").addEventListener("submit", (event) => { event.preventDefault(); applyFilters(); });
$("filters").addEventListener("change", (event) => { if (event.target.matches("select, [type=checkbox]")) applyFilters(); });
$("filters").addEventListener("reset", () => setTimeout(applyFilters));
$("skip").addEventListener("click", (event) => { event.preventDefault(); $("content").focus(); });
window.addEventListener("hashchange", () => { window.scrollTo(0, 0); show(); });
show();
poll();
