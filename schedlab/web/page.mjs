// The page: its controls, its worker, and the charts, whose specifications Python made.

import { Stopped, started, unpacked } from "./office.mjs";
import { duration, number, unitOf } from "./words.mjs";

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const VIEWS = { waits: "Waits", slowdown: "Slowdown by load", time: "Over time", gantt: "Gantt chart" };
const ORDERS = {
  fcfs: "first come first", lcfs: "last come first", sjf: "shortest first", ljf: "longest first",
  narrow: "narrowest first", wide: "widest first", saf: "smallest area first", laf: "largest area first",
};
const LOADS = [0.5, 0.6, 0.7, 0.8, 0.9, 1];
const WEEK = 7 * 86400;
const LARGE = 100e6; // bytes of a log, from which on it is said what reading takes
const PATIENCE = 400; // ms until work is shown
const HIGH = 240; // of the plots whose lines have names, in pixels
const NARROW = 560; // pixels; charts are less wide on a phone

const first = { log: data.logs[0].name, load: null, scheme: "EASY", against: "FCFS", order: "fcfs", machine: null, view: "waits", week: 0 };
const setting = { ...first };
let log = null; // what the worker knows of the log
let own = null; // {file, options} of the user's log
let ghost = null; // rows before the hand took the slider
let points = new Map(); // of the curve, by load
let view = null; // the chart that is drawn, and of what form

let office = null; // the worker

const ask = (...request) => office.ask(...request);

async function startWorker() {
  office?.stop();
  const [worker, wide, narrow] = ["worker", "wide", "narrow"].map((id) => byId(id).textContent);
  office = await started({ ...data, worker, wide, narrow }, trouble);
}

// -- what is shown ------------------------------------------------------------------------------------------------

function trouble(message) {
  byId("trouble").hidden = !message;
  byId("trouble").textContent = message ?? "";
}

let busyTimer = null;
function busy(on, part = null) {
  clearTimeout(busyTimer);
  const bar = byId("progress");
  if (part === null) bar.removeAttribute("value");
  else bar.value = part;
  if (on) busyTimer = setTimeout(() => (byId("busy").hidden = false), part === null ? PATIENCE : 0);
  else byId("busy").hidden = true;
}

const moment = (seconds) =>
  log.clock === null
    ? `${number(seconds / 3600)} h`
    : new Date((log.clock + seconds) * 1000).toISOString().slice(0, 16).replace("T", " ");

function sides() {
  const { scheme, against, order } = setting;
  return [...new Set([scheme, against])].map((name) => ({ name, scheme: name, order }));
}

/** Say in a sentence how long jobs wait under both schemes. */
function finding([ours, theirs]) {
  const job = `Under ${setting.scheme} a job waits ${duration(ours.wait_time)} on average`;
  if (!theirs) return `${job}.`;
  const ratio = ours.wait_time / theirs.wait_time;
  const more = ratio < 1 ? "less than" : "more than";
  const close = Math.abs(ratio - 1) < 0.005 || ours.wait_time === theirs.wait_time;
  const part = ratio >= 0.5 && ratio <= 2 ? `${Math.round(100 * Math.abs(ratio - 1))} % ` : "";
  return `${job}, ${close ? "as long as" : part + more} under ${setting.against} (${duration(theirs.wait_time)}).`;
}

function showMeasures(both) {
  const timed = (text, value) => {
    const values = both.map(value);
    const [word, seconds] = unitOf(Math.sqrt(values[0] * values.at(-1)) || Math.max(...values)); // readable for both
    return [`${text} (${word})`, (of) => value(of) / seconds];
  };
  const rows = [
    timed("mean wait", (of) => of.wait_time),
    timed("median wait", (of) => of.median_wait_time),
    timed("95th percentile of the wait", (of) => of.p95_wait_time),
  ];
  rows.push(["mean bounded slowdown", (of) => of.bounded_slowdown]);
  rows.push(["utilization (%)", (of) => 100 * of.utilization]);
  rows.push(["loss of capacity (%)", (of) => 100 * of.loss_of_capacity_share]);
  rows.push(["mean queue (jobs)", (of) => of.mean_queue]);
  both[0].classes.forEach(({ name, jobs }, i) => {
    rows.push(timed(`mean wait of ${jobs.toLocaleString("en")} ${name} jobs`, (of) => of.classes[i].wait_time));
  });
  const cell = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  const line = (tag, texts) => {
    const row = document.createElement("tr");
    row.append(...texts.map((text) => cell(tag, text)));
    return row;
  };
  const head = document.createElement("thead");
  head.append(line("th", ["measure", ...sides().map((side) => side.name), ...(both[1] ? ["difference"] : [])]));
  const body = document.createElement("tbody");
  for (const [name, value] of rows) {
    const [ours, theirs] = both.map(value);
    const difference = both[1] ? [(ours > theirs ? "+" : "") + number(ours - theirs).replace("-", "−")] : [];
    body.append(line("td", [name, ...both.map((of) => number(value(of))), ...difference]));
  }
  byId("measures").replaceChildren(head, body);
}

function showSchemes() {
  const texts = sides().map(({ name }) => Object.assign(document.createElement("p"), { textContent: `${name}. ${data.schemes[name].about}` }));
  byId("schemes").replaceChildren(...texts);
}

function showCode() {
  const known = data.logs.find((entry) => entry.name === setting.log);
  const name = own ? own.file.name : setting.log;
  const source = known?.code ?? (/\.swf/.test(name) ? `sl.read_swf(${JSON.stringify(name)})` : `sl.read_sacct(${JSON.stringify(name)})`);
  const scheme = data.schemes[setting.scheme].code;
  const order = setting.order === "fcfs" ? "" : `order='${setting.order}'`;
  const ordered = scheme.endsWith("()") ? scheme.replace("()", `(${order})`) : scheme.replace(")", `${order && ", "}${order})`);
  const size = setting.machine === log.procs ? "" : `, machine=${setting.machine}`;
  const load = setting.load === null ? "" : `.scale_load(${setting.load})`;
  byId("code").textContent = [
    "import schedlab as sl",
    `trace = ${source}${load}`,
    `schedule = sl.simulate(trace, ${ordered}${size})`,
  ].join("\n");
}

// -- charts -------------------------------------------------------------------------------------------------------

/** Visit all views of a specification that have an encoding. */
function* views(spec) {
  if (spec.encoding) yield spec;
  for (const part of [...(spec.layer ?? []), ...(spec.vconcat ?? [])]) yield* views(part);
}

/** Put into a template what the setting says: the colours, the width, the ends of axes. */
function filled(name, { along, upward, title = "" }) {
  const room = byId("panel").clientWidth;
  const names = sides().map((side) => side.name);
  const labels = name === "waits" || name === "slowdown" ? 8 * Math.max(...names.map((text) => text.length)) + 30 : 14;
  const wide = Math.max(160, Math.min(room, 1100) - 75 - labels);
  const spec = JSON.parse(JSON.stringify(data.templates[name]).replaceAll("{machine}", setting.machine.toLocaleString("en")));
  spec.title = { ...spec.title, text: title, subtitle: [] };
  spec.width = wide;
  for (const part of spec.vconcat ?? []) part.width = wide;
  for (const { encoding } of views(spec)) {
    if (encoding.color?.field === "scheme") encoding.color.scale = { domain: names, range: names.map((of) => data.schemes[of].colour) };
    if (encoding.color?.legend) encoding.color.legend.columns = room < NARROW ? 2 : 4;
    if (encoding.x?.scale?.domain && along) encoding.x.scale.domain = along;
    if (encoding.y?.scale?.domain && upward) encoding.y.scale.domain = upward;
    const axis = encoding.x?.axis;
    if (axis && room < NARROW) axis.tickCount = 4;
    if (axis?.values) axis.values = axis.values.filter((value) => value <= along[1]);
    if (axis?.format?.includes("%")) axis.format = data.dates.find(([days]) => (along[1] - along[0]) / 864e5 >= days)[1];
    if (encoding.x?.title?.includes?.("local time")) encoding.x.title = "local time";
  }
  return spec;
}

const clocked = (seconds) => (log.clock === null ? seconds / 3600 : (log.clock + seconds) * 1000);
const alongTime = (name) => (log.clock === null ? name : `${name} dated`);

/** Draw a chart with tables; if only the tables have changed, they are replaced in the chart that is there. */
async function draw(spec, tables, label) {
  const form = JSON.stringify(spec);
  if (view?.form !== form) {
    view?.result.finalize();
    const result = await vegaEmbed(byId("chart"), { ...spec, datasets: tables }, { actions: false, renderer: "svg" });
    view = { form, result };
  } else {
    for (const [name, rows] of Object.entries(tables)) view.result.view.data(name, rows);
    await view.result.view.resize().runAsync();
  }
  byId("chart").setAttribute("aria-label", label);
}

const drawers = {
  async waits({ rows, upTo }) {
    const spec = filled("waits", { along: [1, upTo] });
    const [line] = spec.layer;
    const thin = { ...line, data: { name: "ghost" }, mark: { ...line.mark, strokeWidth: 1, opacity: 0.5 } };
    spec.layer = [thin, ...spec.layer];
    await draw(spec, { rows, ghost: ghost ?? [] }, `Share of jobs that wait at most so long. ${byId("finding").textContent}`);
    byId("under").textContent = `${ghost ? "Thin: before the slider moved. " : ""}A wait of 0 is drawn at 1 s.`;
    drawn.rows = rows;
  },

  async slowdown(_, turn) {
    const missing = LOADS.filter((load) => !points.has(load));
    for (const load of missing) {
      points.set(load, await ask("point", { setting: plain(), load }));
      if (turn !== latest) return;
      busy(true, points.size / LOADS.length);
      await curve();
    }
    if (!missing.length) await curve();
  },

  async time({ rows, others, begin, end }) {
    const placed = (list) => list.map((row) => ({ ...row, time: clocked(row.time), at: moment(row.time) }));
    const spec = filled(alongTime("time"), { along: [begin, end].map(clocked) });
    const tables = { rows: placed(rows), others: placed(others), size: [{ size: setting.machine }] };
    await draw(spec, tables, `Processors in use, jobs queued and work queued over time. ${byId("finding").textContent}`);
    const [area, line] = sides();
    byId("under").textContent = `Area: ${area.name}${line ? `; line: ${line.name}` : ""}. Means over ${duration((end - begin) / 600)}.`;
  },

  async gantt({ charts, begin, end }) {
    const spec = filled(alongTime("gantt"), { along: [begin, end].map(clocked), upward: [0, setting.machine] });
    spec.vconcat.length = charts.length;
    spec.vconcat.forEach((panel, i) => {
      panel.title.text = sides()[i].name;
      const pixel = (clocked(end) - clocked(begin)) / panel.width;
      const high = setting.machine / panel.height;
      panel.encoding.stroke.condition[0].test = `datum.end - datum.begin > ${3 * pixel} && datum.high - datum.low > ${3 * high}`;
    });
    const last = spec.vconcat.at(-1).encoding.x;
    Object.assign(last, { title: data.templates[alongTime("gantt")].vconcat[1].encoding.x.title && "time" });
    Object.assign(last.axis, { labels: true, ticks: true });
    const placed = ({ rows }) =>
      rows.map((row) => ({ ...row, begin: clocked(row.begin), end: clocked(row.end), submit: log.clock === null ? clocked(row.submit) : moment(row.submit) }));
    const tables = { rows: placed(charts[0]), ...(charts[1] ? { others: placed(charts[1]) } : {}) };
    await draw(spec, tables, `Which jobs held which processors from ${moment(begin)} to ${moment(end)}.`);
    const parts = charts.map(({ shown, all, share }, i) =>
      shown < all ? `${sides()[i].name}: the ${shown.toLocaleString("en")} largest of ${all.toLocaleString("en")} jobs, ${Math.round(100 * share)} % of the work` : "");
    byId("under").textContent = [...parts.filter(Boolean), "Point at a job to see how it started."].join(". ");
  },
};

/** Draw the curve as far as its points are known. */
async function curve() {
  const results = [...points.keys()].sort().flatMap((load) => points.get(load));
  const rows = await ask("curve", { results, high: HIGH });
  const spec = filled("slowdown", {});
  const values = results.map((row) => row.bounded_slowdown);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const ticks = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((power) => (high > 100 * low ? [1] : [1, 2, 5]).map((step) => step * 10 ** power));
  for (const { encoding } of views(spec)) {
    encoding.x.scale.domain = [LOADS[0], LOADS.at(-1)];
    encoding.y.axis = { values: ticks, format: ",~r" };
  }
  await draw(spec, { rows }, `Mean bounded slowdown by offered load. ${byId("finding").textContent}`);
  byId("under").textContent = "Each point simulates the whole log. The slider does not matter here.";
}

// -- simulating ---------------------------------------------------------------------------------------------------

const plain = () => ({ ...setting, sides: sides() });
const drawn = { rows: null };
let latest = 0;
let running = false;

/** Simulate the setting and show it; of settings that come meanwhile, only the last one is simulated. */
async function update() {
  const turn = ++latest;
  showCode();
  showSchemes();
  remember();
  if (running || !log) return;
  running = true;
  busy(true);
  let done = 0;
  try {
    for (done = 0; done !== latest; ) {
      done = latest;
      const result = await ask("run", { setting: plain(), high: HIGH });
      if (done !== latest && setting.view !== "waits") continue;
      byId("finding").textContent = finding(result.both);
      showMeasures(result.both);
      await drawers[setting.view](result, done);
    }
    trouble();
  } catch (error) {
    if (!(error instanceof Stopped)) trouble(error.message);
  } finally {
    running = false;
    busy(false);
  }
  return turn;
}

async function open({ entry, file, options }) {
  busy(true);
  try {
    if (entry?.src) await fetched(entry);
    const request = file ? { file, options } : { log: entry };
    log = await ask("log", request, ({ bytes, of }) => busy(true, bytes / of));
    own = file ? { file, options } : null;
    points = new Map();
    ghost = null;
    setting.log = file ? file.name : entry.name;
    setting.week = 0;
    if (file || !setting.machine || setting.machine < log.widest) setting.machine = log.procs;
    const title = file ? `${file.name} (your log)` : entry.title;
    const text = `${title}: ${log.jobs.toLocaleString("en")} jobs, ${log.procs.toLocaleString("en")} processors, ${duration(log.span)}, offered load ${number(log.load)}.`;
    byId("about").textContent = log.known ? text : `${text} The file does not tell the size of the machine: it is taken to be that of the widest job; change it if you know better.`;
    byId("notes").hidden = !log.notes?.length;
    byId("notes").textContent = (log.notes ?? []).join("\n");
    trouble();
    show();
    await update();
  } catch (error) {
    if (error.name === "ColumnsNeeded") columns(file, error);
    else if (!(error instanceof Stopped)) trouble(error.message);
    byId("log").value = own ? "" : setting.log;
  } finally {
    busy(false);
  }
}

/** Fetch a log that stands beside the page, as a script, which also works from the disk. */
function fetched(entry) {
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: entry.src });
    script.onload = () => resolve(delete entry.src);
    script.onerror = () => reject(new Error(`${entry.src} could not be fetched`));
    window.logOfPage = (content) => (entry.data = content);
    document.head.append(script);
  });
}

/** Ask which column of a table is what, and read it again. */
function columns(file, { columns: names, rows, guess }) {
  const dialog = byId("columns");
  const what = {
    submit: "submission", start: "start", end: "end", run: "run time (s)", procs: "processors", estimate: "estimate (s)", user: "user",
  };
  const options = (chosen) => ["", ...names].map((name) => new Option(name || "—", name, false, name === chosen));
  const form = dialog.querySelector("form");
  const title = Object.assign(document.createElement("h2"), { textContent: `Which column of ${file.name} is what?` });
  const table = document.createElement("table");
  for (const row of [names, ...rows]) {
    const line = table.insertRow();
    for (const value of row) line.insertCell().textContent = value;
  }
  const fields = Object.entries(what).map(([key, label]) => {
    const field = document.createElement("label");
    const select = Object.assign(document.createElement("select"), { name: key });
    select.append(...options(guess?.[key] ?? ""));
    field.append(`${label} `, select);
    return field;
  });
  const read = Object.assign(document.createElement("button"), { textContent: "Read", value: "read" });
  const cancel = Object.assign(document.createElement("button"), { textContent: "Cancel", value: "cancel" });
  form.replaceChildren(title, table, ...fields, read, " ", cancel);
  dialog.onclose = () => {
    if (dialog.returnValue !== "read") return;
    const chosen = Object.fromEntries([...new FormData(form)].filter(([, name]) => name));
    open({ file, options: { columns: chosen } });
  };
  dialog.showModal();
}

// -- controls -----------------------------------------------------------------------------------------------------

/** Let the controls show the setting. */
function show() {
  const { load, machine, view: name, week } = setting;
  for (const id of ["scheme", "against", "order", "machine", "week"]) byId(id).value = setting[id];
  byId("load").value = load ?? log.load;
  byId("load-text").textContent = load === null ? `${log.load.toFixed(2)}, as in the log` : load.toFixed(2);
  byId("machine").min = log.widest;
  byId("log").value = own ? "" : setting.log;
  byId("weeks").hidden = name !== "gantt";
  byId("week").max = Math.max(0, Math.ceil(log.span / WEEK) - 1);
  byId("week-text").textContent = `from ${moment(log.first + week * WEEK)}`;
  for (const button of byId("views").children) {
    const selected = button.dataset.view === name;
    button.setAttribute("aria-selected", selected);
    button.tabIndex = selected ? 0 : -1;
  }
  if (machine < log.widest) trouble(`The widest job needs ${log.widest} processors, got ${machine}; give at least that many.`);
}

function change(values) {
  Object.assign(setting, values);
  if (["scheme", "against", "order", "machine"].some((name) => name in values)) points = new Map();
  show();
  if (setting.machine >= log.widest) update();
}

function remember() {
  const parts = Object.entries(setting).filter(([name, value]) => value !== first[name] && !(own && name === "log"));
  history.replaceState(null, "", `#${new URLSearchParams(parts)}`);
}

function recalled() {
  const values = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const within = (value, low, high) => Math.min(high, Math.max(low, Number(value))) || low;
  const takes = {
    log: (name) => data.logs.some((entry) => entry.name === name) && name,
    load: (value) => within(value, 0.3, 1.2),
    scheme: (name) => name in data.schemes && name,
    against: (name) => name in data.schemes && name,
    order: (name) => name in ORDERS && name,
    machine: (value) => Math.floor(within(value, 1, 1e7)),
    view: (name) => name in VIEWS && name,
    week: (value) => Math.floor(within(value, 0, 1e4)),
  };
  for (const [name, take] of Object.entries(takes)) if (name in values) setting[name] = take(values[name]) || setting[name];
}

function download(name, text) {
  const link = Object.assign(document.createElement("a"), { download: name, href: URL.createObjectURL(new Blob([text], { type: "text/csv" })) });
  link.click();
  URL.revokeObjectURL(link.href);
}

function listen() {
  byId("load").addEventListener("input", (event) => {
    ghost ??= drawn.rows;
    change({ load: Number(event.target.value) });
  });
  byId("load").addEventListener("change", () => (ghost = null));
  for (const id of ["scheme", "against", "order"]) byId(id).addEventListener("change", (event) => change({ [id]: event.target.value }));
  byId("machine").addEventListener("change", (event) => change({ machine: Math.floor(event.target.valueAsNumber) || log.procs }));
  byId("week").addEventListener("input", (event) => change({ week: Number(event.target.value) }));
  byId("reset").addEventListener("click", () => change({ ...first, log: setting.log, machine: log.procs, view: setting.view }));
  byId("log").addEventListener("change", (event) => open({ entry: data.logs.find((entry) => entry.name === event.target.value) }));
  byId("file").addEventListener("change", (event) => event.target.files[0] && take(event.target.files[0]));
  byId("cancel").addEventListener("click", async () => {
    latest++;
    await startWorker();
    busy(false);
    trouble("Cancelled.");
    if (log) await ask("log", own ?? { log: data.logs.find((entry) => entry.name === setting.log) });
  });
  byId("csv").addEventListener("click", async () => download(`${log.name}.csv`, await ask("csv", { setting: plain() })));
  byId("copy").addEventListener("click", async (event) => {
    await navigator.clipboard.writeText(location.href);
    event.target.textContent = own ? "Copied (the link does not hold your log)" : "Copied";
  });
  byId("views").addEventListener("click", (event) => event.target.dataset.view && change({ view: event.target.dataset.view }));
  byId("views").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const names = Object.keys(VIEWS);
    change({ view: names[(names.indexOf(setting.view) + step + names.length) % names.length] });
    byId("views").querySelector("[aria-selected=true]").focus();
  });
  for (const kind of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      document.body.classList.toggle("dropping", kind === "dragover");
      if (kind === "drop" && event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
    });
  }
  let wide = 0;
  new ResizeObserver(([{ contentRect }]) => {
    if (log && contentRect.width !== wide) update();
    wide = contentRect.width;
  }).observe(byId("panel"));
  window.addEventListener("hashchange", () => {
    recalled();
    const entry = data.logs.find((other) => other.name === setting.log);
    if (entry && entry.name !== log?.name) open({ entry });
    else change({});
  });
}

/** Read a file of the user; of a large one, say first what that takes. */
function take(file) {
  if (file.size > LARGE) trouble(`${file.name} has ${number(file.size / 1e6)} MB: reading it takes about ${duration(file.size / 20e6)} and ${number(file.size / 1e6)} MB of memory; it stays in this page.`);
  return open({ file });
}

async function main() {
  byId("version").textContent = data.version;
  byId("log").append(...data.logs.map((entry) => new Option(entry.title, entry.name)));
  for (const id of ["scheme", "against"]) byId(id).append(...Object.keys(data.schemes).map((name) => new Option(name, name)));
  byId("order").append(...Object.entries(ORDERS).map(([name, text]) => new Option(text, name)));
  for (const [name, text] of Object.entries(VIEWS)) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    button.setAttribute("role", "tab");
    button.setAttribute("aria-controls", "panel");
    button.dataset.view = name;
    byId("views").append(button);
  }
  recalled();
  const drawing = unpacked(byId("drawing").textContent).then((script) => new Promise((resolve) => {
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    document.head.append(Object.assign(document.createElement("script"), { src: address, onload: resolve }));
  }));
  await Promise.all([drawing, startWorker()]);
  listen();
  await open({ entry: data.logs.find((entry) => entry.name === setting.log) });
}

main();
