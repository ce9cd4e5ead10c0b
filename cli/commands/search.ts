import type { Command } from "commander";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import type { Environment } from "../place/environment.ts";
import { type PlaceOptions, placesToRead, withLocal, withPlace } from "../place/place.ts";
import { UsageError } from "../screen/errors.ts";
import { firstLine, say, sayJson, shortName, table } from "../screen/output.ts";
import { searchLocalMemories } from "../search/local-search.ts";
import { layerShown, memoryJson } from "../views/memory-view.ts";
import { audienceShown, sayAudience } from "../writes/audience.ts";

interface Options extends PlaceOptions {
  readonly json?: boolean;
}

const HELP = `
Finds what holds every word, in the key or the value, best match first. Small and capital letters
are the same, and so is an accent or none. What was saved while no daemon ran is found, too.

Examples:
  memsync search npm build              what holds both words
  memsync search --layer user editor    among your own memories alone
  memsync search postgres --json | jq -r .[].key`;

/** `search`: full-text search in the memories that can be read from here. */
export function addSearchCommand(program: Command, env: Environment): void {
  withPlace(program.command("search <query...>"))
    .description("find memories by the words in their keys and values")
    .option("--json", "print them as JSON")
    .addHelpText("after", HELP)
    .action((words: readonly string[], options: Options) => search(env, words.join(" "), options));
}

async function search(env: Environment, query: string, options: Options): Promise<void> {
  if (exceedsBytes(query, LIMITS.queryBytes)) {
    throw new UsageError(`the query is over ${LIMITS.queryBytes} bytes: search for fewer words`);
  }
  if (query.trim() === "") throw new UsageError("the query is empty: say what to search for");
  const { found, unlinked, audience } = await withLocal(env, async (db) => {
    const { places, unlinked: why } = await placesToRead(env, db, options);
    const memories = db ? await searchLocalMemories(db, places, query) : [];
    const seen = await audienceShown(env, db, { places, memories });
    return { found: memories, unlinked: why, audience: seen };
  });
  if (unlinked && found.length === 0) throw unlinked;
  if (options.json) {
    sayJson(found.map(memoryJson));
    return;
  }
  if (found.length === 0) {
    say(`no memory here holds all of: ${firstLine(query)}`);
    return;
  }
  const rows = found.map((memory) => [
    shortName(memory.key),
    layerShown(memory),
    excerpt(memory.value, query),
  ]);
  for (const line of table(rows)) say(line);
  sayAudience(audience);
}

/** The first line that contains one of the words, or else the first line. */
function excerpt(value: string, query: string): string {
  const words = query.toLowerCase().split(/\s+/u).filter(Boolean);
  const lines = value.split(/\r\n|[\r\n]/);
  const at = lines.findIndex((line) => words.some((word) => line.toLowerCase().includes(word)));
  return at > 0 ? `… ${firstLine(lines.slice(at).join("\n"))}` : firstLine(value);
}
