import type { Command } from "commander";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import { passageOf } from "../../shared/replica/search/passage.ts";
import { takesEmpty } from "../place/empty-arguments.ts";
import type { Environment } from "../place/environment.ts";
import { type PlaceOptions, placesToRead, withLocal, withPlace } from "../place/place.ts";
import { UsageError } from "../screen/errors.ts";
import { firstLine, sayJson, sayRows, saySentence, shortName, table } from "../screen/output.ts";
import { visible } from "../screen/visible.ts";
import { type FoundMemory, searchLocalMemories, withConnected } from "../search/local-search.ts";
import { layerShown, memoryJson } from "../views/memory-view.ts";
import { audienceShown, sayAudience } from "../writes/audience.ts";

interface Options extends PlaceOptions {
  readonly json?: boolean;
}

const HELP = `
Finds what holds every word, in the key or the value, best match first, and shows the line that
says most. A word stands for all that begin with it. Small and capital letters are the same, and
so is an accent or none: oresund finds Øresund. All layers are searched, and, unless --layer names
one, projects that are connected to this one and are kept here. What was saved while no daemon ran
is found, too. Where nothing holds every word, what holds some of them is shown, but not with
--json.

Examples:
  memsync search npm build              what holds both words
  memsync search --layer user editor    among your own memories alone
  memsync search postgres --json | jq -r .[].key`;

/** `search`: full-text search in the memories that can be read from here. */
export function addSearchCommand(program: Command, env: Environment): void {
  withPlace(takesEmpty(program.command("search <query...>"), "query"))
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
  const { found, nearly, unlinked, audience } = await withLocal(env, async (db) => {
    const { places, unlinked: why } = await placesToRead(env, db, options);
    const all = db && options.layer === undefined ? await withConnected(db, places) : places;
    const find = async (wanted: "every" | "some") =>
      db ? await searchLocalMemories(db, all, { text: query, wanted }) : [];
    const every = await find("every");
    const some = every.length === 0 ? await find("some") : [];
    const memories = [...every, ...some].map(({ memory }) => memory);
    const seen = await audienceShown(env, db, { places, memories });
    return { found: every, nearly: some, unlinked: why, audience: seen };
  });
  if (unlinked && found.length === 0 && nearly.length === 0) throw unlinked;
  if (options.json) {
    sayJson(found.map(foundJson));
    return;
  }
  if (found.length === 0) {
    const but = nearly.length === 0 ? "" : "; these hold some of it:";
    saySentence(`no memory here holds all of: ${firstLine(query)}${but}`);
  }
  const rows = [...found, ...nearly.slice(0, NEARLY_MAX)].map((each) => [
    shortName(each.memory.key),
    whereShown(each),
    visible(passageOf(each.memory.value, query)),
  ]);
  sayRows(table(rows));
  sayAudience(audience);
}

/** Of more similar keys than these hardly one is what was meant. */
const NEARLY_MAX = 10;

function foundJson({ memory, place: { connected } }: FoundMemory) {
  return { ...memoryJson(memory), ...(connected && { connected_project: connected }) };
}

function whereShown({ memory, place: { connected } }: FoundMemory): string {
  return connected ? `${layerShown(memory)} of ${shortName(connected.name)}` : layerShown(memory);
}
