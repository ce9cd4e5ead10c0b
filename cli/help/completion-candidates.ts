import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { listHeld } from "../../daemon/home/held-store.ts";
import { listLinks } from "../../daemon/home/links.ts";
import { readMachineName } from "../../daemon/home/machine-name.ts";
import { listRemotes } from "../../daemon/home/remote-store.ts";
import { listUnlinked } from "../../daemon/home/unlinked-projects.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { listToldOfFiles } from "../../daemon/reading/told-files.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import { realWorld } from "../../shared/world-real.ts";
import { conflictTime, keyOf, listConflicts } from "../local/local-conflicts.ts";
import { memoryHistory, textHistory, type Version } from "../local/local-history.ts";
import type { Environment } from "../place/environment.ts";
import { LAYER_ORDER } from "../place/layer-option.ts";
import { placesToRead, withLocal } from "../place/place.ts";
import { firstLine } from "../screen/output.ts";
import { assistantsFor } from "../setup/assistant.ts";
import { shownName } from "../views/held-view.ts";
import { onMachine, timeShown } from "../views/version-view.ts";

/** A word that a shell may offer, and its description. */
export interface Candidate {
  readonly value: string;
  readonly description: string;
}

const DESCRIPTION_LENGTH_MAX = 50;

/**
 * Words that every shell takes literally, wherever they are. Keys may contain anything, and other
 * people in the account may have chosen them.
 */
const HARMLESS = /^[\p{L}\p{N}_./@%+,][\p{L}\p{N}_./@%+,:-]*$/u;

/**
 * Candidates for a command's argument of this name, as far as this machine knows; `words`: what
 * was typed so far. Only words that every shell takes literally.
 */
export async function candidatesFor(
  command: string,
  argument: string,
  { words, env }: { readonly words: readonly string[]; readonly env: Environment },
): Promise<Candidate[]> {
  const found = await findCandidates(command, argument, { words, env });
  return found.filter(({ value }) => HARMLESS.test(value));
}

const PLANS: Candidate[] = ["pro", "team"].map((value) => ({ value, description: "plan" }));

/** The same for the value of an option of this name. */
export async function valuesFor(
  option: string,
  word: string,
  env: Environment,
): Promise<Candidate[]> {
  const found = await findValues(option, word, env);
  return found.filter(({ value }) => HARMLESS.test(value));
}

async function findValues(option: string, word: string, env: Environment): Promise<Candidate[]> {
  if (option === "layer" || option === "from")
    return LAYER_ORDER.map((value) => ({ value, description: "layer" }));
  if (option === "plan") return PLANS;
  if (option === "remote") return await remoteNames(env);
  return option === "project" ? await folders(env, word) : [];
}

async function findCandidates(
  command: string,
  argument: string,
  { words, env }: { readonly words: readonly string[]; readonly env: Environment },
): Promise<Candidate[]> {
  const [group, verb] = command.split(" ");
  if (argument === "rev" || argument === "other")
    return await revisions(env, group === "doc" ? undefined : words[1]);
  if (argument === "key") return await keys(env);
  if (argument === "plan") return PLANS;
  const isId = argument.endsWith("id");
  if (group === "conflicts" && isId) return await conflictIds(env);
  if (group === "held" && isId) return await heldIds(env);
  if (group === "lines" && isId) return await lineIds(env);
  if (group === "setup" && argument === "assistant") return assistants(env);
  if (group === "project" && verb === "rm") return await projectIds(env);
  if (group === "remote" && verb === "rm") return await remoteNames(env);
  return /^(dirs?|file|a|b)$/.test(argument) ? await folders(env, words.at(-1) ?? "") : [];
}

/** The versions of a memory, or of the current folder's text without a key. */
async function revisions(env: Environment, key: string | undefined): Promise<Candidate[]> {
  const versions = await withLocal(env, async (db) => {
    if (!db) return [];
    const { places } = await placesToRead(env, db, {});
    const found: Version[] = [];
    for (const { document, account } of places) {
      const source = { db, document, account, machine: readMachineName(env.home) };
      if (key !== undefined) found.push(...(await memoryHistory(source, key)));
      else if (projectOf(document)) found.push(...(await textHistory(source)));
    }
    return found;
  });
  return versions.flatMap(({ revision, writtenAt, machine }) => {
    const description = `${timeShown(writtenAt)}${onMachine(machine)}`;
    return revision ? [{ value: revision, description }] : [];
  });
}

/** The keys that can be read from the current folder. */
async function keys(env: Environment): Promise<Candidate[]> {
  return await withLocal(env, async (db) => {
    if (!db) return [];
    const found: Candidate[] = [];
    const { places } = await placesToRead(env, db, {});
    for (const { document, account } of places) {
      for (const { key, value } of await readLocalMemories(db, document, account)) {
        found.push({ value: key, description: short(value) });
      }
    }
    return found;
  });
}

async function conflictIds(env: Environment): Promise<Candidate[]> {
  return await withLocal(env, async (db) => {
    const conflicts = db ? await listConflicts(db) : [];
    return conflicts.map((conflict) => ({
      value: conflict.id,
      description: short(keyOf(conflict) ?? new Date(conflictTime(conflict)).toISOString()),
    }));
  });
}

async function heldIds(env: Environment): Promise<Candidate[]> {
  return await withLocal(env, async (db) => {
    const held = db ? await listHeld(db) : [];
    const candidates = held.map(async (item) => {
      return { value: item.id, description: short(await shownName(item)) };
    });
    return await Promise.all(candidates);
  });
}

function assistants({ variables }: Environment): Candidate[] {
  const all = assistantsFor({ userFolder: homedir(), platform: process.platform, variables });
  return all.map(({ id, name }) => ({ value: id, description: name }));
}

async function lineIds(env: Environment): Promise<Candidate[]> {
  return await withLocal(env, async (db) => {
    const told = db ? await listToldOfFiles(db, realWorld.now()) : [];
    return told.map(({ id, line }) => ({ value: id, description: short(line.trim()) }));
  });
}

async function projectIds(env: Environment): Promise<Candidate[]> {
  return await withLocal(env, async (db) => {
    if (!db) return [];
    const links = await listLinks(db);
    const unlinked = await listUnlinked(db, links);
    return [
      ...links.map(({ projectId, name }) => ({ value: projectId, description: short(name) })),
      ...unlinked.map(({ id, name }) => ({ value: id, description: short(name ?? "") })),
    ];
  });
}

async function remoteNames(env: Environment): Promise<Candidate[]> {
  return await withLocal(env, async (db) => {
    const remotes = db ? await listRemotes(db) : [];
    return remotes.flatMap(({ name, url }) => {
      return url === undefined ? [] : [{ value: name, description: short(url) }];
    });
  });
}

async function folders({ dir }: Environment, word: string): Promise<Candidate[]> {
  const above = word.endsWith("/") ? word : `${dirname(word)}/`;
  const prefix = word.includes("/") ? above : "";
  const entries = await readdir(resolve(dir, above), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => ({ value: join(prefix, name), description: "folder" }));
}

function short(text: string): string {
  return firstLine(text).slice(0, DESCRIPTION_LENGTH_MAX);
}
