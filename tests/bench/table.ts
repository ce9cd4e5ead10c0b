import type { Row, RowResult } from "./row.ts";

export interface Finished {
  readonly row: Row;
  readonly result: RowResult;
}

/** The figures as a Markdown table, and the notes below it. */
export function markdownOf(machine: string, finished: readonly Finished[]): string {
  const lines = ["| row | figure | target | verdict |", "| --- | --- | --- | --- |"];
  const notes: string[] = [];
  for (const { row, result } of finished) {
    for (const { figure, target, verdict } of result.figures) {
      lines.push(`| ${row.name} | ${figure} | ${target} | ${verdict} |`);
    }
    for (const note of result.notes) notes.push(`- \`${row.name}\`: ${note}`);
  }
  return `${[machine, "", ...lines, "", ...notes].join("\n")}\n`;
}
