// Live figures on a page: each control changes one value of the first setting, whose figures were made beforehand.
document.addEventListener('DOMContentLoaded', () => {
  for (const live of document.querySelectorAll('.live-page')) {
    const controls = [...live.querySelectorAll('select')];
    const show = key => {
      for (const place of live.querySelectorAll('.live-figure')) place.hidden = place.dataset.key !== key;
    };
    controls.forEach(control => control.addEventListener('change', () => {
      controls.filter(other => other !== control).forEach(other => { other.selectedIndex = other.dataset.first; });
      show(control.selectedIndex == control.dataset.first ? 'first' : `${control.name}=${control.selectedIndex}`);
    }));
  }
});
