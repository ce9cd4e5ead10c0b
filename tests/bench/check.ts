import { join } from "node:path";
import type { Ratio } from "./row.ts";
import type { Finished } from "./table.ts";

/** Where ratios are recorded. They outlive a machine, so that a run on any is held against them. */
const MEASURED = join(import.meta.dir, "../../docs/measured.md");

/** In which row of that document each ratio stands, and before which words. */
export const RATIOS: Readonly<Record<string, readonly [row: string, before: string]>> = {
  "start compiled beside a bare server": ["start", "a bare Bun HTTP server with a database"],
  "start from source beside a bare server": ["start", "the bare server from source"],
  "read beside a bare server": ["read", "a bare Bun.serve"],
  "read beside json-server": ["read", "json-server"],
  "read beside Prism": ["read", "Prism"],
  "emulator: a file of tests beside MSW": ["emulator", "MSW"],
  "push beside Hocuspocus": ["push", "what Hocuspocus acknowledges unstored"],
  "push beside a bare server": ["push", "a bare Bun.serve"],
  "push-one beside a bare commit": ["push-one", "a bare commit"],
  "bulk beside bare rows": ["bulk", "as many bare rows"],
  "live beside Hocuspocus": ["live", "Hocuspocus in memory"],
  "delta beside a small project": ["delta", "that in a project of 100"],
  "grow: database beside the live text": ["grow", "the live text"],
  "grow: without revisions beside the live text": ["grow", "without the revisions"],
  "growth: push among 10,000 memories beside 100": ["growth", "as long as among 100"],
  "page of 10,000 beside one of 1,000": ["page", "a page of 1"],
  "crowd: read beside an empty database": ["crowd", "as fast"],
  "crowd: push beside an empty database": ["crowd", "an empty one's"],
};

/** Recorded ratios by what they compare. */
export type Recorded = ReadonlyMap<string, number>;

/** The ratios that a document's rows tell. Throws for one that stands nowhere, or twice. */
export function recordedIn(document: string): Recorded {
  return new Map(
    Object.entries(RATIOS).map(([name, [row, before]]) => {
      const figures = document
        .split("\n")
        .filter((line) => line.startsWith(`| ${row} |`))
        .flatMap((line) => [...(line.split(" | ")[1] ?? "").matchAll(/([\d.]+) × ([^;,(]*)/g)])
        .filter(([, , words = ""]) => words.startsWith(before));
      if (figures.length !== 1) throw new Error(`${name} is told ${figures.length} times`);
      return [name, Number(figures[0]?.[1])];
    }),
  );
}

/** The ratios of docs/measured.md. */
export async function readRecorded(): Promise<Recorded> {
  return recordedIn(await Bun.file(MEASURED).text());
}

/** From here on a ratio is called worse: others come from what else the machine does. */
export const WORSE_BY = 1.2;

/** From here on something has collapsed, whatever else a busy machine does. */
export const COLLAPSED_BY = 2;

/** How many times worse than recorded; below 1 where it is better. */
function worseBy({ name, value, better }: Ratio, all: Recorded): number | undefined {
  const recorded = all.get(name);
  if (recorded === undefined) return undefined;
  return better === "higher" ? recorded / value : value / recorded;
}

/**
 * A line for each ratio of the run that is more than `by` times worse than recorded; none where all
 * is well.
 */
export function worseThanRecorded(
  finished: readonly Finished[],
  recorded: Recorded,
  by = WORSE_BY,
): string[] {
  return finished.flatMap(({ row, result }) => {
    if (result.figures.some(({ target }) => target === UNFINISHED))
      return [`${row.name}: did not finish`];
    return result.figures.flatMap(({ ratio }) => {
      const factor = ratio && worseBy(ratio, recorded);
      if (!ratio || factor === undefined || factor <= by) return [];
      const [value, was] = [ratio.value.toFixed(2), recorded.get(ratio.name)];
      return [`${ratio.name}: ${factor.toFixed(2)} × worse (${value}, was ${was})`];
    });
  });
}

/** The target of a row that failed. */
export const UNFINISHED = "to finish";
