import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ledger } from "./ledger.ts";
import { countNamed } from "./lines.ts";

/** Who had a line in a file and who had it no more, in the order in which it was noted. */
export function storyOf(line: string, { entries, lines, startedAt }: Ledger): string[] {
  const counts = new Map<string, number>();
  const events = lines.get(line) ?? [];
  return entries.flatMap(({ at, place, what, text }, record) => {
    const count = countNamed(text).get(line) ?? 0;
    const before = counts.get(place) ?? 0;
    counts.set(place, count);
    const event = events.find((each) => each.record === record);
    if (count === before && !event) return [];
    const judged = event ? ` [${event.change}${event.unsure ? ", unsure" : ""}]` : "";
    return [
      `${seconds(at - startedAt)} #${record} ${place} ${before} → ${count}${judged}: ${what}`,
    ];
  });
}

/** Writes down everything that a project's files ever were; the path of that. */
export function writeLog(
  name: string,
  { entries, startedAt }: Ledger,
  appendix: Readonly<Record<string, string>>,
): string {
  const told = entries.map(({ at, place, what, text }, record) => {
    const title = `=== #${record} ${seconds(at - startedAt)} ${place}: ${what}`;
    return [title, JSON.stringify(text), text].join("\n");
  });
  const rest = Object.entries(appendix).map(([title, text]) => `=== ${title}\n${text}`);
  const path = join(mkdtempSync(join(tmpdir(), "memsync-people-")), `${name}.txt`);
  writeFileSync(path, [...told, ...rest].join("\n"));
  return path;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
