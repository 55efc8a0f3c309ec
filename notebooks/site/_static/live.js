// Live figures on a page: the figures of all combinations were made beforehand, and the chosen one is shown.
document.addEventListener('DOMContentLoaded', () => {
  for (const live of document.querySelectorAll('.live-page')) {
    const controls = [...live.querySelectorAll('select, input')];
    const say = control => {
      const words = control.dataset.texts?.split('|')[control.value];
      if (words !== undefined) control.nextElementSibling.textContent = words;
    };
    controls.forEach(control => control.addEventListener('input', () => {
      say(control);
      const key = controls.map(each => `${each.name}=${each.value}`).join(' ');
      for (const place of live.querySelectorAll('.live-figure')) place.hidden = place.dataset.key !== key;
    }));
  }
});

// What simulates in the page is large: it comes only where there are some.
document.addEventListener('DOMContentLoaded', () => {
  if (!document.querySelector('.live-simulated, .card-again')) return;
  const here = document.querySelector('script[src*="live.js"]').src;
  document.head.append(Object.assign(document.createElement('script'), {src: here.replace('live.js', 'simulate.js')}));
});

// A wide table scrolls by itself: the text around it stays where it is, on a phone, too.
document.addEventListener('DOMContentLoaded', () => {
  for (const table of document.querySelectorAll('.cell_output table:not(.schedlab-ledger > table)')) {
    const box = document.createElement('div');
    box.className = 'wide';
    table.replaceWith(box);
    box.append(table);
  }
});

// Under each result of a search stands the text around the word. Sphinx looks for its stem, which the page need not have
// ("easi" for EASY), and counts blanks. Files of the disk cannot be fetched: there, results have no text.
document.addEventListener('DOMContentLoaded', () => {
  if (location.protocol === 'file:') DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  const {htmlToText, makeSearchSummary} = Search;
  Search.htmlToText = (html, anchor) => htmlToText(html, anchor).replace(/\s+/g, ' ');
  Search.makeSearchSummary = (html, stems, anchor) => {
    const text = Search.htmlToText(html, anchor).toLowerCase();
    const within = stem => text.includes(stem) || stem.length < 3 ? stem : within(stem.slice(0, -1));
    return makeSearchSummary(html, [...stems].map(within), anchor);
  };
});
