// A chart, which is drawn anew when its specification changes.
function render({ model, el }) {
  let drawn;
  const draw = async () => {
    drawn?.finalize();
    drawn = null;
    const spec = model.get("spec");
    if (!spec) el.replaceChildren();
    else try { drawn = await vegaEmbed(el, structuredClone(spec), model.get("options")); }
    catch (error) { el.textContent = error; }
  };
  model.on("change:spec", draw);
  return draw();
}
export default { render: listening(render) };
