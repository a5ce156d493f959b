// The page of `tfrecord-fast view`. Whatever comes from records is set as text or as the address of an image or a
// sound on this server, never as HTML.
"use strict";

const $ = (id) => document.getElementById(id);
const TINY = 96; // pixels; smaller images are enlarged
const LAST = 1e15; // stands for the last record, whose number is not known

let files = [];
const state = { file: 0, record: 0, where: "" };
let counts = new Map(); // of files, as far as they are known
let step = null; // what is going on: an AbortController
let pushed = 0; // when the address was last added to the history

const grouped = (number) => Number(number).toLocaleString("en-US");
const range = (count) => (count > 0 ? `of 0–${grouped(count - 1)}` : "");
const plural = (number, word) => `${grouped(number)} ${word}${number === 1 ? "" : "s"}`;

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// ---- Asking the server ----

const address = (path, query) => `${path}?${new URLSearchParams(query)}`;
const here = (more) => ({ file: state.file, record: state.record, ...more });

async function ask(path, query, signal) {
  for (;;) {
    let answer;
    try {
      answer = await fetch(address(path, query), { signal });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The command has been stopped, or can't be reached.");
    }
    if (!answer.ok) throw new Error(await answer.text());
    const made = await answer.json();
    if (made.waiting === undefined) return made;
    say(made.waiting);
    if (made.at !== undefined) query = { ...query, record: made.at };
  }
}

// Runs one thing at a time: what is asked for later ends what is still going on.
async function doing(work) {
  step?.abort();
  const mine = (step = new AbortController());
  document.body.classList.add("waiting");
  complain("");
  try {
    await work(mine.signal);
  } catch (error) {
    if (error.name !== "AbortError") complain(error.message);
  } finally {
    if (step === mine) document.body.classList.remove("waiting");
  }
}

function say(text) {
  $("status").textContent = text;
}

function complain(text) {
  $("problem").textContent = text;
  $("problem").hidden = !text;
  if (text) say("");
}

// ---- Going to records ----

function parameters() {
  const query = new URLSearchParams({ file: state.file, record: state.record });
  if (state.where) query.set("where", state.where);
  return `?${query}`;
}

function remember() {
  const now = Date.now();
  if (location.search === parameters()) return;
  // Who leafs through quickly does not want to come back to each.
  history[now - pushed > 1000 ? "pushState" : "replaceState"](null, "", parameters());
  pushed = now;
}

async function show(file, record, signal) {
  let made = await ask("api/record", { file, record }, signal);
  if (record === LAST && made.count) made = await ask("api/record", { file, record: made.count - 1 }, signal);
  signal.throwIfAborted();
  state.file = file;
  state.record = made.record ?? 0;
  if (made.count !== null && made.count !== undefined) counts.set(file, made.count);
  remember();
  draw(made);
  const count = counts.get(file);
  if (made.problem === undefined) say(`Record ${grouped(state.record)}${count === undefined ? "" : ` ${range(count)}`}`);
}

async function countOf(file, signal) {
  if (!counts.has(file)) {
    const made = await ask("api/record", { file, record: 0 }, signal);
    if (made.count !== null && made.count !== undefined) counts.set(file, made.count);
  }
  return counts.get(file);
}

// The next record, or the one before, that fits the condition if there is one; through all files.
async function move(back, signal, from = state.record + (back ? 0 : 1), file = state.file) {
  let unknown = "";
  for (; file >= 0 && file < files.length; file += back ? -1 : 1, from = back ? LAST : 0) {
    if (state.where) {
      const query = { file, record: from, where: state.where, ...(back ? { back: 1 } : {}) };
      const made = await ask("api/find", query, signal);
      if (made.problem !== undefined) throw new Error(made.problem);
      if (made.found !== null) return show(file, made.found, signal);
      unknown = made.unknown;
    } else if (back && from > 0) {
      return show(file, from === LAST ? LAST : from - 1, signal);
    } else if (!back) {
      const count = await countOf(file, signal);
      if (count === undefined || from < count) {
        const made = await ask("api/record", { file, record: from }, signal);
        if (made.kind !== undefined || made.count === null || from < made.count) return show(file, from, signal);
        counts.set(file, made.count);
      }
    }
  }
  if (!state.where) return say(`This is the ${back ? "first" : "last"} record.`);
  say(`No ${back ? "earlier" : "later"} record fits${unknown ? `: ${unknown}` : ""}.`);
}

const next = () => doing((signal) => move(false, signal));
const previous = () => doing((signal) => move(true, signal));
const go = (record, file = state.file) => doing((signal) => show(file, record, signal));

const NONE = "No later record fits";

async function find(signal) {
  state.where = $("where").value.trim();
  $("clear").hidden = !state.where;
  if (!state.where) return show(state.file, state.record, signal);
  const start = { ...state };
  say("Searching …");
  await move(false, signal, state.record);
  if (!$("status").textContent.startsWith(NONE)) return;
  if (start.file !== 0 || start.record !== 0) await move(false, signal, 0, 0);
  const said = $("status").textContent;
  if (said.startsWith(NONE)) say(`No record fits${said.slice(NONE.length)}`);
  else say(`Record ${grouped(state.record)}: from the start again, since no later record fits.`);
}

// ---- Drawing ----

function draw(made) {
  const count = counts.get(state.file);
  $("file").value = state.file;
  $("number").value = state.record;
  $("count").textContent = count === undefined ? "" : range(count);
  $("title").textContent = `Record ${grouped(state.record)}`;
  document.title = `Record ${state.record} – ${files[state.file].path}`;
  const about = [];
  if (made.kind) about.push(made.kind, plural(made.size, "byte"));
  if (made.offset !== null && made.offset !== undefined) about.push(`at byte ${grouped(made.offset)}`);
  $("about").textContent = about.join(" · ");
  $("way").textContent = files[state.file].path + (made.way ? `: ${made.way}.` : "");
  $("previous").disabled = state.file === 0 && state.record === 0;
  $("next").disabled = !state.where && state.file === files.length - 1 && state.record + 1 === count;
  for (const id of ["code", "link", "raw"]) $(id).hidden = made.kind === undefined;
  $("raw").href = address("bytes", here({}));
  $("raw").download = `record-${state.record}.bin`;
  notes(made.notes ?? []);
  const tree = made.tree;
  $("tree").replaceChildren(...(tree ? [tree.items ? list(tree, 3) : make("div", { class: "item group" }, leaf(tree))] : []));
  if (made.problem !== undefined) complain(made.record === undefined ? made.problem : `Record ${grouped(made.record)}: ${made.problem}`);
}

function notes(all) {
  $("notes").hidden = all.length === 0;
  if (!all.length) return;
  const items = all.map((one) => make("li", {}, one));
  $("notes").replaceChildren(
    make("h2", {}, `${plural(all.length, "place")} of this file ${all.length === 1 ? "is" : "are"} damaged`),
    make("ul", { tabindex: "0", "aria-label": "Damage" }, ...items),
  );
}

function list(group, level) {
  const items = make("ul", { class: "items" }, ...group.items.map((one) => make("li", {}, item(one, level))));
  const left = group.count - group.first - group.items.length;
  if (left > 0) items.append(make("li", {}, moreItems(group, left, level)));
  if (!group.count) items.append(make("li", {}, make("p", { class: "item note" }, "nothing")));
  return items;
}

function item(one, level) {
  const heading = make(`h${Math.min(level, 6)}`, {}, one.name === "" ? "(no name)" : one.name);
  const what = one.items ? plural(one.count, "item") : one.count === 1 ? one.kind : `${one.kind} · ${plural(one.count, "value")}`;
  const label = make("div", { class: "label" }, heading, make("p", { class: "kind" }, what));
  if (one.items) return make("div", { class: "item group" }, label, list(one, level + 1));
  return make("div", { class: "item" }, label, leaf(one));
}

function moreItems(group, left, level) {
  const button = make("button", { type: "button" }, `Show ${left > 100 ? "100 " : ""}more of ${grouped(left)}`);
  button.addEventListener("click", async () => {
    const made = await part(group, group.first + group.items.length, button);
    const fresh = list(made, level);
    const target = button.closest("ul");
    button.closest("li").remove();
    const first = fresh.firstElementChild;
    target.append(...fresh.children);
    focusOn(first);
  });
  return make("p", { class: "item more" }, button);
}

async function part(one, first, button) {
  button.disabled = true;
  try {
    const made = await ask("api/part", here({ place: one.place, first }));
    if (made.problem !== undefined) throw new Error(made.problem);
    return made;
  } catch (error) {
    button.disabled = false;
    complain(error.message);
    throw error;
  }
}

function focusOn(element) {
  element.setAttribute("tabindex", "-1");
  element.focus({ preventScroll: true });
}

function leaf(one) {
  const values = make("div", { class: one.count > 1 ? "values many" : "values" });
  fill(values, one);
  return make("div", {}, values, moreValues(one, values));
}

function fill(target, one) {
  if (one.values.every((value) => value.number !== undefined)) {
    const text = one.values.map((value) => value.number).join(", ");
    const old = target.querySelector(".numbers");
    if (old) {
      old.append(`, ${text}`);
      if (!old.classList.contains("long")) {
        old.classList.add("long");
        old.setAttribute("tabindex", "0");
        old.setAttribute("role", "region");
        old.setAttribute("aria-label", "Values");
      }
    } else if (one.count) target.append(make("p", { class: "numbers" }, text));
    else target.append(make("p", { class: "note" }, one.kind === "none" ? "no kind, no values" : "no values"));
    return;
  }
  one.values.forEach((value, number) => {
    const place = one.first + number;
    target.append(blob(value, one.place === "" ? `${place}` : `${one.place}.${place}`, one.count > 1));
  });
}

function blob(value, place, isOneOfMany) {
  const size = plural(value.size ?? 0, "byte");
  if (value.number !== undefined) return make("p", { class: "numbers" }, value.number);
  if (value.media === "image") return image(value, place, size, isOneOfMany ? TINY : 2 * TINY);
  if (value.media === "audio") {
    const source = address("bytes", here({ place }));
    return make("figure", {}, make("audio", { controls: true, preload: "metadata", src: source, "aria-label": value.name }),
      make("figcaption", {}, `${value.name}, ${size}`));
  }
  const open = (text) => make("a", { href: address("text", here({ place })), target: "_blank", rel: "noopener" }, text);
  if (value.text !== undefined) {
    const text = make("p", { class: "text" }, value.size ? value.text : make("span", { class: "note" }, "empty text"));
    if (!value.more) return make("div", { class: value.text.length > 60 ? "block" : "" }, text);
    return make("div", { class: "block" }, text,
      make("p", { class: "note" }, `… ${plural(value.more, "more character")}. `, open("All as text")));
  }
  const save = make("a", { href: address("bytes", here({ place })), download: `record-${state.record}.bin` }, "Save");
  const dots = value.size > (value.hex.length + 1) / 3 ? " …" : "";
  return make("div", { class: "block" }, make("p", { class: "hex" }, value.hex + dots),
    make("p", { class: "note" }, `${value.name ? `${value.name}, ` : ""}${size} `, save));
}

function image(value, place, size, wanted) {
  const source = address("bytes", here({ place }));
  const form = value.width === undefined ? value.name : `${value.name}, ${value.width}×${value.height}`;
  const picture = make("img", { src: source, alt: form, loading: "lazy" });
  const figure = make("figure", {}, picture, make("figcaption", {}, `${form}, ${size}`));
  const side = Math.max(value.width ?? 0, value.height ?? 0);
  if (value.width > 0 && value.height > 0) {
    const scale = side < TINY ? Math.max(1, Math.floor(wanted / side)) : 1;
    if (scale > 1) figure.classList.add("tiny");
    picture.width = value.width * scale;
    picture.height = value.height * scale;
  }
  picture.addEventListener("error", () => {
    figure.classList.add("broken");
    figure.lastElementChild.textContent = `${form}, ${size}: the browser can't show it. `;
    figure.lastElementChild.append(make("a", { href: source, download: `record-${state.record}.bin` }, "Save"));
  });
  return figure;
}

function moreValues(one, values) {
  let shown = one.first + one.values.length;
  if (shown >= one.count) return null;
  const row = make("p", { class: "more" });
  const button = make("button", { type: "button" });
  const name = () => (button.textContent = `Show more of ${grouped(one.count - shown)}`);
  button.addEventListener("click", async () => {
    const made = await part(one, shown, button);
    fill(values, made);
    shown += made.values.length;
    button.disabled = false;
    if (shown < one.count) return name();
    row.remove();
    focusOn(values);
  });
  name();
  row.append(button);
  if (one.values[0].media === undefined) {
    const text = address("text", here({ place: one.place }));
    row.append(make("a", { href: text, target: "_blank", rel: "noopener" }, "All as text"));
  }
  return row;
}

// ---- Copying ----

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied ${what}.`);
  } catch {
    $("copy-text").value = text;
    $("copy").showModal();
    $("copy-text").select();
  }
}

const copyCode = () => doing(async (signal) => copy((await ask("api/code", here({}), signal)).code, "the record as code"));
const copyLink = () => copy(new URL(parameters(), location.href).href, "the link");

// ---- Keys and buttons ----

const KEYS = {
  j: next,
  ArrowRight: next,
  k: previous,
  ArrowLeft: previous,
  Home: () => go(0),
  End: () => go(LAST),
  g: () => ($("number").focus(), $("number").select()),
  "/": () => ($("where").focus(), $("where").select()),
  c: copyCode,
};

function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || $("copy").open) return;
  const target = event.target;
  if (event.key === "Escape" && target.matches?.("input")) return target.blur();
  if (target.closest?.("input, select, textarea, audio, .long, #notes ul")) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function fromAddress() {
  const query = new URLSearchParams(location.search);
  const number = (name) => (/^\d{1,15}$/.test(query.get(name) ?? "") ? Number(query.get(name)) : 0);
  state.where = query.get("where") ?? "";
  $("where").value = state.where;
  $("clear").hidden = !state.where;
  go(number("record"), Math.min(number("file"), files.length - 1));
}

// How many characters the files' folders have in common.
function common() {
  const folder = (path) => path.slice(0, path.lastIndexOf("/") + 1);
  let shared = folder(files[0].path);
  for (const one of files) while (!one.path.startsWith(shared)) shared = folder(shared.slice(0, -1));
  return shared.length;
}

async function begin() {
  $("next").addEventListener("click", next);
  $("previous").addEventListener("click", previous);
  $("code").addEventListener("click", copyCode);
  $("link").addEventListener("click", copyLink);
  $("file").addEventListener("change", () => go(0, Number($("file").value)));
  $("go").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = $("number").value.replace(/[\s,_]/g, "");
    if (!/^\d{1,15}$/.test(text)) return complain(`${$("number").value} is not a number.`);
    $("record").focus({ preventScroll: true });
    go(Number(text));
  });
  $("filter").addEventListener("submit", (event) => {
    event.preventDefault();
    doing(find);
  });
  $("clear").addEventListener("click", () => {
    $("where").value = "";
    doing(find);
    $("where").focus();
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("popstate", fromAddress);
  await doing(async (signal) => {
    files = (await ask("api/files", {}, signal)).files;
  });
  const start = files.length ? common() : 0;
  $("file").replaceChildren(
    ...files.map((one, number) => make("option", { value: number, title: one.path }, one.path.slice(start))),
  );
  if (files.length) fromAddress();
}

begin();
