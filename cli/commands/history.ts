import type { Command } from "commander";
import { readMachineName } from "../../daemon/home/machine-name.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { shellWord } from "../../shared/shell-word.ts";
import { currentOf, memoryHistory, type Version } from "../local/local-history.ts";
import type { Environment } from "../place/environment.ts";
import {
  type MemoryPlace,
  type PlaceOptions,
  placesToRead,
  withAgreements,
  withLocal,
  withPlace,
} from "../place/place.ts";
import { CommandFailed } from "../screen/errors.ts";
import { printText, say, sayAside, sayJson, sayRows, saySentence } from "../screen/output.ts";
import { valueLine } from "../views/memory-view.ts";
import { timeShown, versionJson, versionTable } from "../views/version-view.ts";
import { agreeToAudience } from "../writes/audience.ts";
import { sayLeftHeld } from "../writes/left-held.ts";
import { saveMemory } from "../writes/save.ts";

interface Options extends PlaceOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
}

const HISTORY_HELP = `
Looks in project, user and global, in that order. What was written over or deleted is kept on each
machine that saw it: the last 100 versions of a key, for 90 days.

A REV names a value, on every machine: versions with an equal value have the same one.

Examples:
  memsync history build              every version, the latest first
  memsync history build k3j5h2ab     that version's value, byte for byte
  memsync restore build k3j5h2ab     makes it the value again`;

const RESTORE_HELP = `
Restoring is a new write like any other: it is synced, and what it replaces goes to the history, or
where that is held stays in \`memsync held\`.

Examples:
  memsync history build              shows the versions, each with its REV
  memsync restore build k3j5h2ab
  memsync restore editor 7gtw2xqa --layer user`;

/** `history` and `restore`: replaced values, and how to get them back. */
export function addHistoryCommands(program: Command, env: Environment): void {
  withPlace(program.command("history <key> [rev]"))
    .description("list a memory's versions, or print one of them")
    .option("--json", "print them as JSON")
    .addHelpText("after", HISTORY_HELP)
    .action((key: string, rev: string | undefined, options: Options) =>
      history(env, key, { revision: rev, options }),
    );
  withAgreements(withPlace(program.command("restore <key> <rev>")))
    .description("give a memory the value that it had in a version")
    .option("--json", "print what was restored as JSON")
    .addHelpText("after", RESTORE_HELP)
    .action((key: string, rev: string, options: Options) =>
      restore(env, key, { revision: rev, options }),
    );
}

interface Found {
  readonly place: MemoryPlace;
  readonly versions: readonly Version[];
}

/**
 * The failure for a key that is readable here, but only held: no document has ever had it, so it
 * has no history.
 */
function heldOnly(key: string): CommandFailed {
  return new CommandFailed(
    `"${key}" has no history, for what is held is in none: \`memsync held\` lists it`,
    { code: "not-found" },
  );
}

/** The versions of a key in each place that has some. Throws where none has. */
async function find(env: Environment, key: string, options: PlaceOptions): Promise<Found[]> {
  return await withLocal(env, async (db) => {
    const machine = readMachineName(env.home);
    const { places, unlinked } = await placesToRead(env, db, options);
    const found: Found[] = [];
    for (const place of places) {
      if (!db) break;
      const { document, account } = place;
      const versions = await memoryHistory({ db, document, account, machine }, key);
      if (versions.length > 0) found.push({ place, versions });
    }
    if (found.length > 0) return found;
    for (const { document, account } of db ? places : []) {
      const memories = db ? await readLocalMemories(db, document, account) : [];
      if (memories.some((each) => each.key === key)) throw heldOnly(key);
    }
    const message = `there is no memory "${key}" and no history of one`;
    throw (
      unlinked ??
      new CommandFailed(`${message}: \`memsync list\` shows the keys`, { code: "not-found" })
    );
  });
}

/** The version that a REV names, in the first place that has it. */
function pick(found: readonly Found[], key: string, revision: string) {
  for (const { place, versions } of found) {
    const version = versions.find((each) => {
      return each.state !== "deleted" && each.revision === revision;
    });
    if (version) return { place, versions, version };
  }
  throw new CommandFailed(
    `"${key}" has no version ${revision}: \`memsync history ${shellWord(key)}\` lists those it has`,
    { code: "not-found" },
  );
}

async function history(
  env: Environment,
  key: string,
  { revision, options }: { readonly revision: string | undefined; readonly options: Options },
): Promise<void> {
  const found = await find(env, key, options);
  // The memory may have been moved from the first place to another.
  const first = found.find(({ versions }) => currentOf(versions)) ?? found[0];
  if (!first) return;
  if (revision !== undefined) {
    const { place, version } = pick(found, key, revision);
    if (options.json) sayJson(shown(key, place, version));
    else printText(version.value);
    return;
  }
  const { place, versions } = first;
  if (options.json) {
    sayJson(versions.map((version) => shown(key, place, version)));
    return;
  }
  const rows = versionTable(versions, "VALUE", ({ value }) => valueLine(value));
  sayRows(rows);
  if (!currentOf(versions)) say(`"${key}" was deleted`);
}

/** What the memory says on this machine. It may be held, and then it is in no history. */
async function shownValue(env: Environment, { document, account }: MemoryPlace, key: string) {
  return await withLocal(env, async (db) => {
    const memories = db ? await readLocalMemories(db, document, account) : [];
    return memories.find((each) => each.key === key)?.value;
  });
}

function shown(key: string, place: MemoryPlace, version: Version) {
  return {
    key,
    layer: place.layer,
    ...versionJson(version),
    value: version.state === "deleted" ? null : version.value,
  };
}

async function restore(
  env: Environment,
  key: string,
  { revision, options }: { readonly revision: string; readonly options: Options },
): Promise<void> {
  const { place, version } = pick(await find(env, key, options), key, revision);
  const isCurrent = (await shownValue(env, place, key)) === version.value;
  if (!isCurrent) {
    await agreeToAudience(env, place, { done: "restored", options });
    const { value } = version;
    const { agreeToReplace } = await import("../writes/agree-to-instructions.ts");
    const guard = await agreeToReplace(env, place, { key, value, done: "restored", options });
    const { leftHeld } = await saveMemory(env, place, { key, value, options: { guard } });
    if (leftHeld) sayAside(sayLeftHeld(leftHeld));
  }
  if (options.json) sayJson(shown(key, place, version));
  else if (isCurrent) saySentence(`"${key}" has that value already`);
  else saySentence(`restored "${key}" as it was written ${timeShown(version.writtenAt)}`);
}
