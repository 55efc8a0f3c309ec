const pages = [...document.querySelectorAll('[data-page]')], search = document.getElementById('search');
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
  const parts = search.value.toLowerCase().split(/\s+/).filter(Boolean), list = document.getElementById('found');
  const holds = (text, part) => /^\d+$/.test(part) ? RegExp('\\b' + part + '\\b').test(text) : text.includes(part);
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
});
