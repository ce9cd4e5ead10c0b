import type { Kysely } from "kysely";
import { PERSONAL_KEY } from "../../daemon/home/personal-mark.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { lettersOf } from "../../daemon/home/text-line.ts";
import { personalMemories } from "../../daemon/reading/personal-keys.ts";
import { findLookAlike } from "../../shared/look-alike.ts";
import type { MemoryPlace } from "../place/place.ts";
import { type ProjectScope, refusalIn } from "./project-scope.ts";

interface Meant {
  readonly scope: ProjectScope;
  readonly place: MemoryPlace;
  /** What is there, and what it is to be. */
  readonly memories: readonly ({ readonly key: string; readonly value: string } | undefined)[];
}

/**
 * Refuses what would change the personal text. A memory is only a note, while all assistants on all
 * machines follow that text, and an assistant may have read what it saves on a web page. It is not
 * kept for agreement either: then a person would find there what nobody asked for.
 */
export async function refuseInstructions(
  db: Kysely<DaemonTables> | undefined,
  { scope, place, memories }: Meant,
): Promise<void> {
  const isText = await personalMemories(db, place);
  // A person who lists memories would take a key that looks the same for the text.
  const looksSo = ({ key }: { readonly key: string }) =>
    place.layer === "user" &&
    (lettersOf(key) === lettersOf(PERSONAL_KEY) ||
      findLookAlike(key, [PERSONAL_KEY]) !== undefined);
  const isPersonal = (memory: { readonly key: string; readonly value: string }) =>
    isText(memory) || looksSo(memory);
  if (!memories.some((memory) => memory !== undefined && isPersonal(memory))) return;
  throw refusalIn(
    scope,
    "nothing was changed: this key has what its user tells all assistants. Only its user writes " +
      "that, by `memsync set` or between memsync's marks in an assistant's file. Show your user " +
      "the line and say so, or save a note under another key",
  );
}
