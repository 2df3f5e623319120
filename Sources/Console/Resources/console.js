// Makes the console's pages quicker and livelier. Every page works without it.

const main = () => document.getElementById("main");
const isKorean = () => document.documentElement.lang === "ko";
const make = (name, values) => Object.assign(document.createElement(name), values);
const on = (event, listener) => document.addEventListener(event, listener);
const parse = (text) => new DOMParser().parseFromString(text, "text/html");
// Links to a part of the page change the history, too.
const place = () => location.href.split("#")[0];
let shownPlace = place();

/** Shows a page that was fetched. One that has gained or lost the navigation is loaded. */
function show(text, url) {
  const page = parse(text);
  const content = page.getElementById("main");
  const find = (name) => [document, page].map((each) => each.querySelector(name));
  const [shown, sections] = find(".sections");
  if (!content || !sections !== !shown) return false;
  document.title = page.title;
  main().replaceWith(content);
  shown?.replaceWith(sections);
  const [old, languages] = find(".languages");
  if (languages) old?.replaceWith(languages);
  if (url) history.pushState(null, "", url);
  shownPlace = place();
  start();
  return true;
}

/** Sends a form of `main`, and shows the page that follows; an error appears inside the form, which keeps its fields. */
async function send(event) {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || form.method !== "post" || !form.closest("#main") || form.dataset.plain !== undefined) return;
  event.preventDefault();
  // A second click must not send the form twice.
  if (form.dataset.sending) return;
  form.dataset.sending = 1;
  const data = new FormData(form, submitter);
  submitter?.setAttribute("aria-busy", "true");
  try {
    // The attributes: a field with the name of the property would take its place, such as the number of a store action.
    const action = submitter?.getAttribute("formaction") ?? form.getAttribute("action") ?? location.href;
    const response = await fetch(action, { method: "POST", body: form.enctype === "multipart/form-data" ? data : new URLSearchParams(data) });
    const text = await response.text();
    if (response.ok) {
      if (!show(text, response.redirected || form.dataset.stay === undefined ? response.url : null)) location.href = response.url;
      const notice = main().querySelector("[role=status]") ?? main();
      notice.scrollIntoView({ block: "nearest" });
      return;
    }
    const problem = parse(text).getElementById("problem");
    if (problem) report(form, problem); else location.reload();
  } catch {
    // The service may have received the form, so the script does not send it again.
    const textContent = isKorean() ? "응답이 없습니다. 이미 처리되었는지 확인한 뒤 다시 보내세요." : "No answer. Look whether the form took effect before you send it again.";
    report(form, make("div", { className: "problem", role: "alert", textContent }));
  } finally { submitter?.removeAttribute("aria-busy"); delete form.dataset.sending; }
}

/** Shows an error inside a form, in the place of an earlier one. */
function report(form, problem) {
  form.querySelector(".problem")?.remove();
  problem.removeAttribute("id");
  form.prepend(problem);
  problem.scrollIntoView({ block: "nearest" });
}

/** Replaces a part of the page while the person types in a form or a field: `data-live` names its identifier. */
let timer;
function live(event) {
  const source = event.target.closest?.("[data-live]");
  if (!source) return;
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const target = document.getElementById(source.dataset.live);
    if (!target) return;
    const form = source.closest("form"), action = form.dataset.liveAction;
    const data = new URLSearchParams(new FormData(form));
    if (!action) data.delete("form-token");
    const response = await fetch(action ?? form.getAttribute("action") + "?" + data, action ? { method: "POST", body: data } : {});
    const part = parse(await response.text()).getElementById(target.id);
    if (part && !target.contains(document.activeElement)) target.replaceWith(part);
  }, 200);
}

/** Live rows: `data-stream` names the address of server-sent events, each with a row or a request to reload. A hidden page
 * has none, because browsers open six connections to a service. */
let stream;
function connect() {
  stream?.close();
  const list = document.querySelector("[data-stream]");
  if (!list || document.hidden) return;
  stream = new EventSource(list.dataset.stream);
  stream.addEventListener("row", (event) => {
    const row = make("template");
    row.innerHTML = event.data;
    row.content.firstElementChild.classList.add("fresh");
    list.querySelector(".empty")?.remove();
    finish(row.content);
    list.prepend(row.content);
    while (list.children.length > 50) list.lastElementChild.remove();
  });
  stream.addEventListener("change", () => reload(list));
  return list;
}

/** Loads a list again, and what follows it, unless the person is typing there. */
async function reload(list) {
  if (document.activeElement?.matches("#main :is(input, textarea, select)")) return;
  const page = parse(await (await fetch(location.href)).text());
  for (const old of [list, ...document.querySelectorAll("[data-follow]:not(:has(:focus, [open]))")]) {
    const part = page.getElementById(old.id);
    if (part) { old.replaceChildren(...part.childNodes); finish(old); }
  }
}

/** Follows a link to a part of the page, which its fragment names, and keeps the place. */
async function swap(event, link) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (!show(await (await fetch(link.href)).text(), link.href)) location.href = link.href;
  const part = document.querySelector(link.hash);
  part?.focus({ preventScroll: true });
  if (part?.getBoundingClientRect().top > innerHeight / 2) part.scrollIntoView();
}

/** Loads a part of the page again every two seconds, while it has a mark: `data-reload` names the identifier of the part. */
setInterval(() => {
  const part = document.getElementById(document.querySelector("[data-reload]")?.dataset.reload);
  if (part && !document.hidden && !part.contains(document.activeElement)) reload(part).catch(() => {});
}, 2000);

/** Moves the code of a one-time link from the fragment of the address, which no server receives, to its field. */
function takeCode() {
  const field = document.querySelector("[data-code]");
  if (!field || !/^#[\w-]{43}$/.test(location.hash)) return;
  field.value = location.hash.slice(1);
  history.replaceState(null, "", place());
}

/** The values of a chart's period, for the pointer, the finger and the keyboard: a line across the chart, and a box beside it. */
const draw = (parent, name, values) => {
  const element = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", name));
  for (const [key, value] of Object.entries(values)) element.setAttribute(key, value);
  return element;
};
const hideValues = () => document.querySelector(".tip")?.remove();
function showValues(chart, index) {
  hideValues();
  const slot = chart.querySelectorAll(".slot")[index];
  if (!slot) return "";
  chart.dataset.index = index;
  // The browser would show the title, too.
  const title = slot.querySelector("title");
  if (title) { slot.dataset.text = title.textContent; title.remove(); }
  const { x, y, width, height } = slot.getBBox();
  const middle = x + width / 2;
  const tip = draw(chart, "g", { class: "tip" });
  draw(tip, "line", { x1: middle, x2: middle, y1: y, y2: y + height });
  const frame = draw(tip, "rect", { rx: 4 });
  const text = draw(tip, "text", {});
  slot.dataset.text.split("\n").forEach((line, place) => { draw(text, "tspan", { x: 0, dy: place ? "1.35em" : 0 }).textContent = line; });
  const box = text.getBBox();
  const left = middle + box.width + 24 < chart.viewBox.baseVal.width ? middle + 16 : Math.max(8, middle - box.width - 16);
  text.setAttribute("transform", `translate(${left} ${y + 8 - box.y})`);
  for (const [key, value] of Object.entries({ x: left - 8, y, width: box.width + 16, height: box.height + 16 })) frame.setAttribute(key, value);
  return slot.dataset.text;
}

/** Shows the values of a period, and has a screen reader say them. */
function tellValues(chart, index) {
  const text = showValues(chart, index);
  if (!chart.nextElementSibling?.ariaLive) chart.after(make("p", { className: "hidden", ariaLive: "polite" }));
  chart.nextElementSibling.textContent = text.replaceAll("\n", ", ");
}

function start() {
  connect();
  for (const chart of document.querySelectorAll("svg.chart[role=img]")) chart.setAttribute("tabindex", "0");
  takeCode();
  finish(document);
}

/** Finishes a page, or new rows: times, and a button beside each identifier that copies it. */
function finish(root) {
  moments(root);
  for (const code of root.querySelectorAll(":is(td, dd) code[title]")) {
    (code.closest("a") ?? code).after(make("button", { type: "button", className: "copy", ariaLabel: isKorean() ? "복사" : "Copy" }));
  }
}

/** Shows moments and days in the time zone of the browser, and names it. The links to months have the month there. */
function moments(root) {
  // Swedish has the dates of ISO 8601, as the service writes them.
  const shown = (text, timeStyle) => new Date(text).toLocaleString("sv", { dateStyle: "short", timeStyle });
  for (const time of root.querySelectorAll("time.moment")) {
    time.title = time.textContent;
    time.textContent = shown(time.dateTime, "short");
  }
  for (const time of root.querySelectorAll("time.day")) time.textContent = shown(time.dateTime);
  for (const option of root.querySelectorAll("option[data-moment]")) {
    const { moment } = option.dataset;
    option.textContent = option.textContent.replace(moment.slice(0, 10), shown(moment));
  }
  for (const zone of root.querySelectorAll(".zone")) zone.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const link of root.querySelectorAll("a[data-month]")) {
    const url = new URL(link.href);
    const [year, month] = link.dataset.month.split("-");
    url.searchParams.set("from", +new Date(year, month - 1, 1));
    url.searchParams.set("until", +new Date(year, month, 1));
    link.href = url;
  }
}

/** Tells a form with a day how far its time zone is from UTC at the end of the day, in minutes. */
function tellZone({ target }) {
  const zone = target.form?.elements.zone;
  if (zone && target.type === "date") zone.value = -new Date(target.value + "T23:59").getTimezoneOffset();
}

/** The command palette: every section and every link of the page, found by typing. */
function palette() {
  const dialog = make("dialog");
  const input = make("input", { type: "search", ariaLabel: isKorean() ? "명령" : "Command" });
  const list = make("ul");
  dialog.append(input, list);
  const links = [...document.querySelectorAll(".sections a, .menu a, #main a[href]")];
  const search = document.querySelector(".search");
  const fill = () => {
    const text = input.value.toLowerCase();
    const found = links.filter((link) => link.textContent.toLowerCase().includes(text)).slice(0, 12)
      .map((link) => [link.textContent, link.href]);
    if (text && search) found.push([`${search.querySelector("label").textContent}: ${input.value}`, `${search.action}?search=${encodeURIComponent(input.value)}`]);
    list.replaceChildren(...found.map(([text, href]) => {
      const item = make("li");
      item.append(make("a", { textContent: text, href }));
      return item;
    }));
  };
  input.addEventListener("input", fill);
  dialog.addEventListener("keydown", (event) => {
    const items = [...list.querySelectorAll("a")];
    const index = items.indexOf(document.activeElement);
    if (event.key === "Enter" && index < 0) items[0]?.click();
    else if (event.key === "ArrowDown") items[index + 1]?.focus();
    else if (event.key === "ArrowUp") (items[index - 1] ?? input).focus();
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  fill();
  dialog.showModal();
}

on("submit", send);
on("input", live);
on("input", tellZone);
on("click", async (event) => {
  const link = event.target.closest("[data-swap]");
  if (link) swap(event, link);
  const button = event.target.closest("[data-copy], .copy");
  const source = button && (document.getElementById(button.dataset.copy) ?? button.previousElementSibling);
  if (source) await navigator.clipboard.writeText(source.textContent);
});
on("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input, textarea, select") || document.querySelector("dialog")) return;
  event.preventDefault();
  palette();
});
on("pointerover", ({ target }) => {
  const slot = target.closest?.("svg.chart .slot");
  if (slot) showValues(slot.closest("svg"), [...slot.closest("svg").querySelectorAll(".slot")].indexOf(slot));
  else if (!document.activeElement?.matches("svg.chart")) hideValues();
});
on("focusin", ({ target }) => {
  if (target.matches("svg.chart")) tellValues(target, Number(target.dataset.index ?? target.querySelectorAll(".slot").length - 1));
});
on("focusout", ({ target }) => { if (target.matches("svg.chart")) hideValues(); });
on("keydown", (event) => {
  const chart = event.target.closest?.("svg.chart");
  const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
  if (!chart || step === undefined) return;
  event.preventDefault();
  const last = chart.querySelectorAll(".slot").length - 1;
  tellValues(chart, Math.max(0, Math.min(last, Number(chart.dataset.index ?? last) + step)));
});
on("dragover", (event) => { if (event.target.matches("textarea[data-drop]")) event.preventDefault(); });
on("drop", async (event) => {
  const file = event.dataTransfer?.files[0];
  if (!file || !event.target.matches("textarea[data-drop]")) return;
  event.preventDefault();
  const bytes = new Uint8Array(await file.arrayBuffer());
  const isText = bytes.every((byte) => byte < 0x80);
  event.target.value = isText ? new TextDecoder().decode(bytes) : btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
});
on("visibilitychange", () => {
  const list = connect();
  if (list) reload(list);
});
addEventListener("popstate", () => { if (place() !== shownPlace) location.reload(); });
addEventListener("hashchange", takeCode);
start();
