import type { Kysely } from "kysely";
import { isRuleKey } from "../../daemon/assistants/rules/rule-folders.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { type LocalMemory, readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { personalMemories } from "../../daemon/reading/personal-keys.ts";
import { count } from "../../shared/count.ts";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import { explain } from "../../shared/reasons.ts";
import { beginningOf, passageOf } from "../../shared/replica/search/passage.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import {
  type FoundMemory,
  missedBy,
  type SearchedPlace,
  searchLocalMemories,
  withConnected,
} from "../search/local-search.ts";
import { type PastSession, readBackground } from "./background.ts";
import { searchedOf } from "./kept-secret.ts";
import { findScope, type ProjectScope, placesOf, scopeJson, scopeLine } from "./project-scope.ts";
import { memoryLine, type ShownMemory, shownMemory } from "./shown-memory.ts";
import { framed, NOTE, type Quoted, ToolRefusal, type ToolResult } from "./tool-result.ts";

/** What `recall` is asked. */
export interface RecallRequest {
  readonly query?: string | undefined;
  readonly layer?: Layer | undefined;
  readonly project?: string | undefined;
  readonly limit?: number | undefined;
  readonly budget_tokens?: number | undefined;
  /** False: without the outline of the instructions, which an assistant reads by itself. */
  readonly outline?: boolean | undefined;
  /** Whether the assistant has a memory in its own files; it is told behind the others. */
  readonly isKnown?: (db: Db) => Promise<(found: FoundMemory) => boolean>;
}

type Db = Kysely<DaemonTables>;

type Missed = ReturnType<typeof missedBy>;

/** What `recall` answers. */
export interface Recalled extends ToolResult {
  readonly data: ToolResult["data"] & {
    readonly memories: readonly ShownMemory[];
    readonly sessions?: readonly PastSession[];
  };
}

const LIMIT = 20;
const BUDGET_TOKENS = 2000;
const BUDGET_TOKENS_MAX = 10_000;
/** The usual estimate where the model is not known. */
const CHARACTERS_PER_TOKEN = 4;
/** Room that is kept for the scope, the note and the names of fields. */
const RESERVED_CHARACTERS = 400;
const PASSAGE_LENGTH_MAX = 240;

/** `recall`: what is known, found by words or, without any, the most useful of all. */
export async function recall(
  env: Environment,
  option: string | undefined,
  request: RecallRequest,
): Promise<Recalled> {
  const query = request.query?.trim() ?? "";
  if (exceedsBytes(query, LIMITS.queryBytes)) {
    throw new ToolRefusal(`the query is over ${LIMITS.queryBytes} bytes: use fewer words`);
  }
  return await withLocal(env, async (db) => {
    const scope = await findScope(env, db, { argument: request.project, option });
    const budget = new Budget(request.budget_tokens);
    // The outline and the sessions are the project's.
    const isAboutProject = (request.layer ?? "project") === "project";
    const background =
      db && query === "" && isAboutProject
        ? await readBackground(env, db, {
            scope,
            outline: request.outline ?? true,
          })
        : undefined;
    budget.spend(JSON.stringify(background ?? {}).length);
    const { found: all, missed } = db
      ? await findMemories(env, db, { scope, query, layer: request.layer })
      : { found: [], missed: undefined };
    const isKnown = db && query === "" ? await request.isKnown?.(db) : undefined;
    const found = isKnown
      ? [...all.filter((each) => !isKnown(each)), ...all.filter((each) => isKnown(each))]
      : all;
    const shown: ShownMemory[] = [];
    for (const each of found.slice(0, request.limit ?? LIMIT)) {
      // Without a database nothing was found.
      const memory = await shownMemory(env, db as Kysely<DaemonTables>, {
        found: each,
        passageOf: (value) =>
          query === ""
            ? beginningOf(value, PASSAGE_LENGTH_MAX)
            : passageOf(value, query, PASSAGE_LENGTH_MAX),
      });
      if (!budget.spend(JSON.stringify(memory).length)) break;
      shown.push(memory);
    }
    const left = found.length - shown.length;
    return asResult({ scope, query, shown, left, background, missed });
  });
}

/** How many characters are left for the answer. */
class Budget {
  #left: number;

  constructor(tokens: number = BUDGET_TOKENS) {
    this.#left = Math.min(tokens, BUDGET_TOKENS_MAX) * CHARACTERS_PER_TOKEN - RESERVED_CHARACTERS;
  }

  /** False: it would be too much. */
  spend(characters: number): boolean {
    if (characters > this.#left) return false;
    this.#left -= characters;
    return true;
  }
}

async function findMemories(
  env: Environment,
  db: Kysely<DaemonTables>,
  {
    scope,
    query,
    layer,
  }: {
    readonly scope: ProjectScope;
    readonly query: string;
    readonly layer: Layer | undefined;
  },
): Promise<{ readonly found: FoundMemory[]; readonly missed: Missed }> {
  const own = await placesOf(env, db, { scope, layer });
  const searched = await withConnected(db, own, layer);
  const { places } = searched;
  const missed = missedBy(searched);
  if (query === "") return { found: await listMemories(db, places), missed };
  const search = { text: query, searchedOf: (memory: LocalMemory) => searchedOf(db, memory) };
  const every = await searchLocalMemories(db, places, search);
  // Assistants ask in sentences. What holds only some of the words comes behind.
  const some = await searchLocalMemories(db, places, { ...search, wanted: "some" });
  const known = new Set(every.map(({ memory }) => memory.id));
  const found = [...every, ...some.filter(({ memory }) => !known.has(memory.id))];
  return { found, missed };
}

/**
 * Layer by layer, the latest first, connected projects last. Rules come behind the others: the
 * assistant whose they are has them already.
 */
async function listMemories(
  db: Kysely<DaemonTables>,
  places: readonly SearchedPlace[],
): Promise<FoundMemory[]> {
  const found: FoundMemory[] = [];
  for (const place of places) {
    const memories = await readLocalMemories(db, place.document, place.account);
    // Assistants have it in their own files.
    const isPersonal = await personalMemories(db, place);
    const others = memories.filter((each) => !isPersonal(each));
    const sorted = others.sort(
      (one, other) =>
        Number(isRuleKey(one.key)) - Number(isRuleKey(other.key)) ||
        compare(other.updated_at, one.updated_at) ||
        compare(one.key, other.key),
    );
    found.push(...sorted.map((memory) => ({ memory, place })));
  }
  return found;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function instructionsLine({ lines }: { readonly lines: number }): string {
  return `Instructions (${count(lines, "line", "lines")}):`;
}

function sessionLines({ title, age, summary }: PastSession): (string | Quoted)[] {
  const line = `session · ${age} · ${title ?? "without a title"}`;
  return summary === undefined ? [line] : [line, { quoted: summary }];
}

function asResult({
  scope,
  query,
  shown,
  left,
  background,
  missed,
}: {
  readonly scope: ProjectScope;
  readonly query: string;
  readonly shown: readonly ShownMemory[];
  readonly left: number;
  readonly background: Awaited<ReturnType<typeof readBackground>> | undefined;
  readonly missed: Missed;
}): Recalled {
  const next =
    left === 0 ? null : `${left} more: use other words, a layer or a larger budget_tokens`;
  const none = query === "" ? "No memories yet." : `No memory holds any of: ${query}`;
  const note = missed && { ...missed, sentence: `This project ${explain(missed)}.` };
  const noRoom = "None fits into this budget_tokens.";
  const lines = [
    scopeLine(scope),
    NOTE,
    ...(background?.instructions ? [instructionsLine(background.instructions)] : []),
    ...(background?.instructions?.headings ?? []).map((each) => ({ quoted: each })),
    ...(background?.sessions ?? []).flatMap((each) => sessionLines(each)),
    ...(shown.length > 0 ? [] : [left === 0 ? none : noRoom]),
    ...shown.flatMap((each) => [memoryLine(each), { quoted: each.passage }]),
    ...(next === null ? [] : [next]),
    ...(note === undefined || query === "" ? [] : [note.sentence]),
  ];
  const data = {
    ...scopeJson(scope),
    note: NOTE,
    ...background,
    memories: shown,
    truncated: left > 0,
    next,
    ...(note && { missed: note }),
  };
  return { text: framed(lines), data };
}
