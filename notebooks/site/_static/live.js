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

// The lines under the results of a search are fetched from the pages, which browsers refuse for files of the disk.
if (location.protocol === 'file:') DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
