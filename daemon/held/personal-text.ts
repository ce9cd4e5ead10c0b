import type { Kysely } from "kysely";
import { notedAmong } from "../home/personal-lines.ts";
import { PERSONAL_KEY, PERSONAL_MARK } from "../home/personal-mark.ts";
import type { DaemonTables } from "../home/tables.ts";
import { isOnesOwn, lettersOf, saysALot } from "../home/text-line.ts";
import { LetteredText } from "./lettered-text.ts";
import { readingsOf } from "./text-readings.ts";

type Db = Kysely<DaemonTables>;

/** What a personal text says: the letters of its lines. */
interface PersonalLetters {
  readonly lines: ReadonlySet<string>;
  /** Of the lines that are known in the midst of a text as well. */
  readonly passages: readonly string[];
}

/**
 * The lines of one's own text that stand in a text, each by its letters, with the numbers of the
 * lines that have it; the first is 1. They are of any text that this home has had, by a version or
 * between marks, or of the user's memory as it is now, which no look has read yet where the text is
 * in no file. A long line of that memory is known wherever it stands: an assistant breaks lines
 * anew, joins them, or says something before them. `isOpen`: which letters are in question.
 */
export async function personalIn(
  db: Db,
  text: string,
  isOpen: (letters: string) => boolean,
): Promise<Map<string, number[]>> {
  const present = await presentLetters(db);
  const found = new Map<string, number[]>();
  for (const reading of readingsOf(text)) {
    const own = await personalAmong(db, new LetteredText(reading), { present, isOpen });
    for (const [letters, lines] of own) if (!found.has(letters)) found.set(letters, lines);
  }
  return found;
}

async function personalAmong(
  db: Db,
  text: LetteredText,
  {
    present,
    isOpen,
  }: {
    readonly present: readonly PersonalLetters[];
    readonly isOpen: (letters: string) => boolean;
  },
): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  const noted = await notedAmong(
    db,
    text.lines.filter((_, at) => isOpen(text.letters[at] ?? "")),
  );
  for (const [at, line] of text.lines.entries()) {
    const letters = text.letters[at] ?? "";
    if (letters === "" || !isOpen(letters)) continue;
    const isOwn = noted.has(line) || present.some(({ lines }) => lines.has(letters));
    if (isOwn) found.set(letters, [...(found.get(letters) ?? []), at + 1]);
  }
  for (const letters of present.flatMap(({ passages }) => passages)) {
    if (found.has(letters) || !isOpen(letters)) continue;
    const at = text.linesWith(letters);
    if (at.length > 0) found.set(letters, at);
  }
  return found;
}

/** The user's memory, in each account. */
async function presentLetters(db: Db): Promise<PersonalLetters[]> {
  const documents = await db
    .selectFrom("documents")
    .select("id")
    .where("name", "like", "user/%")
    .orderBy("id")
    .execute();
  const ids = documents.map(({ id }) => id);
  // By their keys: SQLite reads all memories of the home for a join in the order of their rows.
  const rows = await db
    .selectFrom("memories")
    .select("value")
    .where("document_id", "in", ids)
    .where("key", "=", PERSONAL_KEY)
    .orderBy("document_id")
    .execute();
  return rows.map(({ value }) => {
    if (read?.value !== value) read = { value, letters: readLetters(value) };
    return read.letters;
  });
}

/** What was read last: each write asks for the same text. */
let read: { readonly value: string; readonly letters: PersonalLetters } | undefined;

function readLetters(value: string): PersonalLetters {
  const lines = value.replace(PERSONAL_MARK, "").split("\n").filter(isOnesOwn);
  const passages = lines.filter(saysALot).map(lettersOf);
  return { lines: new Set(lines.map(lettersOf)), passages: [...new Set(passages)] };
}
