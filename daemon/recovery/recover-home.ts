import { existsSync, rmSync } from "node:fs";
import { count } from "../../shared/count.ts";
import type { Log } from "../../shared/log.ts";
import { openDatabase } from "../../shared/sqlite/database.ts";
import { storageFailure } from "../../shared/sqlite/failures.ts";
import { passGate } from "../../shared/sqlite/lock.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import type { World } from "../../shared/world.ts";
import { hostSchema } from "../embedded/embedded-service.ts";
import type { Home } from "../home/home.ts";
import { daemonSchema } from "../home/migrations.ts";
import { openHomeDatabase } from "../home/open-home.ts";
import { withholdAllSessions } from "../home/session-switch.ts";
import { readKeptChoices } from "./choices-file.ts";
import { findDamage, suspicionOf } from "./find-damage.ts";
import { copyReadable, hasHead, keepHead } from "./head-page.ts";
import { readKeptLinks } from "./links-file.ts";
import { type Salvaged, salvage } from "./salvage.ts";
import { type DamageNote, emptyWorkshop, exchange, finishExchange } from "./set-aside.ts";

/**
 * Checks that a home's databases are sound before a daemon uses them. A damaged one is set aside,
 * never deleted, and a new one is made from what can be read and from the copy of the links; the
 * service supplies the rest. Resolves to notes for the user. The caller holds the home's lock.
 *
 * ```
 * for (const { message } of await recoverHome(home, world, log)) tell(message);
 * ```
 */
export async function recoverHome(home: Home, world: World, log: Log): Promise<DamageNote[]> {
  const gate = await passGate(home.gate, "exclusive");
  try {
    return await recover(home, world, log);
  } catch (thrown) {
    const sentence = storageFailure(thrown, home.dir);
    if (sentence === undefined) throw thrown;
    throw new Error(`the home ${home.dir} can't be used: ${sentence}`, { cause: thrown });
  } finally {
    gate.release();
  }
}

async function recover(home: Home, world: World, log: Log): Promise<DamageNote[]> {
  const notes: DamageNote[] = [];
  for (const path of [home.database, home.service]) await finishExchange(path);
  const isExpected = existsSync(home.links) || existsSync(home.choices);
  const reason = await findDamage(home.database, daemonSchema, isExpected);
  if (reason !== undefined) notes.push(await rebuildReplica(home, reason, world));
  // A new database's first page is only in its log until the file is closed.
  if (!hasHead(home.database)) await (await openHomeDatabase(home.database)).close();
  keepHead(home.database);
  const ofService = await findDamage(home.service, hostSchema, false);
  if (ofService !== undefined) notes.push(await replaceService(home, ofService, world));
  for (const path of [home.database, home.service]) rmSync(suspicionOf(path), { force: true });
  for (const { message, set_aside } of notes) log.error({ set_aside }, message);
  return notes;
}

async function rebuildReplica(home: Home, reason: string, world: World): Promise<DamageNote> {
  const workshop = emptyWorkshop(home.database, "rebuilding");
  const readable = emptyWorkshop(home.database, "reading");
  copyReadable(home.database, readable);
  const salvaged = await salvage(readable, workshop, {
    kept: readKeptLinks(home),
    choices: readKeptChoices(home),
    world,
  });
  emptyWorkshop(home.database, "reading");
  if (!salvaged.isWithheldKnown) withholdAllSessions(home, world.now());
  return await replace(home.database, workshop, { reason, world, rest: toldOf(salvaged) });
}

/** The replica holds everything that the embedded service did, and sends it there again. */
async function replaceService(home: Home, reason: string, world: World): Promise<DamageNote> {
  const workshop = emptyWorkshop(home.service, "rebuilding");
  await (await openDatabase({ path: workshop })).close();
  const rest = "the embedded service begins anew, and gets everything from this machine's replica";
  return await replace(home.service, workshop, { reason, world, rest });
}

async function replace(
  path: string,
  workshop: string,
  {
    reason,
    world,
    rest,
  }: { readonly reason: string; readonly world: World; readonly rest: string },
): Promise<DamageNote> {
  const found_at = timestampOf(world.now());
  const stamp = found_at.replace(/[:.]/g, "-");
  return await exchange(path, workshop, {
    stamp,
    note: (set_aside, exists) => {
      const what = `${path} was damaged (${reason})`;
      const where = exists ? `${what} and is set aside as ${set_aside}` : what;
      return { found_at, reason, set_aside, message: `${where}; ${rest}` };
    },
  });
}

/** What people had decided, and nobody knows any more. */
function lostShown(salvaged: Salvaged): string {
  const { unknownIgnored, isIgnoredKnown, isPersonalKnown, isWithheldKnown } = salvaged;
  const held = salvaged.isHeldKnown
    ? ""
    : "; not all that was held can be read: what `memsync held` lacks now, and no file has, " +
      "is gone";
  const folders = count(unknownIgnored, "linked folder", "linked folders");
  const ignored =
    unknownIgnored === 0
      ? ""
      : `; what a \`.memsyncignore\` named that is gone can't be read, so no file of ${folders} ` +
        "is sent until `memsync link --send-ignored` there";
  const own = isIgnoredKnown
    ? ""
    : "; no memory of your own folders, as Serena's global ones, is sent until a " +
      "`.memsyncignore` is in them, even an empty one";
  const personal = isPersonalKnown
    ? ""
    : "; which files had the personal text can't be read: `memsync personal on` turns it on again";
  const sessions = isWithheldKnown
    ? ""
    : "; which sessions ran while they were off can't be read, so none that ran before is recorded";
  return `${ignored}${own}${personal}${sessions}${held}`;
}

function toldOf(salvaged: Salvaged): string {
  const { links, documents, partial, memories, inbox, isInboxWhole, revisions } = salvaged;
  const parts = partial === 0 ? "" : `, ${partial} of them in part`;
  // Without its table, none that was read does not mean that none was made.
  const unread = isInboxWhole
    ? ""
    : " (there may have been more that can't be read: keep the file if you made any)";
  const waiting =
    memories === 0
      ? ""
      : `, ${count(memories, "memory", "memories")} kept back until the service has answered`;
  return (
    `read from it: ${count(links, "link", "links")}, ${count(documents, "document", "documents")}` +
    `${parts}, ${count(inbox, "write", "writes")} made without a daemon${unread}, ` +
    `${count(revisions, "former version", "former versions")}${waiting}; ` +
    `what the service holds comes back from there${lostShown(salvaged)}`
  );
}
