// anywidget drops all messages to a widget whose script took more than two seconds to load, as in a notebook full of
// charts on a busy machine: sliders would move nothing. So these widgets take their messages as all others do.
// oxlint-disable-next-line no-unused-vars -- chart.js and code.js come after it
const listening = render => context => {
  const { model } = context;
  const listen = whole => {
    model.off("change", listen);
    whole.comm?.on_msg(Object.getPrototypeOf(whole.constructor.prototype)._handle_comm_msg.bind(whole));
  };
  model.on("change", listen);
  model.set("listening", true);  // makes the model known to `listen`
  return render(context);
};
