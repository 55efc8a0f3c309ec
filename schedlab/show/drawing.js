// Draw the charts of a page.
//
// A page of a hundred charts opens at once: each is drawn when it is about to come into view, or before printing. On a
// narrow screen charts become narrower, instead of smaller, so that their text stays readable; a matrix whose words
// need more than the room becomes several, or has numbers for its words if these are few. What still scrolls sideways
// fades out at the edge where there is more.
const LETTER = 6.5, LINE = 14, BESIDE = 24;  // width of a letter, height of a line; letters beside a plot
const ruler = document.createElement('canvas').getContext('2d');
ruler.font = '12px sans-serif';
// Break words into lines, but not within short brackets, such as "(tau = 10 s)".
const whole = line => String(line).replace(/\([^()]{1,14}\)/g, part => part.replaceAll(' ', '\u00a0'));
const broken = (words, letters) => [words].flat().flatMap(
  line => whole(line).match(RegExp(`[^ ].{0,${letters - 1}}(?= |$)|[^ ]+`, 'g')) || []);
// Join lines that were broken for a wide page: the next word would not have fitted into the longest one. A line that
// begins with a number is a statement of its own, such as an entry of a key.
const joined = words => [words].flat().reduce((lines, line, place, all) => {
  const before = all[place - 1] || '', most = Math.max(...all.map(one => one.length));
  const fits = before.length < 60 || /^\d/.test(line) || before.length + line.split(' ')[0].length < most;
  return fits ? [...lines, line] : [...lines.slice(0, -1), `${lines.at(-1)} ${line}`];
}, []);
const longest = lines => Math.max(0, ...lines.map(line => line.length));
const kind = layer => layer.mark?.type || layer.mark;
const named = at => at?.field && ['nominal', 'ordinal'].includes(at.type);
const valuesOf = (at, rows) => {
  const values = [...new Set(rows.map(row => row[at.field]).filter(value => value != null))];
  return Array.isArray(at.sort) ? at.sort.filter(value => values.includes(value)) : values;
};
const linesOf = (at, rows) => valuesOf(at, rows).flatMap(value => String(value).split('\n'));
const wide = lines => Math.max(0, ...lines.map(line => ruler.measureText(line).width));  // in pixels
// On a phone, names of logs lose their version.
const short = name => String(name).replace(/-\d+(\.\d+)?-cln\b/g, '');
const inLines = (name, letters) => short(name).split('\n').flatMap(
  line => line.length > letters ? line.split(/(?<=,) /).flatMap(part => broken(part, letters)) : [line]);
// Write names in lines of so many letters.
const written = (names, letters) => {
  const lines = names.map(name => [name, inLines(name, letters)]);
  return `(${JSON.stringify(Object.fromEntries(lines))})[datum.label]`;
};
// Return how much the words of a column of a matrix need; 0 for other charts.
const isMatrix = spec => (spec.layer || []).some(one => kind(one) === 'rect' && named(one.encoding?.x));
const worded = spec => spec.layer.filter(
  one => kind(one) === 'text' && named(one.encoding?.x) && named(one.encoding.text));
const needed = (spec, rows) => isMatrix(spec)
  ? Math.max(0, ...worded(spec).map(one => wide(linesOf(one.encoding.text, rows)) + 4)) : 0;
// Write a number in each cell instead of words, with a key above: a matrix of few names stays one, as high as it was.
const CELLS = 30;  // a smaller matrix has its words
const isKeyed = (spec, rows) => {
  const cells = rows.map(row => row[worded(spec)[0].encoding.text.field]).filter(word => word != null);
  const isOfNames = cells.some(word => /\p{L}/u.test(word));  // a number needs no number in its place
  return isOfNames && cells.length >= CELLS && 3 * new Set(cells).size <= cells.length;
};
const keyed = (spec, rows) => {
  const layer = worded(spec)[0], {field} = layer.encoding.text, counts = new Map();
  for (const {[field]: word} of rows) if (word != null) counts.set(word, (counts.get(word) || 0) + 1);
  const names = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  spec.layer = spec.layer.filter(one => kind(one) !== 'text' || one === layer);
  layer.transform = [...(layer.transform || []),
    {calculate: `indexof(${JSON.stringify(names)}, datum[${JSON.stringify(field)}]) + 1`, as: 'key'}];
  layer.encoding.text = {field: 'key', type: 'nominal'};
  Object.assign(layer.mark, {dy: 0, fontSize: 12});
  const title = spec.title?.text || Array.isArray(spec.title) ? spec.title : {text: spec.title || ''};
  const lines = [''];
  names.forEach((name, place) => {
    const entry = `${place + 1} ${name}; `;
    if (lines.at(-1).length + entry.length > 42) lines.push('');
    lines[lines.length - 1] += entry;
  });
  lines.push(lines.pop().replace(/; $/, '.'));
  spec.title = {...title, subtitle: [...[title.subtitle || []].flat(), ...lines]};
};
// Turn a matrix whose columns need more than the room into several below one another, each with some of the columns.
const parts = new WeakSet();
const inParts = (spec, room, rows) => {
  const {x} = worded(spec)[0].encoding;
  const columns = valuesOf(x, rows), fit = Math.max(1, Math.floor(room / needed(spec, rows)));
  const most = Math.ceil(columns.length / Math.ceil(columns.length / fit));
  if (columns.length <= most) return;
  const {layer, height, transform} = spec;
  spec.vconcat = [];
  for (let first = 0; first < columns.length; first += most) {
    const shown = columns.slice(first, first + most), part = structuredClone({layer, height, transform});
    for (const one of part.layer) if (one.encoding?.x?.field === x.field) {
      one.transform = [{filter: {field: x.field, oneOf: shown}}, ...(one.transform || [])];
      one.encoding.x.sort = shown;
    }
    part.width = room * shown.length / most;
    parts.add(part);
    spec.vconcat.push(part);
  }
  for (const name of ['layer', 'height', 'width', 'transform', 'encoding']) delete spec[name];
};
// Turn the panels of a facet into charts of their own, below one another.
const unfolded = (spec, rows) => {
  const {facet, spec: inner} = spec, {field} = facet;
  spec.vconcat = valuesOf(facet, rows).map(value => ({
    ...structuredClone(inner), title: String(value), transform: [{filter: {field, equal: value}}]}));
  for (const name of ['facet', 'spec', 'columns', 'resolve']) delete spec[name];
};
// Names at the ends of lines that need more pixels than these become a legend; so do those of panels.
const ATEND = 100, isAtEnd = one => one.encoding?.y?.field === 'label at';
const withLegend = (spec, rows, most = ATEND) => {
  const atEnd = (spec.layer || []).filter(isAtEnd), names = atEnd.find(one => kind(one) === 'text');
  if (!names || wide(linesOf(names.encoding.text, rows)) < most) return;
  const {field} = atEnd.find(one => one.encoding.color).encoding.color;
  spec.layer = spec.layer.filter(one => !isAtEnd(one));
  for (const {encoding} of spec.layer) {
    if (encoding?.color?.field === field) encoding.color.legend = {orient: 'bottom', symbolOpacity: 1};
  }
};
// Numbers at bars that are narrower than these stand upright.
const upright = (spec, room, rows) => {
  for (const one of (spec.layer || []).filter(each => kind(each) === 'text' && each.encoding?.xOffset)) {
    const {x, xOffset} = one.encoding, bars = valuesOf(x, rows).length * valuesOf(xOffset, rows).length;
    if (room / bars > 40) continue;
    const up = one.mark.baseline === 'bottom';
    for (const {encoding} of spec.layer) if (encoding?.y?.scale?.padding) encoding.y.scale.padding = 44;
    Object.assign(one.mark, {angle: 270, baseline: 'middle', align: up ? 'left' : 'right', dx: up ? 6 : -6, dy: 0});
  }
};
// Make panels this wide, below one another, and break titles and names into lines.
window.narrow = (spec, room, rows) => {
  for (const many of ['hconcat', 'concat']) if (spec[many]) { spec.vconcat = spec[many]; delete spec[many]; }
  const {facet, encoding} = spec;
  if (facet?.column && !facet.row) spec.facet = facet.column;
  if (encoding?.column && !encoding.row) { encoding.facet = {...encoding.column, columns: 1}; delete encoding.column; }
  delete spec.columns;
  if (spec.facet?.field) spec.columns = 1;
  if (spec.facet?.field && needed(spec.spec, rows)) unfolded(spec, rows);
  if (spec.width) spec.width = room;
  withLegend(spec, rows);
  if (spec.facet && spec.spec) withLegend(spec.spec, rows, 0);
  upright(spec, room, rows);
  if (needed(spec, rows) > 0) { if (isKeyed(spec, rows)) keyed(spec, rows); else inParts(spec, room, rows); }
  for (const inner of [spec.spec, ...(spec.vconcat || []), ...(spec.layer || [])]) {
    if (inner) narrow(inner, parts.has(inner) ? inner.width : room, rows);
  }
  const across = spec.facet?.column?.sort?.length;
  if (across > 1 && spec.spec) spec.spec.width = room / across - 20;
  const {x, y} = encoding || {};
  if (named(x) && x.axis !== null) {
    const names = valuesOf(x, rows), step = room / names.length, lines = linesOf(x, rows);
    const deep = Math.max(...names.map(name => inLines(name, Infinity).length));
    if (longest(lines) > 4 && wide(lines) + 4 > step) {  // else names would overlap
      const top = x.axis?.orient === 'top', many = lines.length > names.length;  // slanted, these overlap too
      const angle = top || (many && 0.64 * step < LINE * deep) ? -90 : -40;
      x.axis = {...x.axis, labelAngle: angle, labelAlign: top ? 'left' : 'right', labelLimit: 150};
      if (top) Object.assign(x.axis, {labelExpr: 'datum.label', labelPadding: 4});
    }
  }
  const down = [spec, ...(spec.layer || [])].map(one => one.encoding?.y).find(named);
  if (down && down.axis !== null && linesOf(down, rows).some(line => line.length > BESIDE || short(line) !== line)) {
    const names = valuesOf(down, rows), most = Math.max(...names.map(name => inLines(name, BESIDE).length));
    down.axis = {...down.axis, labelExpr: written(names, BESIDE)};
    if (spec.height > 0) spec.height = Math.max(spec.height, names.length * (LINE * most + 4));
  }
  for (const at of [x, y]) if (at?.title) at.title = broken(at.title, Math.floor((at === x ? room : 220) / LETTER));
  for (const name of ['color', 'stroke', 'shape']) {
    const one = encoding?.[name], letters = Math.floor(room / LETTER);
    if (!one?.field || !one.legend) continue;
    if (one.title) one.title = broken(one.title, letters);
    if (one.legend.title) one.legend.title = broken(one.legend.title, letters);
    const names = one.scale?.domain || valuesOf(one, rows);
    if (named(one) && longest(names.map(String)) > letters) one.legend.labelExpr = written(names, letters);
  }
  for (const layer of spec.layer || []) delete layer.width;
  for (const [part, letters] of [['text', 38], ['subtitle', Math.max(42, Math.floor((room + 50) / 6))]]) {
    if (spec.title?.[part]) spec.title[part] = broken(joined(spec.title[part]), letters);
  }
  return spec;
};
// Names at an axis that have several lines are centred at their ticks.
const centred = place => place.querySelectorAll('.role-axis-label text[text-anchor="end"]').forEach(name => {
  const lines = name.querySelectorAll('tspan').length;
  if (lines > 1 && !/rotate/.test(name.getAttribute('transform'))) name.setAttribute('dy', -(lines - 1) * LINE / 2);
});
// Panels below one another fill more than a screen, so their legend is above the first one.
const isMany = spec => spec.facet || spec.encoding?.facet || spec.vconcat?.length > 1;
const withLegendAbove = spec => JSON.parse(JSON.stringify(spec), (name, value) => {
  if (name === 'legend' && value) value.orient = 'top';
  return value;
});
// A finger scrolls the page, so a chart cannot be moved or zoomed with it.
const isTouched = matchMedia('(hover: none)').matches;
const untouched = spec => {
  const isMoved = one => one.bind === 'scales';
  if (!isTouched || !spec.params?.some(isMoved)) return spec;
  spec.params = spec.params.filter(one => !isMoved(one));
  return JSON.parse(JSON.stringify(spec).replace(/(; )?drag to move, turn the wheel to zoom, [^";,]*/, ''));
};
// Words beside points that lie on one another, or on a point, move apart: up, down, or to the other side.
const covers = (one, box) => Math.min(one.right, box.right) - Math.max(one.left, box.left) > 1
  && Math.min(one.bottom, box.bottom) - Math.max(one.top, box.top) > 3;
const apart = place => {
  const boxOf = one => one.getBoundingClientRect();
  const words = [...place.querySelectorAll('.role-mark.mark-text text')].filter(
    word => !/rotate/.test(word.getAttribute('transform')));
  const points = [...place.querySelectorAll('.role-mark.mark-symbol path')].map(boxOf), seen = [];
  for (const word of words) {
    const at = boxOf(word), plot = word.closest('.role-frame, .role-scope')?.querySelector('path.background');
    const over = {start: -at.width - 18, end: at.width + 18}[word.getAttribute('text-anchor')] || 0;
    const by = ([x, y]) => ({left: at.left + x, right: at.right + x, top: at.top + y, bottom: at.bottom + y});
    const cost = move => {
      const box = by(move), frame = plot && boxOf(plot), out = frame && (move[0] || move[1])
        && (box.left < frame.left || (move[0] && box.right > frame.right) || box.bottom > frame.bottom);
      return 2 * seen.filter(one => covers(one, box)).length + points.filter(one => covers(one, box)).length
        + (out ? 5 : 0);
    };
    const moves = [[0, 0], [0, -12], [0, 12], [over, 0], [over, -12], [over, 12], [0, -24], [0, 24]];
    const costs = moves.map(cost), [x, y] = moves[costs.indexOf(Math.min(...costs))];
    if (x) word.setAttribute('dx', x);
    if (y) word.setAttribute('dy', y);
    seen.push(by([x, y]));
  }
};
// Whether a box has more to its sides.
const SIDES = `.more-right { mask-image: linear-gradient(to left, transparent, #000 2.5rem); }
.more-left { mask-image: linear-gradient(to right, transparent, #000 2.5rem); }
.more-left.more-right { mask-image: linear-gradient(to right, transparent, #000 2.5rem calc(100% - 2.5rem),
  transparent); }
@media print { .more-left, .more-right { mask-image: none !important; } }`;
const sides = box => {
  const more = ['auto', 'scroll'].includes(getComputedStyle(box).overflowX) ? box.scrollWidth - box.clientWidth : 0;
  box.classList.toggle('more-left', more > 4 && box.scrollLeft > 4);
  box.classList.toggle('more-right', more > 4 && box.scrollLeft < more - 4);
};
// No text is under 12 px; on a narrow page, legends are listed line by line.
const sized = (name, value) => /fontSize$/i.test(name) && value < 12 ? 12 : value;
window.legible = (name, value) => {
  if (name === 'legend' && value) { delete value.columns; value.labelLimit = 280; }
  return sized(name, value);
};
// Tables come by columns, each a list or one value of all rows; see `_packed` in schedlab/show/report.py.
window.unpacked = spec => {
  spec.config ||= window.look ? structuredClone(look) : {};
  for (const [name, table] of Object.entries(spec.datasets || {})) if (!Array.isArray(table)) {
    const columns = Object.entries(table.columns);
    spec.datasets[name] = Array.from({length: table.rows}, (_, row) => Object.fromEntries(
      columns.map(([column, values]) => [column, Array.isArray(values) ? values[row] : values])));
  }
  return spec;
};
window.draw = async place => {
  if (place.dataset.drawn) return;
  place.dataset.drawn = 'yes';
  const text = document.getElementById(place.dataset.spec).textContent, full = place.clientWidth;
  const embed = spec => vegaEmbed(place, spec, {actions: false, renderer: 'svg'});
  try {
    if (full >= 700) await embed(JSON.parse(JSON.stringify(untouched(unpacked(JSON.parse(text)))), sized));
    let room = full - 90;
    for (let tries = 0; full < 700 && tries < 5; tries += 1) {  // labels take more or less of the width
      let spec = JSON.parse(JSON.stringify(untouched(unpacked(JSON.parse(text)))), legible);
      narrow(spec, room, Object.values(spec.datasets || {}).flat());
      spec.config.legend = {...spec.config.legend, columns: 1};
      if (isMany(spec)) spec = withLegendAbove(spec);
      spec.config.text = {fontSize: 12, ...spec.config.text};
      spec.config.axisX = {labelSeparation: 6, ...spec.config.axisX};
      await embed(spec);
      apart(place);
      const spare = full - place.querySelector('svg.marks').viewBox.baseVal.width;
      if (spare >= 0 && spare < 30) break;
      room = Math.max(80, room + spare);
    }
    centred(place);
    place.style.minHeight = '';
    const drawn = place.querySelector('svg.marks');
    if (drawn.viewBox.baseVal.width > full + 5) {
      Object.assign(place.style, {display: 'block', overflowX: 'auto'});
      drawn.style.maxWidth = 'none';
    }
    sides(place);
  } catch (error) { place.textContent = error; }
};
window.addEventListener('DOMContentLoaded', () => {
  const places = [...document.querySelectorAll('.chart')];
  const watch = new IntersectionObserver(
    seen => seen.filter(one => one.isIntersecting).forEach(one => { watch.unobserve(one.target); draw(one.target); }),
    {rootMargin: '600px'});
  places.forEach(place => watch.observe(place));
  document.head.insertAdjacentHTML('beforeend', `<style>${SIDES}</style>`);
  const boxes = new ResizeObserver(list => list.forEach(one => sides(one.target)));
  document.querySelectorAll('main div, main details, main pre').forEach(box => boxes.observe(box));
  document.addEventListener('scroll', event => { if (event.target !== document) sides(event.target); },
    {capture: true, passive: true});
  window.addEventListener('beforeprint', () => {
    document.querySelectorAll('[data-page]').forEach(page => { page.hidden = false; });
    places.forEach(draw);
  });
});
