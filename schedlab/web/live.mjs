// Live figures of the site whose workload is in the page: each move of a control simulates it again.

import { started } from "./office.mjs";
import { duration, number } from "./words.mjs";

const LINES = /.{1,110}(, |$)/g; // of a subtitle
const TIMES = ["wait_time", "turnaround"];
const plots = (spec) => spec.concat ?? spec.hconcat ?? spec.vconcat ?? [spec];
let office = null; // of all figures of a page

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

  function request() {
    const { log, upTo } = recipe.logs[chosen(recipe.log)];
    const { columns } = recipe;
    const sides = chosen(recipe.sides).map((place) => recipe.schemes[place]);
    const { height } = plots(drawn)[0];
    return { log, load: chosen(recipe.load), sides, tau: chosen(recipe.tau), columns, upTo, high: height };
  }

  async function update() {
    latest += 1;
    if (running) return;
    running = true;
    status.textContent = "Simulating …";
    try {
      office ??= started(window.schedlabParts, (message) => (status.textContent = message));
      const { ask } = await office;
      for (let done = 0; done !== latest; ) {
        done = latest;
        const asked = request();
        show(asked, await ask("figure", asked));
        await window.draw(chart);
      }
      status.textContent = "";
    } catch (error) {
      status.textContent = error.message;
    }
    running = false;
  }

  function show({ log, sides, upTo }, { rows, facts }) {
    const spec = structuredClone(drawn);
    const written = TIMES.includes(recipe.columns[0]) ? duration : number;
    const means = facts.map(({ name, mean }) => `${written(mean)} under ${recipe.short[name] ?? name}`);
    spec.title.text = `${recipe.title}: ${means.join(recipe.columns.length > 1 ? "; " : ", ")}`;
    const colon = (control) => (/^[\d.,]+$/.test(option(control)) ? "" : ":");
    const worded = (control) => `${control.dataset.label}${colon(control)} ${option(control)}`;
    const setting = controls.map(worded).join(", ").match(LINES);
    spec.title.subtitle = [`${log.title}, ${log.jobs.toLocaleString("en")} jobs`, ...setting];
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
    chart.style.minHeight = `${chart.clientHeight}px`;
    delete chart.dataset.drawn;
    text.textContent = JSON.stringify(spec).replaceAll("</", "<\\/");
  }

  for (const control of controls) {
    control.addEventListener("input", update);
    control.addEventListener("change", () => (before = null));
  }
  for (const control of controls) control.disabled = false;
}

for (const place of document.querySelectorAll(".live-simulated")) live(place);
