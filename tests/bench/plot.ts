/** One line of a chart: a name, and what was measured at which size. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [size: number, value: number])[];
}

/** Lines over sizes; both scales are logarithmic, so that a straight line is a power. */
export interface Chart {
  readonly title: string;
  /** What grows. */
  readonly sizes: string;
  /** The unit of the values, `ms` or `MB`. */
  readonly unit: string;
  readonly series: readonly Series[];
}

const WIDTH = 400;
const HEIGHT = 330;
const LEFT = 52;
/** Around all charts. */
const MARGIN = 8;
const RIGHT = 82;
const TOP = 34;
const BOTTOM = 40;
const CHARTS_IN_A_ROW = 3;
/** Names at the ends of lines need so much room. */
const LINE_HEIGHT = 12;
/** Told apart by people who see few colours, too (Okabe and Ito). */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#333333"];

/** The charts beside and below one another, as an SVG document on white. */
export function svgOf(charts: readonly Chart[]): string {
  const rows = Math.ceil(charts.length / CHARTS_IN_A_ROW);
  const [width, height] = [WIDTH * Math.min(charts.length, CHARTS_IN_A_ROW), HEIGHT * rows];
  const drawn = charts.map((chart, at) => {
    const x = (at % CHARTS_IN_A_ROW) * WIDTH;
    const y = Math.floor(at / CHARTS_IN_A_ROW) * HEIGHT;
    return `<g transform="translate(${x} ${y})">\n${drawChart(chart)}\n</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-MARGIN} 0 ${width + MARGIN} ${height}"` +
      ` font-family="sans-serif" font-size="11" fill="#333">`,
    "<title>Time and memory by how much there is</title>",
    `<rect x="${-MARGIN}" width="${width + MARGIN}" height="${height}" fill="#fff"/>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

/** Places on one axis: powers of ten, and where a value stands. */
interface Axis {
  readonly ticks: readonly number[];
  at(value: number): number;
}

function drawChart({ title, sizes, unit, series }: Chart): string {
  const points = series.flatMap((each) => each.points);
  const across = axisOf(
    points.map(([size]) => size),
    [LEFT, WIDTH - RIGHT],
  );
  const up = axisOf(
    points.map(([, value]) => value),
    [HEIGHT - BOTTOM, TOP],
  );
  const middle = (LEFT + WIDTH - RIGHT) / 2;
  return [
    `<text x="${LEFT}" y="18" font-size="13" font-weight="bold">${escaped(title)}</text>`,
    ...up.ticks.map((tick) => {
      const y = fixed(up.at(tick));
      return (
        `<path d="M${LEFT} ${y}H${WIDTH - RIGHT}" stroke="#ddd"/>` +
        `<text x="${LEFT - 6}" y="${y}" dy="4" text-anchor="end">${labelOf(tick)} ${unit}</text>`
      );
    }),
    ...across.ticks.map((tick) => {
      const x = fixed(across.at(tick));
      const y = HEIGHT - BOTTOM + 16;
      return `<text x="${x}" y="${y}" text-anchor="middle">${labelOf(tick)}</text>`;
    }),
    `<text x="${middle}" y="${HEIGHT - 8}" text-anchor="middle">${escaped(sizes)}</text>`,
    ...drawLines(series, across, up),
  ].join("\n");
}

function drawLines(series: readonly Series[], across: Axis, up: Axis): string[] {
  const colourOf = (name: string) => {
    return COLOURS[series.findIndex((each) => each.name === name) % COLOURS.length] ?? "#000";
  };
  const lines = series.map(({ name, points }) => {
    const places = points.map(([size, value]) => [across.at(size), up.at(value)] as const);
    const path = places.map(([x, y], at) => `${at === 0 ? "M" : "L"}${fixed(x)} ${fixed(y)}`);
    const colour = colourOf(name);
    const dots = places.map(
      ([x, y]) => `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="2.5" fill="${colour}"/>`,
    );
    return `<path d="${path.join("")}" fill="none" stroke="${colour}"/>${dots.join("")}`;
  });
  const names = apart(series.map(({ name, points }) => ({ name, y: up.at(lastOf(points)) })));
  const x = WIDTH - RIGHT + 6;
  return [
    ...lines,
    ...names.map(({ name, y }) => {
      const place = `x="${x}" y="${fixed(y)}" dy="4" fill="${colourOf(name)}"`;
      return `<text ${place}>${escaped(name)}</text>`;
    }),
  ];
}

function lastOf(points: Series["points"]): number {
  return points.at(-1)?.[1] ?? 1;
}

/** Names one below the other where their lines end at one height. */
function apart(names: readonly { readonly name: string; readonly y: number }[]) {
  let above = Number.NEGATIVE_INFINITY;
  return [...names]
    .sort((one, other) => one.y - other.y)
    .map(({ name, y }) => {
      above = Math.max(y, above + LINE_HEIGHT);
      return { name, y: above };
    });
}

function axisOf(values: readonly number[], [from, to]: readonly [number, number]): Axis {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(Math.ceil(Math.log10(Math.max(...values))), low + 1);
  return {
    ticks: Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at)),
    at: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from),
  };
}

function labelOf(tick: number): string {
  return tick >= 1 ? tick.toLocaleString("en-US") : String(Number(tick.toPrecision(1)));
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
