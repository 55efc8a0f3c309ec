// The page: its controls, and the charts, whose specifications Python made. What is simulated comes from the worker.

import { Stopped, started, unpacked } from "./office.mjs";
import { duration, largest, number, unitOf } from "./words.mjs";

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const LOADS = [0.5, 0.6, 0.7, 0.8, 0.9, 1];
const WEEK = 7 * 86400;
const LARGE = 100e6; // bytes of a log, from which on it is said what reading takes
const SWF = [30e6, 2]; // about so many bytes are read in a second, and take so many bytes of memory
const TABLES = [7e6, 8];
const PATIENCE = 400; // ms until work is shown
const HIGH = 240; // of the plots whose lines have names, in pixels
const NARROW = 560; // pixels; charts are less wide on a phone
const CHOICES = ["scheme", "against", "order", "machine"]; // that change the curve

const shown = { scheme: "EASY", against: "FCFS", order: "fcfs", view: "waits" };
const first = { log: data.logs[0].name, load: null, machine: null, week: 0, ...shown };
const setting = { ...first };
let office = null; // the worker
let log = null; // what the worker knows of the log
let dropped = null; // {file, options}: the user's log, if it is that
let points = new Map(); // of the curve, by load
let [rowsOfWaits, ghost] = [null, null]; // what is drawn, and from before the hand took the slider
let chart = null; // what is drawn, and in what form
let latest = 0; // settings so far
let running = false;

const sides = () => [...new Set([setting.scheme, setting.against])];
const counted = (value) => value.toLocaleString("en");
const entryOf = (name) => data.logs.find((entry) => entry.name === name);
const titleOf = () => (dropped ? log.name : entryOf(setting.log).title); // a stand-in says that it is one
const plain = () => ({ ...setting, sides: sides() });

async function startWorker() {
  office?.stop();
  const [worker, wide, narrow] = ["worker", "wide", "narrow"].map((id) => byId(id).textContent);
  office = await started({ ...data, worker, wide, narrow }, trouble);
}

function trouble(message = "") {
  byId("trouble").hidden = !message;
  byId("trouble").textContent = message;
  if (message) byId("trouble").scrollIntoView({ block: "nearest" });
}

let timer = null;
function busy(on, part = null) {
  clearTimeout(timer);
  if (part === null) byId("progress").removeAttribute("value");
  else byId("progress").value = part;
  if (!on) byId("busy").hidden = true;
  else timer = setTimeout(() => (byId("busy").hidden = false), part === null ? PATIENCE : 0);
}

const moment = (seconds) =>
  log.clock === null
    ? `${number(seconds / 3600)} h`
    : new Date((log.clock + seconds) * 1000).toISOString().slice(0, 16).replace("T", " ");

// -- what is said -------------------------------------------------------------------------------------------------

/** The unit in which the mean waits under both schemes are readable. */
const unitOfWaits = (both) =>
  unitOf(Math.sqrt(both[0].wait_time * both.at(-1).wait_time) || Math.max(...both.map((of) => of.wait_time)));

/** Say in a sentence how long jobs wait under both schemes. */
function finding(both) {
  const [unit, seconds] = unitOfWaits(both);
  const [ours, theirs] = both.map((of) => `${number(of.wait_time / seconds)} ${unit}`);
  const job = `Under ${setting.scheme} a job waits ${ours} on average`;
  if (!theirs) return `${job}.`;
  const ratio = both[0].wait_time / both[1].wait_time;
  const percent = Math.round(100 * (ratio - 1));
  const part = percent ? `${Math.abs(percent)} % ${percent < 0 ? "less" : "more"} than` : "as long as";
  return `${job}, ${ratio > 2 ? `${number(ratio)} times as long as` : part} under ${setting.against} (${theirs}).`;
}

function addRow(table, texts) {
  const row = table.insertRow();
  for (const text of texts) row.insertCell().textContent = text;
}

function showMeasures(both) {
  const [unit, seconds] = unitOfWaits(both);
  const timed = (text, value) => [`${text} (${unit})`, (of) => value(of) / seconds];
  const rows = [
    ...[["mean wait", "wait_time"], ["median wait", "median_wait_time"], ["95th percentile", "p95_wait_time"]].map(
      ([text, name]) => timed(text, (of) => of[name])),
    ["mean bounded slowdown", (of) => of.bounded_slowdown],
    ["utilization (%)", (of) => 100 * of.utilization],
    ["loss of capacity (%)", (of) => 100 * of.loss_of_capacity_share],
    ["mean queue (jobs)", (of) => of.mean_queue],
    ["jobs that held a reservation", (of) => of.reserved],
    ["of these, started after it", (of) => of.late],
    ...both[0].classes.map(({ name, jobs }, i) =>
      timed(`mean wait of ${counted(jobs)} ${name} jobs`, (of) => of.classes[i].mean),
    ),
  ];
  const table = byId("measures");
  table.replaceChildren();
  addRow(table, ["measure", ...sides(), ...(both[1] ? ["difference"] : [])]);
  for (const [name, value] of rows) {
    const [ours, theirs] = both.map(value);
    const difference = both[1] ? [(ours > theirs ? "+" : "") + number(ours - theirs).replace("-", "−")] : [];
    addRow(table, [name, ...both.map((of) => number(value(of))), ...difference]);
  }
}

/** Show what the schemes are, and the same in Python. */
function showCode() {
  byId("schemes").innerText = sides().map((name) => `${name}. ${data.schemes[name].about}`).join("\n");
  const { name: reader, separator = "," } = log.reader ?? {};
  const columns = Object.entries(dropped?.options?.columns ?? {});
  const named = columns.map(([role, name]) => `${role}=${JSON.stringify(name)}`);
  if (separator !== ",") named.push(`separator=${JSON.stringify(separator)}`);
  const given = [JSON.stringify(log.name), ...named, ...(log.known ? [] : [`machine=${log.procs}`])];
  const source = (dropped ? null : entryOf(setting.log).code) ?? `sl.${reader}(${given.join(", ")})`;
  const order = setting.order === "fcfs" ? [] : [`order='${setting.order}'`];
  const [, name, settings] = data.schemes[setting.scheme].code.match(/(.*)\((.*)\)/);
  const scheme = `${name}(${[...(settings ? [settings] : []), ...order].join(", ")})`;
  const size = setting.machine === log.procs ? "" : `, machine=${setting.machine}`;
  const load = setting.load === null ? "" : `.scale_load(${setting.load})`;
  const lines = [`trace = ${source}${load}`, `schedule = sl.simulate(trace, ${scheme}${size})`];
  byId("code").textContent = ["import schedlab as sl", ...lines].join("\n");
}

// -- charts -------------------------------------------------------------------------------------------------------

/** Visit all views of a specification that have an encoding. */
function* views(spec) {
  if (spec.encoding) yield spec;
  for (const part of [...(spec.layer ?? []), ...(spec.vconcat ?? [])]) yield* views(part);
}

/** Put into a template what the setting says: colours, widths, and the ends of axes. */
function filled(name, { along, upward }) {
  const room = byId("panel").clientWidth;
  const names = sides();
  const colours = { domain: names, range: names.map((of) => data.schemes[of].colour) };
  const labels = ["waits", "slowdown"].includes(name) ? 8 * Math.max(...names.map((text) => text.length)) + 30 : 14;
  const spec = JSON.parse(JSON.stringify(data.templates[name]).replaceAll("{machine}", counted(setting.machine)));
  const width = Math.max(160, Math.min(room, 1100) - 75 - labels);
  for (const part of [spec, ...(spec.vconcat ?? [])]) part.width = width;
  for (const { encoding } of views(spec)) {
    const { x, y, color } = encoding;
    if (color?.field === "scheme") color.scale = colours;
    if (color?.legend && room < NARROW) [color.title, color.legend.columns] = [color.title.split(", "), 2];
    if (x?.scale?.domain) x.scale.domain = along;
    if (y?.scale?.domain && upward) y.scale.domain = upward;
    if (!x?.axis) continue;
    if (dropped && x.title === "local time") x.title = "time (UTC)";
    if (room < NARROW) x.axis.tickCount = 4;
    if (x.axis.values) x.axis.values = x.axis.values.filter((value) => value <= along[1]);
    const days = (along[1] - along[0]) / 864e5;
    if (x.axis.format?.includes("%")) x.axis.format = data.dates.find(([least]) => days >= least)[1];
  }
  return spec;
}

const clocked = (seconds) => (log.clock === null ? seconds / 3600 : (log.clock + seconds) * 1000);
const alongTime = (name) => (log.clock === null ? name : `${name} dated`);

/** Draw a chart with tables; if only the tables have changed, they are replaced in the chart that is there. */
async function draw(spec, tables, label, under) {
  const form = JSON.stringify(spec);
  if (chart?.form === form) {
    for (const [name, rows] of Object.entries(tables)) chart.view.data(name, rows);
    await chart.view.resize().runAsync();
  } else {
    chart?.view.finalize();
    const options = { actions: false, renderer: "svg" };
    const { view } = await window.vegaEmbed(byId("chart"), { ...spec, datasets: tables }, options);
    chart = { form, view };
  }
  byId("chart").setAttribute("aria-label", `${label} ${byId("finding").textContent}`);
  byId("under").textContent = under;
}

const drawers = {
  async waits({ rows, upTo }) {
    rowsOfWaits = rows;
    const under = `${ghost ? "Thin: before the slider moved. " : ""}A wait of 0 is drawn at 1 s.`;
    const spec = filled("waits", { along: [1, upTo] });
    await draw(spec, { rows, ghost: ghost ?? [] }, "Share of jobs that wait at most so long.", under);
  },

  async slowdown(_, turn) {
    for (const load of LOADS) {
      if (!points.has(load)) points.set(load, await office.ask("point", { setting: plain(), load }));
      if (turn !== latest) return;
      busy(true, points.size / LOADS.length);
    }
    const results = LOADS.flatMap((load) => points.get(load));
    const { rows, ticks } = await office.ask("curve", { results, high: HIGH });
    const spec = filled("slowdown", { along: [LOADS[0], LOADS.at(-1)] });
    for (const { encoding } of views(spec)) encoding.y.axis.values = ticks;
    const under = "Each point simulates the whole log. The table below is at the load of the slider.";
    await draw(spec, { rows }, "Mean bounded slowdown by offered load.", under);
  },

  async time({ rows, others, begin, end }) {
    const placed = (list) => list.map((row) => ({ ...row, time: clocked(row.time), at: moment(row.time) }));
    const spec = filled(alongTime("time"), { along: [begin, end].map(clocked) });
    const tables = { rows: placed(rows), others: placed(others), size: [{ size: setting.machine }] };
    const [area, line] = sides();
    const under = `Area: ${area}${line ? `; line: ${line}` : ""}. Means over ${duration((end - begin) / 600)}.`;
    await draw(spec, tables, "Processors in use, jobs queued and work queued over time.", under);
  },

  async gantt({ charts, begin, end }) {
    const spec = filled(alongTime("gantt"), { along: [begin, end].map(clocked), upward: [0, setting.machine] });
    if (charts.length === 1) spec.vconcat.shift();
    const notes = ["Point at a job to see how it started."];
    spec.vconcat.forEach((panel, i) => {
      const least = [(3 * (clocked(end) - clocked(begin))) / panel.width, (3 * setting.machine) / panel.height];
      panel.title.text = sides()[i];
      panel.data.name = `rows${i}`;
      const [wide, high] = ["datum.end - datum.begin", "datum.high - datum.low"];
      panel.encoding.stroke.condition[0].test = `${wide} > ${least[0]} && ${high} > ${least[1]}`;
      notes.unshift(...largest(charts[i], "jobs").map((part) => `${sides()[i]}: ${part}.`));
    });
    const placed = charts.map(({ rows }) =>
      rows.map((row) => {
        const named = { submit: moment(row.submit), promised: row.promised < 0 ? "none" : moment(row.promised) };
        return { ...row, begin: clocked(row.begin), end: clocked(row.end), ...named };
      }),
    );
    const tables = Object.fromEntries(placed.map((rows, i) => [`rows${i}`, rows]));
    const label = `Which jobs held which processors from ${moment(begin)} to ${moment(end)}.`;
    await draw(spec, tables, label, notes.join(" "));
  },
};

// -- simulating ---------------------------------------------------------------------------------------------------

/** Simulate the setting and show it; of settings that come meanwhile, only the last one is simulated. */
async function update() {
  latest += 1;
  showCode();
  byId("copy").textContent = "Copy a link to this setting";
  const held = ([name, value]) => value !== first[name] && !(dropped && ["log", "machine"].includes(name));
  const parts = Object.entries(setting).filter(held);
  history.replaceState(null, "", `#${new URLSearchParams(parts)}`);
  if (running) return;
  running = true;
  busy(true);
  try {
    for (let turn = 0; turn !== latest; ) {
      turn = latest;
      const result = await office.ask("run", { setting: plain(), high: HIGH });
      if (turn !== latest && setting.view !== "waits") continue;
      byId("finding").textContent = finding(result.both);
      showMeasures(result.both);
      await drawers[setting.view](result, turn);
    }
    trouble();
  } catch (error) {
    if (!(error instanceof Stopped)) trouble(error.message);
  }
  running = false;
  busy(false);
}

/** Open a log of the page, or a file of the user. */
async function open({ entry, file, options, isLinked = false }) {
  busy(true);
  try {
    if (entry?.src) await fetched(entry);
    const request = file ? { file, options } : { log: entry };
    log = await office.ask("log", request, ({ bytes, of }) => busy(true, bytes / of));
    dropped = file ? request : null;
    points = new Map();
    ghost = null;
    const load = file || !Number.isFinite(log.load) ? null : setting.load;
    Object.assign(setting, isLinked ? {} : { week: 0, machine: log.procs }, { log: (file ?? entry).name, load });
    if (!(setting.machine >= log.widest)) setting.machine = log.procs;
    for (const id of ["finding", "measures", "under", "chart"]) byId(id).replaceChildren();
    chart?.view.finalize();
    chart = null;
    const title = file ? `${file.name} (your log)` : entry.title;
    const about = [title, `${counted(log.jobs)} job${log.jobs === 1 ? "" : "s"}`];
    about.push(`${counted(log.procs)} processors${log.known ? "" : ", as the widest job needs: the file has no size"}`);
    byId("about").textContent = [...about, duration(log.span), `offered load ${number(log.load)}`].join(", ");
    byId("notes").textContent = log.notes.join("\n");
    trouble();
    show();
    await update();
  } catch (error) {
    if (error.name === "ColumnsNeeded") askForColumns(file, error);
    else if (!(error instanceof Stopped)) trouble(error.message);
    byId("log").value = dropped ? "" : setting.log;
  }
  busy(false);
}

/** Run a script; one that stands beside the page works from the disk, too. */
const ran = (src) =>
  new Promise((onload, reject) => {
    const onerror = () => reject(new Error(`${src} could not be fetched`));
    document.head.append(Object.assign(document.createElement("script"), { src, onload, onerror }));
  });

/** Fetch a log that stands beside the page. */
async function fetched(entry) {
  window.logOfPage = (content) => (entry.data = content);
  await ran(entry.src);
  delete entry.src;
}

/** Read a file of the user; of a large one, say first what that takes. */
function take(file) {
  const [speed, memory] = /\.swf/.test(file.name) ? SWF : TABLES;
  const [size, most] = [file.size, file.size * memory].map((bytes) => `${number(bytes / 1e6, 2)} MB`);
  const needs = `about ${number(file.size / speed, 1)} s or more, and ${most} of memory`;
  if (file.size > LARGE) trouble(`${file.name} has ${size}: reading it takes ${needs}.`);
  return open({ file });
}

/** Ask which column of a table is what, and read it again. */
function askForColumns(file, { columns, rows }) {
  const dialog = byId("columns");
  byId("columns-of").textContent = file.name;
  const table = dialog.querySelector("table");
  table.replaceChildren();
  for (const row of [columns, ...rows]) addRow(table, row);
  for (const select of dialog.querySelectorAll("select")) {
    select.replaceChildren(...["", ...columns].map((name) => new Option(name || "none")));
  }
  dialog.addEventListener("close", () => {
    if (dialog.returnValue !== "read") return;
    const selects = [...dialog.querySelectorAll("select")].filter((select) => select.selectedIndex > 0);
    open({ file, options: { columns: Object.fromEntries(selects.map((select) => [select.name, select.value])) } });
  }, { once: true });
  dialog.showModal();
}

// -- controls -----------------------------------------------------------------------------------------------------

/** Let the controls show the setting. */
function show() {
  byId("week").max = Math.max(0, Math.ceil(log.span / WEEK) - 1);
  setting.week = Math.min(setting.week, byId("week").max);
  const { load, machine, view, week } = setting;
  for (const id of [...CHOICES, "week"]) byId(id).value = setting[id];
  byId("load").value = load ?? log.load;
  byId("load").disabled = !Number.isFinite(log.load);
  const own = machine === log.procs ? "" : `, of ${counted(log.procs)} processors`;
  byId("load-text").textContent = load === null ? `${number(log.load)}, as in the log${own}` : load.toFixed(2) + own;
  byId("machine").min = log.widest;
  byId("log").value = dropped ? "" : setting.log;
  byId("weeks").hidden = view !== "gantt";
  byId("week-text").textContent = `from ${moment(log.first + week * WEEK)}`;
  for (const tab of byId("views").children) {
    tab.setAttribute("aria-selected", tab.dataset.view === view);
    tab.tabIndex = tab.dataset.view === view ? 0 : -1;
  }
  if (machine < log.widest) trouble(`The widest job needs ${log.widest} processors, got ${machine}.`);
}

function change(values) {
  Object.assign(setting, values);
  if (CHOICES.some((name) => name in values)) points = new Map();
  show();
  if (setting.machine >= log.widest) update();
}

/** Take the setting from the address; the controls know what they can be. */
function recall() {
  if (log) Object.assign(setting, first, { machine: log.procs, log: dropped ? setting.log : first.log });
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    const control = byId(name);
    const tab = name === "view" && byId("views").querySelector(`[data-view="${CSS.escape(value)}"]`);
    if (tab) setting.view = value;
    if (!(name in setting) || !control) continue;
    control.value = value;
    if (control.value) setting[name] = typeof control.valueAsNumber === "number" ? control.valueAsNumber : value;
  }
}

function download(ending, type, text) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  const name = `${titleOf()}, ${setting.scheme}.${ending}`;
  Object.assign(document.createElement("a"), { download: name, href }).click();
  URL.revokeObjectURL(href);
}

function listen() {
  const on = (id, kind, act) => byId(id).addEventListener(kind, (event) => act(event.target, event));
  on("load", "input", ({ valueAsNumber }) => {
    ghost ??= rowsOfWaits;
    change({ load: valueAsNumber });
  });
  on("load", "change", () => (ghost = null));
  for (const id of ["scheme", "against", "order"]) on(id, "change", ({ value }) => change({ [id]: value }));
  on("machine", "change", ({ valueAsNumber }) => change({ machine: Math.floor(valueAsNumber) || log.procs }));
  on("week", "input", ({ valueAsNumber }) => change({ week: valueAsNumber }));
  on("reset", "click", () => change({ ...first, log: setting.log, machine: log.procs, view: setting.view }));
  on("log", "change", ({ value }) => open({ entry: entryOf(value) }));
  on("file", "change", (input) => {
    if (input.files[0]) take(input.files[0]);
    input.value = ""; // so that the same file can be chosen again
  });
  on("csv", "click", async () => download("csv", "text/csv", await office.ask("csv", plain())));
  on("svg", "click", async () => download("svg", "image/svg+xml", await chart.view.toSVG()));
  on("copy", "click", async (button) => {
    await navigator.clipboard.writeText(location.href);
    button.textContent = dropped ? "Copied (the link does not hold your log)" : "Copied";
  });
  on("cancel", "click", async () => {
    await startWorker();
    busy(true);
    trouble("Cancelled.");
    if (log) await office.ask("log", dropped ?? { log: entryOf(setting.log) });
    busy(false);
  });
  on("chart", "click", (mark, event) => mark.dispatchEvent(new PointerEvent("pointermove", event))); // words by touch
  on("views", "click", ({ dataset }) => dataset.view && change({ view: dataset.view }));
  on("views", "keydown", (tab, { key }) => {
    const step = { ArrowRight: "nextElementSibling", ArrowLeft: "previousElementSibling" }[key];
    if (!tab[step]) return;
    tab[step].focus();
    change({ view: tab[step].dataset.view });
  });
  for (const kind of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      document.body.classList.toggle("dropping", kind === "dragover");
      if (kind === "drop" && event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
    });
  }
  let wide = byId("panel").clientWidth;
  window.addEventListener("resize", () => {
    if (byId("panel").clientWidth !== wide) update();
    wide = byId("panel").clientWidth;
  });
  window.addEventListener("hashchange", () => {
    recall();
    if (!dropped && setting.log !== log.name) open({ entry: entryOf(setting.log), isLinked: true });
    else change({ ...setting });
  });
}

async function main() {
  recall();
  const address = (content) => URL.createObjectURL(new Blob([content], { type: "text/javascript" }));
  const drawing = unpacked(byId("drawing").textContent).then((content) => ran(address(content)));
  await Promise.all([drawing, startWorker()]);
  await open({ entry: entryOf(setting.log), isLinked: true });
  listen();
}

main();
