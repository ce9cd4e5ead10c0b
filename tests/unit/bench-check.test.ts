import { expect, test } from "bun:test";
import {
  COLLAPSED_BY,
  RATIOS,
  readRecorded,
  recordedIn,
  UNFINISHED,
  worseThanRecorded,
} from "../bench/check.ts";
import { svgOf } from "../bench/plot.ts";
import type { Figure, Ratio } from "../bench/row.ts";
import type { Finished } from "../bench/table.ts";

function finished(name: string, ...ratios: readonly (Ratio | undefined)[]): Finished {
  const figures = ratios.map(
    (ratio): Figure => ({ figure: "", target: "", verdict: "met", ...(ratio && { ratio }) }),
  );
  const row = { name, run: async () => ({ figures: [], notes: [] }) };
  return { row, result: { figures, notes: [] } };
}

const read = (value: number): Ratio => ({
  name: "read beside a bare server",
  value,
  better: "higher",
});
const pushOne = (value: number): Ratio => ({
  name: "push-one beside a bare commit",
  value,
  better: "lower",
});

const RECORDED = new Map([
  ["read beside a bare server", 2.32],
  ["push-one beside a bare commit", 4.54],
]);

test("each ratio of the benchmark is recorded, once, in the document that tells it", async () => {
  const recorded = await readRecorded();
  for (const name of Object.keys(RATIOS)) expect(recorded.get(name)).toBeGreaterThan(0);
  const rows = new Bun.Glob("*.ts").scan(`${import.meta.dir}/../bench/rows`);
  for await (const file of rows) {
    const text = await Bun.file(`${import.meta.dir}/../bench/rows/${file}`).text();
    for (const [, name = ""] of text.matchAll(/name: "([^"]* beside [^"]*)"/g)) {
      expect([...recorded.keys()]).toContain(name);
    }
  }
});

test("a ratio that no row tells, or two, is no record", async () => {
  const document = await Bun.file(`${import.meta.dir}/../../docs/measured.md`).text();
  expect(recordedIn(document).get("read beside a bare server")).toBeGreaterThan(0);
  const line = /^\| read \|.* × a bare Bun.serve.*\n/m;
  expect(() => recordedIn(document.replace(line, ""))).toThrow("is told 0 times");
  expect(() => recordedIn(document.replace(line, "$&$&"))).toThrow("is told 2 times");
});

test("a run is held against recorded ratios: what got a fifth worse is named", () => {
  const all = [finished("read", read(1.95), undefined), finished("push-one", pushOne(5.4))];
  expect(worseThanRecorded(all, RECORDED)).toEqual([]);
  expect(
    worseThanRecorded([finished("read", read(9)), finished("push-one", pushOne(1))], RECORDED),
  ).toEqual([]);
  expect(
    worseThanRecorded(
      [finished("read", read(1.16)), finished("push-one", pushOne(9.08))],
      RECORDED,
    ),
  ).toEqual([
    "read beside a bare server: 2.00 × worse (1.16, was 2.32)",
    "push-one beside a bare commit: 2.00 × worse (9.08, was 4.54)",
  ]);
});

test("a short run names only what got twice as bad", () => {
  const all = [finished("read", read(1.3)), finished("push-one", pushOne(9.3))];
  expect(worseThanRecorded(all, RECORDED, COLLAPSED_BY)).toEqual([
    "push-one beside a bare commit: 2.05 × worse (9.30, was 4.54)",
  ]);
});

test("each line of a chart is named, and what grows by a power is straight", () => {
  const points = [1, 10, 100].map((size) => [size, size * 2] as const);
  const chart = { title: "Time", sizes: "a < b", unit: "ms", series: [{ name: "list", points }] };
  const svg = svgOf([chart, { ...chart, title: "Memory" }]);
  expect(svg).toContain(">list</text>");
  expect(svg).toContain("a &lt; b");
  expect(svg.match(/<circle/g)).toHaveLength(2 * points.length);
  const path = /<path d="M([\d. ]+)L([\d. ]+)L([\d. ]+)" fill="none"/.exec(svg);
  const [one, two, three] = (path ?? []).slice(1).map((place) => place.split(" ").map(Number));
  const slope = (from: number[] = [], to: number[] = []) =>
    ((to[1] ?? 0) - (from[1] ?? 0)) / ((to[0] ?? 0) - (from[0] ?? 0));
  expect(slope(one, two)).toBeCloseTo(slope(two, three), 2);
});

test("a row that did not finish is worse than any", () => {
  const { row } = finished("live");
  const figure: Figure = { figure: "not finished", target: UNFINISHED, verdict: "MISSED" };
  const failed = { row, result: { figures: [figure], notes: [] } };
  expect(worseThanRecorded([failed], RECORDED)).toEqual(["live: did not finish"]);
});
