import { expect, test } from "bun:test";
import { join } from "node:path";
import { listFiles, ROOT } from "./source-tree.ts";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

/** The waits that a document's table names, in milliseconds, by their constants. */
function waitsIn(text: string): Map<string, number> {
  const waits = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, durations = "", , constants = ""] = line.split(" | ").length === 3 ? cells(line) : [];
    const names = [...constants.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name ?? "");
    const spans = [...durations.matchAll(/(\d+) (ms|s|min|h)\b/g)];
    for (const [at, name] of names.entries()) {
      const [, count = "", unit = ""] = spans[at] ?? [];
      waits.set(name, Number(count) * (UNITS[unit] ?? Number.NaN));
    }
  }
  return waits;
}

function cells(line: string): string[] {
  return line.split("|").map((cell) => cell.trim());
}

/** The constants that are a number or a product of numbers, in what follows files. */
async function readConstants(): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const path of await listFiles()) {
    if (!/^daemon\/(files|git|watch)\//.test(path)) continue;
    const text = await Bun.file(join(ROOT, path)).text();
    for (const [, name = "", value = ""] of text.matchAll(/const ([A-Z_]+) = ([\d_ *]+);/g)) {
      const factors = value.replaceAll("_", "").split("*").map(Number);
      found.set(
        name,
        factors.reduce((product, each) => product * each),
      );
    }
  }
  return found;
}

test("the waits that are said of a followed file are those of the code", async () => {
  const waits = waitsIn(await Bun.file(join(ROOT, "docs/design/files.md")).text());
  const constants = await readConstants();
  expect(waits.size).toBeGreaterThan(10);
  for (const [name, ms] of waits) expect([name, constants.get(name)]).toEqual([name, ms]);
});
