import type { Command } from "commander";
import type { Kysely } from "kysely";
import { fileAt } from "../../daemon/files/names/also-file.ts";
import { type HeldWhere, heldReason, heldReasonNow } from "../../daemon/held/advice.ts";
import { allowHeld, type HeldItem, heldId, listHeld } from "../../daemon/home/held-store.ts";
import { listLinks } from "../../daemon/home/links.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { findHeldWhere, type HeldFacts, heldStatus } from "../../daemon/status/held-status.ts";
import { layerOf } from "../../shared/replica/document/address.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import { type LocalDocument, listLocalDocuments } from "../local/local-documents.ts";
import { markSeen } from "../notices/notice-files.ts";
import { noticeName } from "../notices/notice-name.ts";
import type { Environment } from "../place/environment.ts";
import { withAgreement, withLocal } from "../place/place.ts";
import { CommandFailed } from "../screen/errors.ts";
import {
  printText,
  say,
  sayJson,
  sayRows,
  saySentence,
  shortName,
  table,
} from "../screen/output.ts";
import { tilde } from "../screen/tilde.ts";
import { shownName } from "../views/held-view.ts";
import { timeShown } from "../views/version-view.ts";
import { agreeToAudience } from "../writes/audience.ts";
import { changeHome } from "../writes/inbox-write.ts";

interface Options {
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly remote?: string;
}

const HELP = `
What is held was written here and is sent nowhere: it looks like a secret, is over a limit, or was
refused by the service. Everything else goes on. A later write takes its place, and what was held
stays here until it is dropped, or all but its secret is in what is saved.

To say beforehand that something is no secret, or is to be synced all the same: \`memsync set
--allow-secret\`, or in a text the mark memsync:allow-secret in the same line, or alone in the line
above, for example as <!-- memsync:allow-secret -->. Of lines of your own instructions
\`--allow-personal\` says it.

Examples:
  memsync held                  all of it, with why
  memsync held show k3j5h2ab    its value, byte for byte
  memsync held allow k3j5h2ab   it is no secret, here and wherever else it is written on this
                                machine; what was refused is tried once more
  memsync held drop k3j5h2ab    it is deleted, and what was there before counts again; what a file
                                still has is changed there first`;

/** `held`: writes that stay on this machine, and why. */
export function addHeldCommands(program: Command, env: Environment): void {
  const held = program.command("held").enablePositionalOptions();
  const withJson = (command: Command) =>
    command.option("--json", "print what is found as JSON").addHelpText("after", HELP);
  withJson(held)
    .description("list what is kept on this machine, and why: show, allow, drop")
    .action((options: Options) => list(env, options));
  withJson(held.command("list", { hidden: true }))
    .description("list it, as without any command")
    .action((_: Options, command: Command) => list(env, command.optsWithGlobals()));
  const withId = (name: string, description: string, act: Act) =>
    withJson(
      name === "allow" ? withAgreement(held.command(`${name} <id>`)) : held.command(`${name} <id>`),
    )
      .description(description)
      .option("--remote <name>", "the remote, where writes for several have the id")
      .action((id: string, _: Options, command: Command) =>
        act(env, id, command.optsWithGlobals()),
      );
  withId("show", "print what is held, byte for byte", show);
  withId("allow", "let it into its document as it is, and sync it", allow);
  withId("drop", "delete what is held", drop);
}

type Act = (env: Environment, id: string, options: Options) => Promise<void>;

async function list(env: Environment, { json }: Options): Promise<void> {
  const items = await readAll(env);
  if (json) {
    sayJson(
      await Promise.all(
        items.map(({ item, document, where }) => {
          return heldStatus(item, { remote: document?.remote ?? null, ...where });
        }),
      ),
    );
    return;
  }
  markSeen(
    env.home,
    items.map(({ item: { id, writtenAt } }) => noticeName("held", id, writtenAt)),
  );
  if (items.length === 0) say("nothing is held");
  else {
    const rows: string[][] = [];
    for (const { item, document, where: beside } of items) {
      const where = shortName(document?.title ?? item.document);
      const what = shortName(await shownName(item));
      const why = heldReasonNow(item, beside);
      rows.push([item.id, timeShown(item.writtenAt), where, what, why]);
    }
    const heading = ["ID", "WHEN", "WHERE", "WHAT", "WHY"];
    sayRows(table([heading, ...rows], SPARE));
    say("");
    saySentence("`memsync held allow ID` lets it be synced, `drop` deletes it, `show` prints it");
  }
}

/** The column to leave out first: the time. Ids, places and names tell writes apart. */
const SPARE = [1];

/** A held write, with its document if the replica has that. */
interface Held {
  readonly item: HeldItem;
  readonly document: LocalDocument | undefined;
  readonly where: HeldWhere;
}

async function readAll(env: Environment): Promise<Held[]> {
  return await withLocal(env, async (db) => {
    if (!db) return [];
    const documents = await listLocalDocuments(db);
    const all: Held[] = [];
    for (const item of await listHeld(db)) {
      const document = documents.find(
        ({ account, name }) => account === item.account && name === item.document,
      );
      all.push({ item, document, where: await findHeldWhere(db, item) });
    }
    return all;
  });
}

async function find(
  env: Environment,
  id: string,
  { remote }: Options,
): Promise<HeldItem & HeldFacts> {
  const all = (await readAll(env))
    .map(({ item, document, where }) => {
      return { ...item, remote: document?.remote ?? null, ...where };
    })
    .filter((item) => remote === undefined || item.remote === remote);
  const [first, ...more] = all.filter((item) => item.id === id);
  if (!first) throw isNotHeld(id, all);
  if (more.length === 0) return first;
  const names = [first, ...more].map((item) => item.remote).join(", ");
  throw new CommandFailed(`${id} is held for several remotes: say which by --remote, ${names}`, {
    code: "ambiguous",
  });
}

/** A write that was held, and written over since, has another id now. */
function isNotHeld(id: string, all: readonly HeldItem[]): CommandFailed {
  const left = all.filter((item) => heldId({ ...item, apart: undefined }) === id);
  const ids = left.map((item) => item.id).join(", ");
  const message =
    left.length === 0
      ? `nothing is held as ${id}: \`memsync held\` lists what is`
      : `what was held as ${id} was written over, and is held as ${ids}: \`memsync held show ID\``;
  return new CommandFailed(message, { code: "not-found" });
}

async function show(env: Environment, id: string, options: Options): Promise<void> {
  const { json } = options;
  const item = await find(env, id, options);
  const { value } = item;
  if (json) sayJson({ ...(await heldStatus(item, item)), value: value ?? null });
  else if (value !== undefined) printText(value);
  else if (item.kind === "file") saySentence(`it stands in the ${fileAt(item.key)}`);
  else saySentence("it is a deletion");
}

async function allow(env: Environment, id: string, options: Options): Promise<void> {
  const item = await find(env, id, options).catch(async (thrown: unknown) => {
    const key = isUnheld(thrown) ? await findLetIn(env, id) : undefined;
    if (key === undefined) throw thrown;
    if (options.json) sayJson({ id, held: false });
    else saySentence(`nothing of ${key} is held any more: there is nothing left to allow`);
  });
  if (!item) return;
  const { account, document } = item;
  if (item.kind === "file" && item.cause === "limit") {
    throw new CommandFailed(`the ${fileAt(item.key)} ${heldReason(item)}`);
  }
  await agreeToAudience(env, { layer: layerOf(document), account }, { done: "allowed", options });
  const { heldForTheSame } = await import("../../daemon/held/held-alike.ts");
  const { result: alike } = await changeHome(env.home, async (db) => {
    assertSame(await allowHeld(db, item), id);
    return await heldForTheSame(db, item);
  });
  if (options.json) {
    sayJson(await heldStatus(item, item));
    return;
  }
  const others = await Promise.all(alike.map(shownName));
  const along =
    others.length > 0 ? ` with what is held for nothing else: ${others.join(", ")}` : "";
  saySentence(`allowed ${await shownName(item)}; the daemon syncs it${along}`);
}

function isUnheld(thrown: unknown): boolean {
  return thrown instanceof CommandFailed && thrown.code === "not-found";
}

/** What an id of what was held belongs to, as where that came along with another; in words. */
async function findLetIn(env: Environment, id: string): Promise<string | undefined> {
  return await withLocal(env, async (db) => {
    const found = db && (await listHoldable(db)).find((each) => heldId(each) === id);
    const isHeld =
      found &&
      (await listHeld(db)).some(({ kind, key, document }) => {
        return kind === found.kind && key === found.key && document === found.document;
      });
    return found && !isHeld ? await shownName({ ...found, cause: "private" }) : undefined;
  });
}

/** The places of which something may have been held, by what the home has. */
async function listHoldable(
  db: Kysely<DaemonTables>,
): Promise<readonly Pick<HeldItem, "kind" | "document" | "key">[]> {
  const entries = (table: "memories" | "metadata") =>
    db
      .selectFrom(table)
      .innerJoin("documents", "documents.id", `${table}.document_id`)
      .select(["documents.name as document", `${table}.key as key`])
      .orderBy("documents.id")
      .orderBy("key")
      .execute();
  const memories = await entries("memories");
  const metadata = await entries("metadata");
  const links = await listLinks(db);
  return [
    ...memories.map((each) => ({ kind: "memory", ...each }) as const),
    ...metadata.map((each) => ({ kind: "metadata", ...each }) as const),
    ...links.flatMap(({ projectId: document, dir }) => [
      { kind: "text", document, key: "" } as const,
      { kind: "file", document, key: dir } as const,
    ]),
  ];
}

async function drop(env: Environment, id: string, options: Options): Promise<void> {
  const { json } = options;
  const item = await find(env, id, options);
  if (item.kind === "file") {
    throw new CommandFailed(
      `it stands in the ${fileAt(item.key)}: change that file, and nothing is held any more`,
    );
  }
  const { dropHeldText, filesWithHeld } = await import(
    "../../daemon/assistants/personal/drop-held-text.ts"
  );
  await changeHome(env.home, async (db) => {
    const files = await filesWithHeld(db, item);
    if (files.length > 0) throw new CommandFailed(await standsIn(item, files));
    assertSame(await dropHeldText(db, item), id);
  });
  if (json) sayJson(await heldStatus(item, item));
  else {
    say(
      `dropped what was held of ${await shownName(item)}, written ${timestampOf(item.writtenAt)}`,
    );
  }
}

/** Why a write can't be dropped: a file has it, so it would be held again at the next look. */
async function standsIn({ id }: HeldItem, files: readonly string[]): Promise<string> {
  const { secretHider } = await import("../../daemon/held/secret-scan.ts");
  const hide = await secretHider();
  const shown = files.map((path) => hide(tilde(path))).join(" and ");
  return (
    `it stands in ${shown}: change it there, then drop what is still held; ` +
    `or \`memsync held allow ${id}\``
  );
}

/**
 * An id names a place. Meanwhile the daemon may hold a newer write of that place, which nobody has
 * seen.
 */
function assertSame(isSame: boolean, id: string): void {
  if (isSame) return;
  throw new CommandFailed(`it was written again just now: \`memsync held show ${id}\` prints it`);
}
