// The page of `idempotency local`. Whatever comes from requests or the table is only ever set as text, never as HTML.
"use strict";

const token = document.querySelector('meta[name="page-token"]').content;
const by = (id) => document.getElementById(id);

/** Words that have a colour of their own. Others are shown without one. */
const COLOURED = new Set([
  "fresh", "replay", "conflict", "mismatch", "uncertain", "running", "crashed", "failed", "stuck", "abandoned", "compensating",
  "timed-out", "completed", "in-flight", "released", "compensating-overdue", "expired",
]);

/** An element with attributes, and children that are elements or text. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function chip(word, count = 1) {
  const name = word.replaceAll(" ", "-");
  const text = count > 1 ? `${word} ×${count}` : word;
  return make("span", { class: `chip ${COLOURED.has(name) ? `is-${name}` : ""}`.trim() }, text);
}

/** Sets text only where it changes, so that nothing is told or drawn again for nothing. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

async function ask(path, body) {
  const headers = { "x-page-token": token };
  const method = body === undefined ? "GET" : "POST";
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`);
  return answer;
}

async function press(body) {
  const said = by("said");
  said.classList.remove("error");
  try {
    said.textContent = (await ask("api/press", body)).said;
  } catch (error) {
    said.classList.add("error");
    said.textContent = `Not done: ${error.message}`;
  }
}

// The timeline.

const entries = new Map();

function showEntry(entry) {
  let item = entries.get(entry.id);
  if (!item) {
    item = entry.kind === "deed" ? makeDeed(entry) : makeInvocation(entry);
    entries.set(entry.id, item);
    // The newest is first.
    by("timeline").prepend(item);
  }
  if (entry.kind !== "deed") updateInvocation(item, entry);
}

function when(entry) {
  const at = new Date(entry.at);
  return make("time", { datetime: at.toISOString() }, at.toLocaleTimeString([], { hour12: false }));
}

function makeDeed(entry) {
  return make("li", { class: "deed", value: entry.id, "data-entry": entry.id }, when(entry), " ", entry.what);
}

function makeInvocation(entry) {
  const item = make("li", { value: entry.id, "data-entry": entry.id });
  const head = make("div", { class: "head" }, when(entry), make("span", { class: "chips" }));
  head.append(make("span", { class: "what" }, entry.what));
  if (entry.key) head.append(make("span", { class: "key", title: "The key that travels with it" }, entry.key));
  const again = make("button", { type: "button", "aria-label": `Send ${entry.id} again` }, "Send again");
  again.addEventListener("click", () => press({ button: "duplicate", entry: entry.id }));
  const show = make("button", { type: "button", "aria-expanded": "false", "aria-label": `Event and answer of ${entry.id}` }, "Show");
  show.addEventListener("click", () => toggle(item, show, entry.id));
  const foot = make("div", { class: "foot" }, make("span", { class: "detail" }), again, show);
  item.append(head, foot);
  return item;
}

function updateInvocation(item, entry) {
  item.querySelector(".chips").replaceChildren(...entry.outcomes.map(({ word, count }) => chip(word, count)));
  const parts = [`#${entry.id}`];
  if (entry.said !== null) parts.push(entry.said);
  if (entry.took_ms !== null) parts.push(`${entry.took_ms} ms`);
  const operations = new Set(entry.claims.map(({ operation }) => operation));
  if (operations.size > 0) parts.push([...operations].join(", "));
  const attempt = Math.max(0, ...entry.claims.map((claim) => claim.attempt ?? 0));
  if (attempt > 1) parts.push(`attempt ${attempt}`);
  setText(item.querySelector(".detail"), parts.join(" · "));
  item.querySelector("button").disabled = !entry.can_repeat;
}

/** Shows the event and the answer, which may be a customer's data, only when asked to. */
async function toggle(item, button, id) {
  const shown = item.querySelector("pre");
  if (shown) {
    shown.remove();
    button.textContent = "Show";
    button.setAttribute("aria-expanded", "false");
    return;
  }
  button.disabled = true;
  try {
    const { event, answer } = await ask(`api/entries/${id}`);
    const text = `event\n${pretty(event ?? "too large, not kept")}\n\nanswer\n${pretty(answer ?? "none yet")}`;
    item.append(make("pre", { tabindex: "0", "aria-label": `Event and answer of ${id}` }, text));
    button.textContent = "Hide";
    button.setAttribute("aria-expanded", "true");
  } catch (error) {
    by("said").classList.add("error");
    by("said").textContent = `Not shown: ${error.message}`;
  } finally {
    button.disabled = false;
  }
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function forgetBefore(oldest) {
  for (const [id, item] of entries) {
    if (id >= oldest) break;
    item.remove();
    entries.delete(id);
  }
}

// The records.

const rows = new Map();
/** What the server's clock is ahead of this one. */
let ahead = 0;

const COLUMNS = ["Operation", "State", "Attempt", "Lease", "Forgotten", "Result", "Beside it"];

function showTable(table) {
  if (table.error) {
    setText(by("records-more"), `The table cannot be read: ${table.error}`);
    return;
  }
  ahead = table.now - Date.now();
  by("records").hidden = table.rows.length === 0;
  by("records-empty").hidden = table.rows.length > 0;
  const notes = [];
  if (table.more > 0) notes.push(`${table.more} more records are not shown.`);
  if (!table.is_whole) notes.push("The table is larger than what is read for this page: there may be more.");
  if (table.unreadable > 0) notes.push(`${table.unreadable} items cannot be read: another version wrote them.`);
  setText(by("records-more"), notes.join(" "));
  const body = by("records").tBodies[0];
  const seen = new Set();
  table.rows.forEach((row, place) => {
    seen.add(row.key);
    let line = rows.get(row.key);
    if (!line) {
      line = make("tr", { role: "row", title: row.key });
      COLUMNS.forEach((label) => line.append(make("td", { role: "cell", "data-label": label })));
      rows.set(row.key, line);
    }
    updateRow(line, row);
    if (body.rows[place] !== line) body.insertBefore(line, body.rows[place] ?? null);
  });
  for (const [key, line] of rows) {
    if (seen.has(key)) continue;
    line.remove();
    rows.delete(key);
  }
}

function updateRow(line, row) {
  const [operation, state, attempt, lease, forgotten, result, beside] = line.cells;
  const tail = row.key.split("#").pop().slice(0, 8);
  lines(operation, row.operation, `${tail}…`);
  if (state.textContent !== row.state) state.replaceChildren(chip(row.state));
  state.title = row.meaning;
  lines(attempt, String(row.attempt), `epoch ${row.epoch}`);
  lease.dataset.until = row.lease_until ?? "";
  forgotten.dataset.until = row.expires_at;
  setText(result, row.result_bytes === null ? "none" : `${row.result_bytes} bytes`);
  setText(beside, besides(row.beside));
  countDown(line);
}

/** A cell of a text and a quieter one. */
function lines(cell, text, quiet) {
  const whole = `${text} ${quiet}`;
  if (cell.textContent !== whole) cell.replaceChildren(`${text} `, make("small", {}, quiet));
}

function besides({ steps, memos, events, parts, audit }) {
  const said = steps.map(({ name, state }) => `step ${name}: ${state}`);
  said.push(...memos.map((name) => `memo ${name}`));
  const sent = events.filter((event) => event.sent !== null).length;
  if (sent > 0) said.push(`${sent} event${sent > 1 ? "s" : ""} sent`);
  if (events.length > sent) said.push(`${events.length - sent} not known to be sent`);
  if (parts > 0) said.push(`${parts} parts`);
  if (audit.length > 0) said.push(audit.length > 1 ? `${audit.length} acts of operators` : "an operator's act");
  return said.join(", ") || "nothing";
}

function countDown(line) {
  const [, , , lease, forgotten] = line.cells;
  setText(lease, lease.dataset.until === "" ? "none" : left(Number(lease.dataset.until), "over"));
  setText(forgotten, left(Number(forgotten.dataset.until), "expired"));
}

/** How long until a time, in its two largest units. */
function left(until, over) {
  const seconds = Math.ceil((until - Date.now() - ahead) / 1000);
  if (seconds <= 0) return over;
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = units.findIndex(([, length]) => seconds >= length);
  const [unit, length] = units[first];
  const rest = units[first + 1];
  const small = rest ? Math.floor((seconds % length) / rest[1]) : 0;
  return `in ${Math.floor(seconds / length)} ${unit}${small > 0 ? ` ${small} ${rest[0]}` : ""}`;
}

// The sandboxes and the buttons.

const sandboxes = new Map();

function showSandboxes(list) {
  by("sandboxes-empty").hidden = list.length > 0;
  const seen = new Set(list.map(({ id }) => id));
  for (const [id, item] of sandboxes) {
    if (seen.has(id)) continue;
    item.remove();
    sandboxes.delete(id);
  }
  for (const { id, pid, is_busy } of list) {
    let item = sandboxes.get(id);
    if (!item) {
      const kill = make("button", { type: "button", "aria-label": `Kill process ${pid}` }, "Kill");
      kill.addEventListener("click", () => press({ button: "kill", sandbox: id }));
      item = make("li", {}, make("span"), kill);
      sandboxes.set(id, item);
      by("sandboxes").append(item);
    }
    setText(item.firstChild, `process ${pid}, ${is_busy ? "busy" : "idle"}`);
  }
}

function showState(state) {
  setText(by("function"), `${state.function}, ${state.trigger}`);
  document.querySelector('[data-button="example"]').hidden = !state.has_example;
  for (const button of document.querySelectorAll("button[data-write]")) {
    const isArmed = state.armed.includes(`${button.dataset.button}_${button.dataset.write}`);
    button.setAttribute("aria-pressed", String(isArmed));
  }
  state.entries.forEach(showEntry);
  forgetBefore(state.oldest);
  by("timeline-empty").hidden = entries.size > 0;
  showTable(state.table);
  showSandboxes(state.sandboxes);
}

for (const button of document.querySelectorAll("button[data-button]")) {
  const { button: name, write } = button.dataset;
  button.addEventListener("click", () => press(write ? { button: name, write } : { button: name }));
}

const pause = (milliseconds) => new Promise((resume) => setTimeout(resume, milliseconds));
const visible = () =>
  new Promise((resume) => {
    if (!document.hidden) return resume();
    document.addEventListener("visibilitychange", () => resume(), { once: true });
  });

async function follow() {
  let version = 0;
  for (;;) {
    // Nothing is read for a page that nobody sees.
    await visible();
    try {
      const state = await ask(`api/state?after=${version}`);
      showState(state);
      version = state.version;
      setText(by("connection"), "live");
      by("connection").classList.remove("error");
      await pause(200);
    } catch (error) {
      setText(by("connection"), `not connected: ${error.message}`);
      by("connection").classList.add("error");
      await pause(1000);
    }
  }
}

setInterval(() => rows.forEach(countDown), 1000);
follow();
