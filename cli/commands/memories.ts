import type { Command } from "commander";
import { listLinks } from "../../daemon/home/links.ts";
import { type LocalMemory, readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { randomMemoryKey } from "../../shared/ids.ts";
import { shellWord } from "../../shared/shell-word.ts";
import { realWorld } from "../../shared/world-real.ts";
import { sayIfHeld } from "../lifecycle/say-held.ts";
import { takesEmpty } from "../place/empty-arguments.ts";
import type { Environment } from "../place/environment.ts";
import {
  type MemoryPlace,
  type PlaceOptions,
  placesToRead,
  targetOf,
  withAgreement,
  withAgreements,
  withLocal,
  withPlace,
} from "../place/place.ts";
import { didYouMean } from "../screen/did-you-mean.ts";
import { CommandFailed } from "../screen/errors.ts";
import {
  printText,
  say,
  sayAside,
  sayJson,
  sayRows,
  saySentence,
  shortName,
  table,
} from "../screen/output.ts";
import { readStdinText } from "../screen/stdin.ts";
import { layerShown, memoryJson, valueLine } from "../views/memory-view.ts";
import type { agreeToReplace } from "../writes/agree-to-instructions.ts";
import { agreeToAudience, audienceShown, sayAudience } from "../writes/audience.ts";
import { type WriteGuard, writeMemory } from "../writes/inbox-write.ts";
import { sayLeftHeld } from "../writes/left-held.ts";
import { lookAlikeSaid } from "../writes/look-alike.ts";
import { sayIfOutOfReach } from "../writes/out-of-reach.ts";
import { sayIfDeleted } from "../writes/refuse-deleted.ts";
import { saveMemory } from "../writes/save.ts";

interface ReadOptions extends PlaceOptions {
  readonly json?: boolean;
}

interface WriteOptions extends PlaceOptions {
  readonly allowSecret?: boolean;
  readonly allowPersonal?: boolean;
  readonly yes?: boolean;
}

/** `set`, `add`, `get`, `list` and `rm`. */
export function addMemoryCommands(program: Command, env: Environment): void {
  withAgreements(withSecrets(withPlace(takesEmpty(program.command("set <key> <value>"), "value"))))
    .description("save a memory; the value - is read from standard input")
    .option("--json", "print where it is, and whether it is held, as JSON")
    .action(async (key: string, value: string, options: WriteOptions & ReadOptions) => {
      await save(env, key, { value: await given(value), options });
      if (options.json) sayJson(await savedJson(env, key, options));
    });
  withAgreements(withSecrets(withPlace(takesEmpty(program.command("add <text>"), "text"))))
    .description("save a memory under a key of its own, and print the key; - is standard input")
    .option("--json", "print the key, and where it is, as JSON")
    .action(async (text: string, options: WriteOptions & ReadOptions) => {
      const key = randomMemoryKey(realWorld);
      const value = await given(text);
      // An empty text mostly means that the command before the pipe failed. The interface takes no
      // empty content either.
      if (value === "") throw new CommandFailed("the text is empty: nothing was saved");
      if (value.trim() === "") {
        throw new CommandFailed(
          "the text is nothing but spaces and line breaks: nothing was saved",
        );
      }
      await save(env, key, { value, options });
      if (options.json) sayJson(await savedJson(env, key, options));
      else say(key);
    });
  withPlace(program.command("get <key>"))
    .description("print a memory's value; looks in project, user and global, in that order")
    .option("--json", "print the whole memory as JSON")
    .action((key: string, options: ReadOptions) => get(env, key, options));
  withPlace(program.command("list"))
    .description("list the memories that are readable here")
    .option("--json", "print them as JSON")
    .action((options: ReadOptions) => list(env, options));
  withAgreement(withPlace(program.command("rm <key>")))
    .description("delete a memory")
    .action((key: string, options: WriteOptions) => remove(env, key, options));
}

function withSecrets(command: Command): Command {
  return command
    .option("--allow-secret", "what looks like a secret in it is none, or is to be synced")
    .option("--allow-personal", "lines of your own instructions in it are to be synced");
}

/** The argument, or standard input in place of a dash. */
async function given(text: string): Promise<string> {
  return text === "-" ? await readStdinText("nothing was saved") : text;
}

async function save(
  env: Environment,
  key: string,
  { value, options }: { readonly value: string; readonly options: WriteOptions },
) {
  const { place, alike } = await withLocal(env, async (db) => {
    const place = await targetOf(env, db, options);
    return { place, alike: await lookAlikeSaid(db, place, key) };
  });
  await agreeToAudience(env, place, { done: "saved", options });
  const guard = await agreeToOwn(env, place, { key, value, done: "saved", options });
  const isNew = value === "" && !(await isThere(env, place, key));
  const { leftHeld } = await saveMemory(env, place, { key, value, options: { ...options, guard } });
  if (leftHeld) sayAside(sayLeftHeld(leftHeld));
  if (alike !== undefined) sayAside(alike);
  // Looked up after the write, which may have bound the project.
  await sayIfHeld(
    env,
    async (db) => {
      const { account, document } = await targetOf(env, db, options);
      return { kind: "memory", account, document, key };
    },
    value,
  );
  await sayIfOutOfReach(env, place);
  // An empty value may come from a shell's variable that is not set.
  if (value === "" && leftHeld === undefined) {
    const word = shellWord(key);
    const former = isNew ? "" : `\`memsync history ${word}\` has what it was, `;
    sayAside(`the value of ${key} is empty: ${former}\`memsync rm ${word}\` deletes it`);
  }
  if (place.layer === "project") await sayIfUnlinked(env, place.document, options.project);
}

/** Asks before a write to the personal text. Only a memory of the layer `user` can be that. */
async function agreeToOwn(
  env: Environment,
  place: MemoryPlace,
  write: Parameters<typeof agreeToReplace>[2],
): Promise<WriteGuard | undefined> {
  if (place.layer !== "user") return undefined;
  const { agreeToReplace: agree } = await import("../writes/agree-to-instructions.ts");
  return await agree(env, place, write);
}

async function isThere(env: Environment, place: MemoryPlace, key: string): Promise<boolean> {
  return await withLocal(env, async (db) => {
    const all = db ? await readLocalMemories(db, place.document, place.account) : [];
    return all.some((each) => each.key === key);
  });
}

/** A memory that was just saved, as in `list --json`, without its value, which may be held. */
async function savedJson(env: Environment, key: string, options: WriteOptions) {
  return await withLocal(env, async (db) => {
    const { layer, document, account } = await targetOf(env, db, options);
    const memories = db ? await readLocalMemories(db, document, account) : [];
    const memory = memories.find((each) => each.key === key);
    // Another command may have deleted it meanwhile.
    const { value: _, ...shown } = memory ? memoryJson(memory) : { key, layer, value: "" };
    return shown;
  });
}

/** Says that nothing of a project without a link is sent. */
async function sayIfUnlinked(env: Environment, document: string, named: string | undefined) {
  if (named === undefined) return;
  const links = await withLocal(env, async (db) => (db ? await listLinks(db) : []));
  if (links.some(({ projectId }) => projectId === document)) return;
  const link = `\`memsync link DIR --id ${document}\``;
  sayAside(`${document} is linked to no folder here, so nothing of it is sent until ${link}`);
}

/**
 * Everything that can be read from here; for a `wanted` key, up to the first place that has it.
 * `unlinked`: why no project is among the places.
 */
async function readAll(env: Environment, options: PlaceOptions, wanted?: string) {
  return await withLocal(env, async (db) => {
    const { places, unlinked } = await placesToRead(env, db, options);
    const memories: LocalMemory[] = [];
    for (const { document, account } of places) {
      if (db) memories.push(...(await readLocalMemories(db, document, account)));
      if (memories.some(({ key }) => key === wanted)) break;
    }
    const audience = await audienceShown(env, db, { places, memories });
    return {
      memories,
      unlinked,
      audience,
      project: places.find(({ layer }) => layer === "project"),
    };
  });
}

async function get(env: Environment, key: string, options: ReadOptions): Promise<void> {
  const { memories, unlinked, audience, project } = await readAll(env, options, key);
  const memory = memories.find((each) => each.key === key);
  if (!memory && project) await sayIfDeleted(env, project.document);
  if (!memory) throw unlinked ?? (await noMemory(key, memories));
  if (options.json) sayJson(memoryJson(memory));
  else printText(memory.value);
  // A script wants only the value.
  if (process.stdout.isTTY && memory.layer === "global") sayAudience(audience);
}

async function list(env: Environment, options: ReadOptions): Promise<void> {
  const { memories, unlinked, audience, project } = await readAll(env, options);
  if (unlinked && memories.length === 0) throw unlinked;
  if (project) await sayIfDeleted(env, project.document);
  if (options.json) {
    sayJson(memories.map(memoryJson));
    return;
  }
  if (memories.length === 0) {
    saySentence("no memories yet; save one with `memsync set KEY VALUE`");
    return;
  }
  const rows = memories.map((each) => [
    shortName(each.key),
    layerShown(each),
    valueLine(each.value),
  ]);
  sayRows(table(rows));
  sayAudience(audience);
}

async function remove(env: Environment, key: string, options: WriteOptions): Promise<void> {
  const place = await withLocal(env, (db) => targetOf(env, db, options));
  const { memories: known } = await readAll(env, { layer: "project", ...options });
  if (!known.some((memory) => memory.key === key)) {
    throw (await elsewhere(env, key, { options, place })) ?? noMemory(key, known);
  }
  await agreeToAudience(env, place, { done: "deleted", options });
  const guard = await agreeToOwn(env, place, { key, value: "", done: "deleted", options });
  const written = await writeMemory(env.home, place, { key, value: undefined, guard });
  if (!written) throw noMemory(key, known);
  if (written.leftHeld) sayAside(sayLeftHeld(written.leftHeld));
  await sayIfOutOfReach(env, place);
}

/** Where the memory is, if another layer that can be read here has it: it may have moved there. */
async function elsewhere(
  env: Environment,
  key: string,
  { options, place }: { readonly options: WriteOptions; readonly place: MemoryPlace },
): Promise<CommandFailed | undefined> {
  const { layer: _, ...others } = options;
  // If the other layers can't be read, the refusal of the meant layer is shown.
  const { memories = [] } = (await readAll(env, others).catch(() => undefined)) ?? {};
  const layers = memories.flatMap((each) => (each.key === key ? [each.layer] : []));
  const [first] = layers;
  if (first === undefined) return undefined;
  const removes = `\`memsync rm ${shellWord(key)} --layer ${first}\` deletes it`;
  return new CommandFailed(
    `there is no memory "${key}" in ${place.layer}: it is in ${layers.join(" and ")}; ${removes}`,
    { code: "not-found" },
  );
}

function noMemory(key: string, known: readonly LocalMemory[]): CommandFailed {
  const nearly = didYouMean(
    key,
    known.map((memory) => memory.key),
  );
  return new CommandFailed(`there is no memory "${key}"${nearly}`, { code: "not-found" });
}
