// Live figures on a page: each control changes one value of the first setting, whose figures were made beforehand.
document.addEventListener('DOMContentLoaded', () => {
  for (const live of document.querySelectorAll('.live-page')) {
    const controls = [...live.querySelectorAll('select, input')];
    const say = control => {
      const words = control.dataset.texts?.split('|')[control.value];
      if (words !== undefined) control.nextElementSibling.textContent = words;
    };
    controls.forEach(control => control.addEventListener('input', () => {
      controls.filter(other => other !== control).forEach(other => { other.value = other.dataset.first; });
      controls.forEach(say);
      const key = control.value === control.dataset.first ? 'first' : `${control.name}=${control.value}`;
      for (const place of live.querySelectorAll('.live-figure')) place.hidden = place.dataset.key !== key;
    }));
  }
});
