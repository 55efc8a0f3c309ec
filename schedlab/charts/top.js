// When all cells are run, JupyterLab makes the last one active and goes there. Until the reader scrolls, go back; a few
// times, since it comes to the last cell only when those before have their heights.
requestAnimationFrame(() => {  // by then, the element is on the page
    const cell = element.closest(".jp-Cell"), view = element.closest(".jp-WindowedPanel-outer");
    const active = view?.querySelector(".jp-Cell.jp-mod-active");
    if (!view || active === cell || active === cell.nextElementSibling) return;
    const end = performance.now() + 5000, stop = new AbortController();
    for (const kind of ["wheel", "pointerdown", "keydown"])
        window.addEventListener(kind, () => stop.abort(), {signal: stop.signal, capture: true});
    const back = () => {
        if (stop.signal.aborted) return;
        view.scrollTop = 0;
        if (performance.now() < end) requestAnimationFrame(back);
        else stop.abort();
    };
    back();
});
