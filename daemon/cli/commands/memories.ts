import type { Command } from "commander";
import { memoryIdOf, randomMemoryKey } from "../../../shared/ids.ts";
import { wireDocumentId } from "../../../shared/replica/address.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { listLinks } from "../../links.ts";
import type { Environment } from "../environment.ts";
import { CommandFailed } from "../errors.ts";
import { findDaemon } from "../gateway-client.ts";
import { type LocalMemory, readLocalMemories } from "../local-memories.ts";
import { layerShown, memoryJson } from "../memory-view.ts";
import { writeOffline } from "../offline-write.ts";
import { sayIfHeld } from "../say-held.ts";
import { firstLine, say, sayAside, sayJson, shortName, table } from "../output.ts";
import { type PlaceOptions, placesToRead, targetOf, withLocal, withPlace } from "../place.ts";
import { saveMemory } from "../save.ts";
import { readStdinText } from "../stdin.ts";

interface ReadOptions extends PlaceOptions {
  readonly json?: boolean;
}

interface WriteOptions extends PlaceOptions {
  readonly allowSecret?: boolean;
}

/** `set`, `add`, `get`, `list` and `rm`. */
export function addMemoryCommands(program: Command, env: Environment): void {
  withSecrets(withPlace(program.command("set <key> <value>")))
    .description("save a memory; the value - is read from standard input")
    .action(async (key: string, value: string, options: WriteOptions) => {
      const text = value === "-" ? await readStdinText("nothing was saved") : value;
      await save(env, key, text, options);
    });
  withSecrets(withPlace(program.command("add <text>")))
    .description("save a memory under a key of its own, and print the key")
    .option("--json", "print the key as JSON")
    .action(async (text: string, options: WriteOptions & ReadOptions) => {
      const key = randomMemoryKey(realWorld);
      await save(env, key, text, options);
      if (options.json) sayJson({ key });
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
  withPlace(program.command("rm <key>"))
    .description("delete a memory")
    .action((key: string, options: PlaceOptions) => remove(env, key, options));
}

function withSecrets(command: Command): Command {
  return command.option(
    "--allow-secret",
    "what looks like a secret in it is none, or is to be synced",
  );
}

async function save(env: Environment, key: string, value: string, options: WriteOptions) {
  const place = await withLocal(env, (db) => targetOf(env, db, options));
  await saveMemory(env, place, key, value, options);
  // A project may have been bound by this very write.
  await sayIfHeld(env, async (db) => {
    const { account, document } = await targetOf(env, db, options);
    return { kind: "memory", account, document, key };
  });
  if (place.layer === "project") await sayIfUnlinked(env, place.document, options.project);
}

/** An id that was typed may be mistyped: nothing of a project that is linked nowhere is sent. */
async function sayIfUnlinked(env: Environment, document: string, named: string | undefined) {
  if (named !== document) return;
  const links = await withLocal(env, async (db) => (db ? await listLinks(db) : []));
  if (links.some(({ projectId }) => projectId === document)) return;
  const link = `\`memsync link DIR --id ${document}\``;
  sayAside(
    `saved; ${document} is linked to no folder here, so nothing of it is sent until ${link}`,
  );
}

/** All that can be read there. `unlinked` is why no project's memories are among them. */
async function readAll(env: Environment, options: PlaceOptions) {
  return await withLocal(env, async (db) => {
    const { places, unlinked } = await placesToRead(env, db, options);
    const memories: LocalMemory[] = [];
    for (const { document, account } of places) {
      if (db) memories.push(...(await readLocalMemories(db, document, account)));
    }
    return { memories, unlinked };
  });
}

async function get(env: Environment, key: string, options: ReadOptions): Promise<void> {
  const { memories, unlinked } = await readAll(env, options);
  const memory = memories.find((each) => each.key === key);
  if (!memory) throw unlinked ?? (await noMemory(key, memories));
  if (options.json) sayJson(memoryJson(memory));
  else process.stdout.write(process.stdout.isTTY ? `${memory.value}\n` : memory.value);
}

async function list(env: Environment, options: ReadOptions): Promise<void> {
  const { memories, unlinked } = await readAll(env, options);
  if (unlinked && memories.length === 0) throw unlinked;
  if (options.json) {
    sayJson(memories.map(memoryJson));
    return;
  }
  if (memories.length === 0) {
    say("no memories yet; save one with `memsync set KEY VALUE`");
    return;
  }
  const rows = memories.map((each) => [
    shortName(each.key),
    layerShown(each),
    firstLine(each.value),
  ]);
  for (const line of table(rows)) say(line);
}

async function remove(env: Environment, key: string, options: PlaceOptions): Promise<void> {
  const place = await withLocal(env, (db) => targetOf(env, db, options));
  const { document, remote } = place;
  const { memories: known } = await readAll(env, { layer: "project", ...options });
  if (!known.some((memory) => memory.key === key)) throw await noMemory(key, known);
  const daemon = await findDaemon(env.home);
  if (daemon) {
    const id = memoryIdOf(wireDocumentId(document), key);
    await daemon.call("DELETE", `/v1/memories/${id}`, undefined, { remote });
    return;
  }
  if (!(await writeOffline(env.home, place, key, undefined))) throw await noMemory(key, known);
}

async function noMemory(key: string, known: readonly LocalMemory[]): Promise<CommandFailed> {
  const { didYouMean } = await import("../did-you-mean.ts");
  const nearly = didYouMean(
    key,
    known.map((memory) => memory.key),
  );
  return new CommandFailed(`there is no memory "${key}"${nearly}`);
}
