"""The report: every figure and the ledger of every paper, in one HTML page that needs no network."""

import hashlib
import html
import json
import os
import platform
import re
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from types import ModuleType

import altair as alt
import vl_convert
from joblib import Parallel, delayed
from tqdm.auto import tqdm

from schedlab import __version__, charts, papers
from schedlab._runtime import compiling
from schedlab._runtime.paths import kept_script, replacing
from schedlab.charts._altair import VEGA_LITE
from schedlab.experiment import Store
from schedlab.papers import kept
from schedlab.papers.cards import NO_PAPER
from schedlab.papers.names import paper_in
from schedlab.show import card as cards
from schedlab.show.ledgers import LEDGER, VERDICT_STYLE, as_html, counted
from schedlab.show.ledgers import STYLE as LEDGER_STYLE
from schedlab.workload import archive

VERSIONS = ("schedlab", "numpy", "numba", "pandas", "altair")
STYLE = (
    """
:root { color-scheme: light dark; --ink: #1d2430; --paper: #fff; --edge: #d5d9df; --tint: #f6f7f9; --link: #124a7c;
  --note: #fff4d6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaef; --paper: #14171c; --edge: #3a4049; --tint: #1b1f26;
  --link: #8ab8e6; --note: #3a2f10; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; color: var(--ink); background: var(--paper);
  display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1rem; font-size: .82rem; line-height: 1.35;
  border-right: 1px solid var(--edge); background: var(--tint); }
nav ul { list-style: none; padding-left: .7rem; margin: .2rem 0; } nav > ul { padding-left: 0; }
#contents > summary { display: none; } nav li { margin: .2rem 0; } nav summary { cursor: pointer; font-weight: 600; }
a { color: var(--link); }
main { padding: 1rem 2rem 4rem; max-width: 72rem; }
h1, h2, h3 { line-height: 1.2; } section { border-top: 1px solid var(--edge); margin-top: 1rem; }
figure { margin: 1.5rem 0; } figcaption, .says { max-width: 48rem; }
svg.marks { max-width: 100%; height: auto; } .wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; margin: 1rem 0; }
figure th, figure td { border-bottom: 1px solid var(--edge); vertical-align: top; }
.note { background: var(--note); border-left: 4px solid #e69f00; padding: .5rem 1rem; }
.total { font-size: 1.25rem; } .total b { white-space: nowrap; }
.index { list-style: none; padding: 0; } .index li { margin: .3rem 0; }
.turned #front article :is(.lines, p.fine, p.fine ~ .tiles) { display: none; }
article { border-top: 1px solid var(--edge); margin-top: 1.5rem; }
article p { margin: .3rem 0; } #search { font: inherit; color: inherit; background: var(--tint); width: 100%;
  max-width: 28rem; padding: .4rem .7rem; border: 1px solid var(--edge); border-radius: .4rem; }
[hidden], .opening section { display: none; }
@media (max-width: 60rem) { body { display: block; } nav { height: auto;
  max-height: 80vh; z-index: 1; border-bottom: 1px solid var(--edge); padding: .5rem 1rem; font-size: .9rem; }
  #contents > summary { display: list-item; } main { padding: 1rem; } section [id] { scroll-margin-top: 3rem; } }
@media print { body { display: block; } nav { display: none; } figure, tr { break-inside: avoid; } }
"""
    + LEDGER_STYLE
    + VERDICT_STYLE
    # A claim is a block on a phone: in a table as wide as this one its verdict would be out of sight.
    + """
@media (max-width: 40rem) { .schedlab-ledger > table > thead, .schedlab-ledger td:empty { display: none !important; }
  .schedlab-ledger > table, .schedlab-ledger > table > tbody, .schedlab-ledger > table > tbody > tr,
  .schedlab-ledger > table > tbody > tr > td { display: block; width: auto !important; min-width: 0; padding: .1em 0; }
  .schedlab-ledger td.published::before { content: "Published: "; } .schedlab-ledger .trace { white-space: normal; }
  .schedlab-ledger td.id { font-weight: 600; } .schedlab-ledger details { overflow-x: auto; }
  figure table { font-size: .8rem; } figure :is(th, td) { padding: .3em .4em; } }
"""
)
# A page of a hundred charts opens at once: each is drawn when it is about to come into view, or before printing. On a
# narrow screen charts become narrower, instead of smaller, so that their text stays readable; a matrix whose words need
# more than the room becomes several, or has numbers for its words if these are few. What still scrolls sideways fades
# out at the edge where there is more.
EMBED = r"""const LETTER = 6.5, LINE = 14, BESIDE = 24;  // width of a letter, height of a line; letters beside a plot
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
// Names at the ends of lines that need more pixels than these become a legend.
const ATEND = 100, isAtEnd = one => one.encoding?.y?.field === 'label at';
const withLegend = (spec, rows) => {
  const names = (spec.layer || []).find(one => kind(one) === 'text' && isAtEnd(one));
  if (!names || wide(linesOf(names.encoding.text, rows)) < ATEND) return;
  const {field} = names.encoding.text;
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
});"""
# Each paper is a page of its own; without scripts all stand below one another.
PAGES = """const pages = [...document.querySelectorAll('[data-page]')], search = document.getElementById('search');
const turn = () => {
  const found = document.getElementById(location.hash.slice(1)) || pages[0];
  const page = found.closest('[data-page]') || pages[0];
  pages.forEach(one => { one.hidden = one !== page; });
  document.documentElement.className = 'turned';
  document.getElementById('contents').open = !matchMedia('(max-width: 60rem)').matches;
  if (found === page) window.scrollTo(0, 0); else found.scrollIntoView();
};
// Each paper begins with its wall, which is in the page once.
document.querySelectorAll('[data-wall]').forEach(one => {
  one.append(...document.getElementById(one.dataset.wall + '-wall').cloneNode(true).childNodes);
});
window.addEventListener('hashchange', turn);
turn();
const known = [...document.querySelectorAll('section h2, section .schedlab-title, section .statement')].map(one => {
  const at = one.closest('figure[id], section[id]'), paper = one.closest('[data-page]');
  const row = one.closest('tr'), name = row ? row.cells[0].textContent + ': ' : '';
  const number = one.closest('.top')?.querySelector('.number')?.textContent || '';
  const badges = (row || one.closest('.top'))?.querySelectorAll('.schedlab-badge') || [];
  const verdicts = [...badges].map(badge => badge.textContent).join(' ');
  const words = (number && number + ': ') + name + one.textContent;
  return {words, all: `${words} ${verdicts} ${paper.dataset.page}`.toLowerCase(),
    where: row ? paper.id + '-ledger' : at.id, paper: paper.dataset.page};
});
search.addEventListener('input', () => {
  const parts = search.value.toLowerCase().split(/\\s+/).filter(Boolean), list = document.getElementById('found');
  const holds = (text, part) => /^\\d+$/.test(part) ? RegExp('\\\\b' + part + '\\\\b').test(text) : text.includes(part);
  const hits = known.filter(one => parts.every(part => holds(one.all, part)));
  list.replaceChildren(...(parts.length ? hits.slice(0, 12) : []).map(one => {
    const [line, link, from] = ['li', 'a', 'small'].map(tag => document.createElement(tag));
    link.href = '#' + one.where;
    link.textContent = one.words;
    from.textContent = one.paper;
    line.append(link, document.createElement('br'), from);
    return line;
  }));
  if (parts.length && !hits.length) list.textContent = 'Nothing found.';
});"""
ABOUT = (
    "schedlab rebuilds the figures of five papers on parallel job scheduling from real logs, and checks what the "
    "papers say: each published number or statement is a row of a ledger, with what was measured and a verdict. "
    "Pictures and verdicts come from the full size, whose results are kept; rings are what this run simulated."
)
RULE = (
    "Each claim has one main check on one sample, and its verdict is that of this check at full size. A case supports "
    "the claim if its interval lies on the claimed side, beyond the noise stated beforehand; all intervals of a check "
    "hold jointly with 95 %. Some support, none contradicts, and the effect over all cases supports: reproduced. The "
    "effect over all cases contradicts, or some contradict and none supports: not reproduced. Else, some support and "
    "some contradict, or the claim holds under some readings of the paper only: in part. The intervals allow both: "
    "undecided. What cannot be measured here cannot be tested. A quick run only says whether it agrees with the full "
    "size."
)


MOST_CASES = 30  # of a claim; thousands would make half of the page
LEDGER_PIECE = "ledger"  # beside the pieces that are named by the numbers of figures
PAUSE = 1  # seconds between two looks at what is done, and before the progress bar appears
RELOADED = 5  # seconds after which a growing page reloads itself; writing it more often costs a tenth of a core
GROWING = "This page shows each figure as it is finished, and reloads itself until it is complete."
STOPPED = "This page is incomplete: the run was stopped before all figures were done."
NOT_YET = "Not done yet."


def figures(
    out: str | os.PathLike,
    size: str | None = None,
    progress: bool = True,
    only: Iterable[str] = (),
    keep: bool = False,
    processes: int | None = None,
) -> Path:
    """Rebuild every figure and ledger and write the page.

    The page grows: it appears with the first figure and is rewritten every few seconds. A run that stops early leaves
    what was done by then, and the page says so. If a paper fails, the others are still rebuilt; then its error is
    raised, with a note that names the paper and the figure.

    Parameters
    ----------
    out : path
        The page; its folder is made if missing. An existing page is replaced once the first figure is done.
    size : {"quick", "full"}, optional
        Default: the environment variable SCHEDLAB_SIZE, or quick.
    progress : bool
        Show a progress bar.
    only : names of papers
        Default: all.
    keep : bool
        Keep the results of a full-size run in data/results, to be shown beside quick ones.
    processes : int, optional
        How many papers are rebuilt at once, each in a process of its own. Default: one for each core, but only one
        with `keep`, since some results are measured times.
    """
    size = papers.chosen_size(size)
    if keep and size != "full":
        raise ValueError(f"only results of the full size are kept, got size {size!r}")
    modules = papers.modules(only)
    out = Path(out)
    out.parent.mkdir(parents=True, exist_ok=True)  # first, to fail early if the folder cannot be made
    count = min(len(modules), processes or (1 if keep else os.cpu_count()))
    with TemporaryDirectory() as folder:
        sections = [Section(paper, Path(folder)) for paper in modules]
        with _growing(out, sections, size, progress):
            if count == 1:
                failures = [section.build(size, keep, progress) for section in sections]
            else:
                workers = Parallel(count, return_as="generator_unordered", backend="loky", batch_size=1)
                names = [section.name for section in _in_turn(sections)]
                with warnings.catch_warnings():
                    # joblib replaces a process whose memory has grown, for instance by a paper's logs: that is fine.
                    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
                    failures = list(workers(delayed(_build)(name, folder, size, keep) for name in names))
            for error in filter(None, failures):
                raise error
        _write(out, sections, size)
    if size == "full" and (runs := papers.runs_folder()):
        Store(runs).prune(older_than="90 days")
    return out


def _in_turn(sections: list["Section"]) -> list["Section"]:
    """Return papers in the order in which processes take them, so that all end at about the same time.

    The first stays first, so that the page appears early. The others follow by the seconds that their kept full size
    took, longest first: short ones fill the gaps at the end.
    """
    made = {section.name: kept.made(section.name) for section in sections}
    first, *others = sections
    return [first, *sorted(others, key=lambda section: -(made[section.name] or {}).get("seconds", 0))]


def _build(name, folder, size, keep):
    """Build a paper's section in a process of its own; the calling process reports what is compiled."""
    (paper,) = papers.modules([name])
    section = Section(paper, Path(folder))
    compiling.tell(section.note_compiling)
    error = section.build(size, keep, progress=False)
    if error is not None:
        error.add_note("".join(traceback.format_exception(error)))  # else the traceback would stay in this process
    return error


@contextmanager
def _growing(out: Path, sections: list["Section"], size: str, progress: bool) -> Iterator[None]:
    """Rewrite the page as pieces are finished, until the block ends, and once more if the block fails."""
    over, errors = Event(), []

    def grow():
        shown, written = 0, -RELOADED
        while not over.wait(PAUSE):
            for group in dict.fromkeys(group for section in sections for group in section.compiled()):
                compiling.hear(group)
            found = sum(len(section.pieces()) for section in sections)
            bar.update(found - bar.n)
            if found > shown and time.monotonic() - written >= RELOADED:
                try:
                    _write(out, sections, size, GROWING)
                except Exception as error:  # the same error is raised when the final page is written
                    errors.append(error)
                    return
                if not shown and progress:
                    tqdm.write(f"{out} can be opened now; it grows until all papers are done", sys.stderr)
                shown, written = found, time.monotonic()

    total = sum(len(section.paper.FIGURES) + 1 for section in sections)
    with tqdm(total=total, desc="figures and ledgers", unit="", delay=PAUSE, disable=not progress) as bar:
        thread = Thread(target=grow, daemon=True)
        thread.start()
        try:
            yield
        except BaseException as error:
            over.set()
            thread.join()
            if any(section.pieces() for section in sections) and not errors:
                with suppress(Exception):  # the failure that stopped the run is the one to report
                    _write(out, sections, size, _not_whole(error))
            raise
        finally:
            over.set()
            thread.join()
        bar.update(total - bar.n)


def _not_whole(error):
    """Say why the page is incomplete, with the note of what failed if anything did."""
    notes = getattr(error, "__notes__", ())
    return f"This page is incomplete. {notes[0]} {type(error).__name__}: {error}" if notes else STOPPED


def _write(out, sections, size, note=""):
    with replacing(out) as part:
        part.write_text(_page(sections, size, note), encoding="utf-8")


def pictures(
    folder: str | os.PathLike, size: str | None = None, progress: bool = True, only: Iterable[str] = ()
) -> list[Path]:
    """Write the chart of every figure of some papers as ``PAPER-FIGURE.png``; return the files.

    Figures are drawn from what is kept, or simulated if nothing is.
    """
    written = []
    for paper in papers.modules(only):
        for function in paper.FIGURES:
            figure = function.as_kept() or function(size=size, progress=progress)
            if figure.chart is not None:
                path = Path(folder) / f"{paper.__name__.rpartition('.')[2]}-{figure.name}.png"
                charts.save(figure.chart, path)
                written.append(path)
    return written


class Section:
    """A paper in the report: its figures and its ledger, each a file in a folder once it is done."""

    def __init__(self, paper: ModuleType, folder: Path):
        self.paper, self.name = paper, paper_in(paper.__name__)
        self.folder = folder / self.name

    def build(self, size: str, keep: bool, progress: bool) -> Exception | None:
        """Rebuild every figure and the ledger; each goes into the folder at once, full-size runs into a store.

        Returns
        -------
        Exception or None
            The error that ended it early, with a note that names the paper and the figure.
        """
        with papers.keeping(size):
            return self._build(size, keep, progress)

    def _build(self, size, keep, progress):
        self.folder.mkdir(exist_ok=True)
        begin, built = time.perf_counter(), []
        try:
            for number, function in enumerate(self.paper.FIGURES):
                doing = function.__name__
                figure = function(size=size, progress=progress)
                built.append(figure)
                body = _figure(figure, self.name)
                about = {"title": f"{figure.number} {figure.title}".strip(), "name": figure.name}
                self._leave(f"{number:03}", **about, standins=figure.standins, body=body)
            doing = "the ledger"
            ledger = self.paper.claims(size, progress)
            if keep:
                seconds = time.perf_counter() - begin
                before = kept.ledger_of(self.name)
                ledger = ledger[list(LEDGER)]  # without the kept columns, which this run replaces
                for words in () if before is None else kept.moved(before, ledger):
                    tqdm.write(words)
                quick = self.paper.claims("quick", progress, ledger)[list(LEDGER)]  # agrees with what is kept now
                kept.keep(self.name, ledger, quick, built, seconds)
            wall = papers.Wall(self.paper, ledger).html(f"#{self.name}-").replace(cards.STYLE, "")
            shown = as_html(ledger, MOST_CASES).replace(LEDGER_STYLE + VERDICT_STYLE, "")  # it is in the page once
            body = _kept(self.name) + shown
            self._leave(LEDGER_PIECE, counts=counted(ledger), body=body, wall=wall)
        except Exception as error:  # any error: the other papers go on, and the page names it
            error.add_note(f"{self.paper.TITLE}: {doing} could not be made.")
            return error

    def note_compiling(self, group: str, *_) -> None:
        """Note that a group of kernels is being compiled, for the process that waits."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / f"{group}.compiling").touch()

    def compiled(self) -> list[str]:
        """Return the groups of kernels noted as being compiled."""
        return sorted(path.stem for path in self.folder.glob("*.compiling"))

    def _leave(self, piece, **content):
        with replacing(self.folder / f"{piece}.json") as part:
            part.write_text(json.dumps(content), encoding="utf-8")

    def pieces(self) -> list[Path]:
        """Return the files of the finished pieces."""
        return sorted(self.folder.glob("[!.]*.json"))

    def figures(self) -> list[dict]:
        """Return the figures that are done: name, title, stand-ins and body."""
        return [json.loads(path.read_text("utf-8")) for path in self.pieces() if path.stem != LEDGER_PIECE]

    def standins(self) -> list[str]:
        """Return the notes about logs that are not at hand, each once."""
        return list(dict.fromkeys(note for figure in self.figures() for note in figure["standins"]))

    def wall(self) -> str:
        """Return the paper's wall, if it is done."""
        ledger = self.ledger()
        return ledger["wall"] if ledger else ""

    def ledger(self) -> dict | None:
        """Return the ledger, if it is done: the counts of verdicts, the body, and the wall."""
        path = self.folder / f"{LEDGER_PIECE}.json"
        return json.loads(path.read_text("utf-8")) if path.exists() else None


def _page(sections, size, note):
    reload = f'<meta http-equiv="refresh" content="{RELOADED}">' if note == GROWING else ""
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>schedlab: papers rebuilt</title>',
            f'<meta name="viewport" content="width=device-width, initial-scale=1">{reload}',
            # Papers are laid out once their page is chosen; so the first page is there sooner.
            f"<style>{STYLE}</style>{cards.STYLE}<script>document.documentElement.className = 'opening'</script>",
            "</head><body>",
            _contents(sections),
            "<main>",
            _front(sections, size, note),
            *map(_section, sections),
            _traces(),
            "</main>",
            # Last, so that the text is there before half a megabyte of script is read.
            f"<script>window.look = {_json(_look())};\n{PAGES}</script><script>{script()}</script></body></html>\n",
        ]
    )


@cache
def script() -> str:
    """Return the script that draws the charts of a page, each as it comes into view."""
    about = f"{VEGA_LITE}-{version('vl-convert-python')}-{hashlib.sha256(EMBED.encode()).hexdigest()[:16]}"
    return kept_script(f"report-{about}.js", lambda: vl_convert.javascript_bundle(EMBED, vl_version=VEGA_LITE))


def _contents(sections):
    parts = [
        f"<li><details{' open' if len(sections) == 1 else ''}><summary>{_text(section.paper.TITLE)}</summary><ul>"
        f'<li><a href="#{section.name}">Figures and verdicts</a></li>'
        + "".join(f'<li><a href="#{section.name}-{one["name"]}">{_text(one["title"])}</a></li>' for one in figures)
        + f'<li><a href="#{section.name}-ledger">Ledger</a></li>'
        + "</ul></details></li>"
        for section in sections
        for figures in [section.figures()]
    ]
    links = f'<a href="#front">Summary</a><ul>{"".join(parts)}</ul><a href="#traces">Traces</a>'
    return f'<nav><details id="contents" open><summary>Contents</summary>{links}</details></nav>'


def _front(sections, size, note):
    in_order = sorted(sections, key=lambda section: section.name not in FIVE)
    return "".join(
        [
            '<header id="front" data-page="Summary"><h1>Papers on job scheduling, rebuilt</h1>',
            f'<p class="note">{_text(note)}</p>' if note else "",  # first, since only a part of the rest is there
            f'<div class="schedlab-wall"><p class="total">{_total(sections)}</p></div>',
            '<p><input id="search" type="search" placeholder="search figures and claims" aria-label="search"></p>',
            '<ul id="found"></ul>',
            f'<ul class="index schedlab-wall">{"".join(map(_entry, in_order))}</ul>',
            *map(_card, in_order),
            f'<p class="says">{_text(ABOUT)}</p>',
            f'<details><summary>How claims are judged</summary><p class="says">{_text(RULE)}</p></details>',
            f"<p>{_text(_settings(size))}</p></header>",
        ]
    )


FIVE = ("sabin2006", "silva2000", "kurian2003", "grudenic2010", "pascual2008")


def _total(sections):
    """Say in a line how the claims of the five papers fared, as far as their ledgers are done."""
    five = [section for section in sections if section.name in FIVE]
    ledgers = [ledger for section in five if (ledger := section.ledger())]
    if not ledgers:
        return _text(NOT_YET) if five else ""
    sums = {verdict: sum(ledger["counts"][verdict] for ledger in ledgers) for verdict in ledgers[0]["counts"]}
    return cards.counts(sums, "one paper" if len(ledgers) == 1 else f"{NUMBERS[len(ledgers)]} papers")


NUMBERS = ("no", "one", "two", "three", "four", "five")


def _entry(section):
    """Return a paper in a line of the front page, with its verdicts."""
    ledger = section.ledger()
    verdicts = cards.brief(ledger["counts"]) if ledger else NOT_YET
    return f'<li><a href="#{section.name}">{_text(section.paper.TITLE)}</a> {verdicts}</li>'


def _card(section):
    """Return a paper on the front page: what it is, what was found, its verdicts and the tiles of its figures.

    What has no figure, and what is beyond the paper, is on the paper's own page.
    """
    paper, notes = section.paper.PAPER, section.standins()
    warned = "".join(f'<p class="note">{_text(section.paper.TITLE)}: {_text(note)}</p>' for note in notes)
    return (
        f'<article><h2><a href="#{section.name}">{_text(section.paper.TITLE)}</a></h2>'
        f"<p>{_text(paper.authors)}, <em>{_text(paper.title)}</em>, {_text(paper.venue)} {paper.year}</p>"
        f'{warned}{_found(paper)}<div id="{section.name}-wall">{section.wall() or f"<p>{NOT_YET}</p>"}</div></article>'
    )


def _found(paper):
    return f"<ul>{''.join(f'<li>{_text(words)} ({_text(claim)}).</li>' for words, claim in paper.findings)}</ul>"


def _settings(size):
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    packages = ", ".join(f"{name} {__version__ if name == 'schedlab' else version(name)}" for name in VERSIONS)
    return (
        f"Made {made} with {packages} and Python {platform.python_version()}; what was simulated just now, in the "
        f"{size} size."
    )


def _section(section):
    ledger = section.ledger()
    notes = [f'<p class="note">{_text(note)}</p>' for note in section.standins()]
    parts = [
        f'<section id="{section.name}" data-page="{_text(section.paper.TITLE)}"><h2>{_text(section.paper.TITLE)}</h2>',
        f'<p class="says">{_said(section)} Here:</p>{_found(section.paper.PAPER)}',
        *notes,
        f'<div data-wall="{section.name}"></div>',
        f'<p><a href="#{section.name}-ledger">All claims, published beside measured</a></p>',
        *(figure["body"] for figure in section.figures()),
        f'<h3 id="{section.name}-ledger">Ledger: published and measured</h3>',
        ledger["body"] if ledger else f"<p>{NOT_YET}</p>",
        "</section>",
    ]
    return "".join(parts)


def _said(section):
    """Say what a paper claims; the arena is a study of our own."""
    claim = _text(section.paper.PAPER.says)
    return claim if section.name in NO_PAPER else f"The paper says: {claim}"


def _figure(card, paper):
    """Return a card as HTML; its chart is drawn as it comes into view."""
    key = f"{paper}-{card.name}"
    parts = [f'<figure id="{key}">{card.head()}']
    if card.chart is not None:
        spec = charts.specified(card.chart)
        text = _json(_packed(spec))
        height = f"min-height: {charts.height_of(spec):.0f}px"
        parts.append(f'<div class="chart" data-spec="{key}-spec" style="{height}"></div>')
        parts.append(f'<script type="application/json" id="{key}-spec">{text}</script>')
    below = CELL.sub(r'<\1 class="\2">', card.below())
    return "".join([*parts, below, "</figure>"]).replace(cards.STYLE, "")  # it is in the page once


# Of a cell in a table of pandas only the column is used by a rule of its style.
CELL = re.compile(r'\s*<(t[dh]) (?:id="[^"]*" )?class="\w+ (?:row|level)\d+ (col\d+)" *>')


def _packed(spec):
    """Return a chart without what all charts share, with short numbers, and with its tables by columns."""
    short = json.loads(json.dumps(spec), parse_float=lambda digits: float(f"{float(digits):.6g}"))
    if short.get("config") == _look():
        del short["config"]
    short["datasets"] = {name: _by_columns(rows) for name, rows in short.get("datasets", {}).items()}
    return short


def _by_columns(rows):
    """Turn the rows of a table into columns, of which each is a list, or one value if all are the same."""
    if not rows or any(row.keys() != rows[0].keys() for row in rows):
        return rows
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    same = {name: values[0] for name, values in columns.items() if _is_same(values)}
    return {"rows": len(rows), "columns": columns | same}


def _is_same(values):
    return not isinstance(values[0], list) and all(value == values[0] for value in values)


@cache
def _look():
    """Return what all charts share."""
    chart = charts.themed(alt.Chart().mark_point())
    return json.loads(json.dumps(charts.specified(chart)["config"]))


def _json(content):
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c")  # no word may end the script


def _kept(name):
    """Say how the kept results of the full size were made, if there are any."""
    made = kept.made(name)
    if made is None:
        return ""
    old = " The kernels have changed since." if kept.stale(name) else ""
    words = f"Full size: made {made['made']} with schedlab {made['schedlab']} on {made['machine']}.{old}"
    return f"<p>{_text(words)}</p>"


def _traces():
    thanked = archive.catalogue()["acknowledge"]
    rows = [f"<li>{_text(name)}: {_text(str(whom))}</li>" for name, whom in thanked.items() if archive.find(name)]
    thanks = "<p>Logs at hand, and whom to thank for them:</p><ul>" + "".join(rows) + "</ul>" if rows else ""
    return (
        '<section id="traces" data-page="Traces"><h2>Traces</h2><p>Logs come from the Parallel Workloads Archive: '
        "D. G. Feitelson, D. Tsafrir and D. Krakov, “Experience with using the Parallel Workloads Archive”, J. "
        f"Parallel Distrib. Comput. 74(10), 2014, pp. 2967-2982.</p>{thanks}</section>"
    )


def _text(words):
    return html.escape(words)
