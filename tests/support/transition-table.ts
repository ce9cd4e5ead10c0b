import { join } from "node:path";

/**
 * Reads the table of a document whose first heading is `corner`: by "STATE EVENT", what its cell
 * says. `page` is a path from the top of the repository.
 *
 * ```
 * const table = await readTransitions("docs/design/sync.md", "phase");
 * table.get("idle due"); // "waiting or opening"
 * ```
 */
export async function readTransitions(
  page: string,
  corner: string,
): Promise<ReadonlyMap<string, string>> {
  const text = await Bun.file(join(import.meta.dir, "../..", page)).text();
  const lines = text.split("\n");
  const from = lines.findIndex((line) => cellsOf(line)[0] === corner);
  const rest = from === -1 ? [] : lines.slice(from);
  const end = rest.findIndex((line) => !line.startsWith("|"));
  const [heading = [], , ...rows] = rest.slice(0, end === -1 ? undefined : end).map(cellsOf);
  return new Map(
    rows.flatMap(([state, ...cells]) => {
      return cells.map((cell, at) => [`${state} ${heading[at + 1]}`, cell] as const);
    }),
  );
}

function cellsOf(line: string): string[] {
  if (!line.startsWith("|")) return [];
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("`", ""));
}
