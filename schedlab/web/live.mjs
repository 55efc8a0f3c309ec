// Live figures of the site whose workload is in the page: each move of a control simulates it again.

import { started } from "./office.mjs";
import { duration, largest, number } from "./words.mjs";

const LINES = /.{1,110}(, |$)/g; // of a subtitle
const DRAG = "drag to move, turn the wheel to zoom, double-click to go back";
const DAY = 864e5; // in milliseconds
const TIMES = ["wait_time", "turnaround"];
const plots = (spec) => spec.concat ?? spec.hconcat ?? spec.vconcat ?? [spec];
let office = null; // of all figures of a page

/** Let the worker do something; what fails is said in a status. */
async function withWorker(status, act) {
  try {
    office ??= started(window.schedlabParts, (message) => (status.textContent = message));
    await act((await office).ask);
  } catch (error) {
    status.textContent = error.message;
  }
}

/** Let a figure simulate; until it is first moved it is the one that Python drew. */
function live(place) {
  const recipe = JSON.parse(place.querySelector("script.recipe").textContent);
  const [chart, text] = [".chart", ".chart + script"].map((part) => place.querySelector(part));
  const drawn = JSON.parse(text.textContent);
  const controls = [...place.querySelectorAll("select, input")];
  const status = place.querySelector("[role=status]");
  let [latest, running, before] = [0, false, null];

  const option = (control) => control.dataset.texts?.split("|")[control.value] ?? control.selectedOptions[0].text;

  /** What the recipe says of a part for the present controls. */
  function chosen({ of, values }) {
    return values[of.map((name) => controls.find((control) => control.name === name).value).join()];
  }

  const colon = (control) => (/^[\d.,]+$/.test(option(control)) ? "" : ":");
  const settingLines = () =>
    controls.map((control) => `${control.dataset.label}${colon(control)} ${option(control)}`).join(", ").match(LINES);

  function request() {
    const asked = { ...recipe.logs[chosen(recipe.log)], load: chosen(recipe.load) };
    if (recipe.kind === "day") {
      const { title, panel, rules } = chosen(recipe.scheme);
      const [sweeps, breakdown, alone, day] = ["sweeps", "breakdown", "alone", "day"].map((of) => chosen(recipe[of]));
      return { ...asked, title, panel, rules, sweeps, breakdown, alone, day };
    }
    const sides = chosen(recipe.sides).map((place) => recipe.schemes[place]);
    return { ...asked, sides, tau: chosen(recipe.tau), columns: recipe.columns, high: plots(drawn)[0].height };
  }

  async function update() {
    latest += 1;
    if (running) return;
    running = true;
    status.textContent = "Simulating …";
    await withWorker(status, async (ask) => {
      for (let done = 0; done !== latest; ) {
        done = latest;
        const asked = request();
        const spec = shows[recipe.kind](structuredClone(drawn), asked, await ask(recipe.kind, asked));
        chart.style.minHeight = `${chart.clientHeight}px`;
        delete chart.dataset.drawn;
        text.textContent = JSON.stringify(spec).replaceAll("</", "<\\/");
        await window.draw(chart);
      }
      status.textContent = "";
    });
    running = false;
  }

  const shows = {
    figure(spec, { log, sides, upTo }, { rows, means: values }) {
      const written = TIMES.includes(recipe.columns[0]) ? duration : number;
      const means = values.map(([name, mean]) => `${written(mean)} under ${recipe.short[name] ?? name}`);
      spec.title.text = `${recipe.title}: ${means.join(recipe.columns.length > 1 ? "; " : ", ")}`;
      spec.title.subtitle = [`${log.title}, ${log.jobs.toLocaleString("en")} jobs`, ...settingLines()];
      const colours = { domain: sides.map(({ name }) => name), range: sides.map(({ colour }) => colour) };
      plots(spec).forEach((plot, i) => {
        for (const { encoding } of plot.layer) {
          if (encoding.color) encoding.color.scale = colours;
          encoding.x.scale.domain[1] = upTo[i];
        }
        const [line] = plot.layer;
        const thin = { ...line, data: { values: before?.[i] ?? [] } };
        thin.mark = { ...line.mark, strokeWidth: 1, opacity: 0.6 };
        plot.layer = [thin, ...plot.layer];
        spec.datasets[plot.data.name] = rows[i];
      });
      before ??= rows;
      return spec;
    },

    day(spec, { title, panel, day }, { charts, begin, clock, gains }) {
      const [first] = spec.title.text.match(/\d+$/);
      spec.title.text = `${title} on day ${day}`;
      spec.vconcat[1].title.text = panel;
      const drawnOf = (chart, i) => largest(chart, "pieces").map((part) => `${spec.vconcat[i].title.text}: ${part}`);
      spec.title.subtitle = [spec.title.subtitle[0].split(";")[0], ...charts.flatMap(drawnOf), DRAG, ...settingLines()];
      const unix = (seconds) => (clock + seconds) * 1000;
      const words = (milliseconds) => new Date(milliseconds).toISOString().slice(0, 19).replace("T", " ");
      spec.vconcat.forEach((plot, i) => {
        const [held, names] = plot.layer;
        const { x, y } = held.encoding;
        x.scale.domain = x.scale.domain.map((at) => at + (day - first) * DAY);
        const [from, until] = [0, DAY].map((later) => words(unix(begin) + later).slice(0, 10));
        if (x.title) x.title = x.title.replace(/\d{4}-.*?(?= \(|$)/, `${from} to ${until}`);
        const rows = charts[i].rows.map((row) => {
          const times = { begin: unix(row.begin), end: unix(row.end), submit: words(unix(row.submit)) };
          return { ...row, ...times };
        });
        const perPixel = ({ scale: { domain } }, pixels) => (domain[1] - domain[0]) / pixels;
        const [wide, high] = [perPixel(x, plot.width), perPixel(y, plot.height)];
        const [letter, line] = recipe.letters;
        const isLarge = ({ job, begin, end, low, high: top }) =>
          (end - begin) / wide >= letter * `${job}`.length + 2 && (top - low) / high >= line + 1;
        spec.datasets[held.data.name] = rows;
        spec.datasets[names.data.name] = rows.filter(isLarge).map(({ job, begin, end, low, high: top, color }) => {
          const at = { middle: (begin + end) / 2, center: (low + top) / 2 };
          return { words: `${job}`, ...at, ink: recipe.inks[color] };
        });
      });
      for (const { cells } of place.querySelectorAll("tbody tr")) {
        const [, ...values] = gains.find(([name]) => name === cells[0].textContent);
        const written = values.map((value) => (Number.isFinite(value) ? number(value).replace("-", "−") : "–"));
        written.forEach((value, i) => (cells[i + 1].textContent = value));
      }
      return spec;
    },
  };

  for (const control of controls) {
    control.addEventListener("input", update);
    control.addEventListener("change", () => (before = null));
    control.disabled = false;
  }
}

/** Let a card simulate runs again, and say whether they give the values that they gave in Python. */
function again(place) {
  const { logs, runs } = JSON.parse(place.querySelector("script.recipe").textContent);
  const [button, status, wide] = ["button", "[role=status]", ".wide"].map((part) => place.querySelector(part));
  button.addEventListener("click", async () => {
    button.disabled = true;
    wide.hidden = false;
    let differing = 0;
    await withWorker(status, async (ask) => {
      for (const [i, { log, values, ...run }] of runs.entries()) {
        status.textContent = `Simulating run ${i + 1} of ${runs.length} …`;
        const measured = await ask("again", { ...run, log: logs[log] });
        Object.entries(values).forEach(([name, value], column) => {
          differing += !(Math.abs(measured[name] - value) <= 1e-9 * Math.abs(value));
          wide.querySelectorAll("tr")[i + 1].cells[2 * column + 2].textContent = number(measured[name]);
        });
      }
      status.textContent = `Simulated just now, in this page: ${differing || "no"} values differ from Python’s.`;
    });
    button.disabled = false;
  });
  button.disabled = false;
}

for (const place of document.querySelectorAll(".live-simulated")) live(place);
for (const place of document.querySelectorAll(".card-again")) again(place);
