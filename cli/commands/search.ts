import type { Command } from "commander";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import { explain } from "../../shared/reasons.ts";
import { passageOf } from "../../shared/replica/search/passage.ts";
import { takesEmpty } from "../place/empty-arguments.ts";
import type { Environment } from "../place/environment.ts";
import { type PlaceOptions, placesToRead, withLocal, withPlace } from "../place/place.ts";
import { UsageError } from "../screen/errors.ts";
import {
  firstLine,
  sayAside,
  sayJson,
  sayRows,
  saySentence,
  shortName,
  table,
} from "../screen/output.ts";
import { roomOfLast } from "../screen/table-layout.ts";
import { widthOf } from "../screen/terminal.ts";
import { shownColumns } from "../screen/text-width.ts";
import { visible } from "../screen/visible.ts";
import {
  type FoundMemory,
  missedBy,
  searchLocalMemories,
  withConnected,
} from "../search/local-search.ts";
import { layerShown, memoryJson } from "../views/memory-view.ts";
import { audienceShown, sayAudience } from "../writes/audience.ts";

interface Options extends PlaceOptions {
  readonly json?: boolean;
}

const HELP = `
Finds what holds every word, in the key or the value, best match first, and shows the line that
says most. A word stands for all that begin with it. Small and capital letters are the same, and
so is an accent or none: oresund finds Øresund. A number is a word of its own: 2.3.1 finds v2.3.1.
In Chinese, Japanese, Korean and Thai a word is found wherever it stands. All layers are searched,
and, unless --layer names one, projects that are connected to this one; it says so if one of these
is not on this machine. What was saved while no daemon ran is found, too. Where nothing holds every
word, what holds some of them is shown, but not with --json.

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
  const { found, nearly, unlinked, audience, missed } = await withLocal(env, async (db) => {
    const { places, unlinked: why } = await placesToRead(env, db, options);
    const searched = db && (await withConnected(db, places, options.layer));
    const find = async (wanted: "every" | "some") =>
      searched ? await searchLocalMemories(db, searched.places, { text: query, wanted }) : [];
    const every = await find("every");
    const some = every.length === 0 ? await find("some") : [];
    const memories = [...every, ...some].map(({ memory }) => memory);
    const seen = await audienceShown(env, db, { places, memories });
    const missed = searched && missedBy(searched);
    return { found: every, nearly: some, unlinked: why, audience: seen, missed };
  });
  if (unlinked && found.length === 0 && nearly.length === 0) throw unlinked;
  if (missed) sayAside(`this project ${explain(missed)}`);
  if (options.json) {
    sayJson(found.map(foundJson));
    return;
  }
  if (found.length === 0) {
    const but = nearly.length === 0 ? "" : "; these hold some of it:";
    saySentence(`no memory here holds all of: ${firstLine(query)}${but}`);
  }
  const shown = [...found, ...nearly.slice(0, NEARLY_MAX)];
  const columns = shown.map((each) => [shortName(each.memory.key), whereShown(each)]);
  const room = roomOfLast(columns, widthOf(process.stdout));
  const rows = shown.map(({ memory }, at) => [
    ...(columns[at] ?? []),
    visible(passageWithin(memory.value, query, room)),
  ]);
  sayRows(table(rows));
  sayAudience(audience);
}

/** The marks of what a passage leaves out are not counted in its length. */
const MARKS = "…  …".length;

/** What a passage shows of a value in so many columns, of which a character may take two. */
function passageWithin(value: string, query: string, columns: number): string {
  for (let length = columns - MARKS; ; ) {
    const passage = passageOf(value, query, length);
    const over = shownColumns(visible(passage)) - columns;
    if (over <= 0 || length <= over) return passage;
    length -= over;
  }
}

/** If more keys than this are similar, hardly one of them is what was meant. */
const NEARLY_MAX = 10;

function foundJson({ memory, place: { connected } }: FoundMemory) {
  return { ...memoryJson(memory), ...(connected && { connected_project: connected }) };
}

function whereShown({ memory, place: { connected } }: FoundMemory): string {
  return connected ? `${layerShown(memory)} of ${shortName(connected.name)}` : layerShown(memory);
}
