// A button that shows and copies the code of a figure.
function render({ model, el }) {
  const button = document.createElement("button");
  button.className = "jupyter-button widget-button schedlab-code";
  button.style.width = "auto";
  const shown = document.createElement("pre");
  shown.style.cssText = "margin:.3em 0;padding:.5em;border:1px solid var(--jp-border-color2,#ccc);" +
    "color:var(--jp-ui-font-color1,#222);user-select:all";
  shown.hidden = true;
  const label = text => { button.textContent = text; };
  const fill = () => { shown.textContent = model.get("code"); };
  label("Copy as code");
  button.onclick = async () => {
    if (!shown.hidden) { shown.hidden = true; label("Copy as code"); return; }
    fill();
    shown.hidden = false;
    try { await navigator.clipboard.writeText(model.get("code")); label("Copied; hide"); }
    catch { getSelection().selectAllChildren(shown); label("Press Ctrl-C; hide"); }
  };
  model.on("change:code", fill);
  el.append(button, shown);
}
export default { render: listening(render) };
