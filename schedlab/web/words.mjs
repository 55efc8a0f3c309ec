// Numbers in words, as `schedlab.show` writes them.

export const number = (value, digits = 3) =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(digits)));

/** The unit in which a duration is readable, and its seconds. */
export function unitOf(seconds) {
  return [["days", 86400], ["h", 3600], ["min", 60]].find(([, unit]) => seconds >= 2 * unit) ?? ["s", 1];
}

export function duration(seconds) {
  const [name, unit] = unitOf(seconds);
  return `${number(seconds / unit)} ${name}`;
}

/** Which part of a Gantt chart is drawn, if it is not all of it. */
export function largest({ shown, all, share }, what) {
  const part = `the ${number(shown)} largest of ${number(all)} ${what}, ${number(100 * share)} % of the work`;
  return shown < all ? [part] : [];
}
