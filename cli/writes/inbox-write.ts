import { existsSync } from "node:fs";
import type { Kysely } from "kysely";
import type { Allows } from "../../daemon/held/judge.ts";
import { type Home, prepareHome } from "../../daemon/home/home.ts";
import { openHomeDatabase, refuseLost } from "../../daemon/home/open-home.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { appendToInbox, type InboxWrite } from "../../daemon/inbox/inbox.ts";
import { type LocalMemory, readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { explain, type Reason } from "../../shared/reasons.ts";
import { isDamage, storageFailure } from "../../shared/sqlite/failures.ts";
import { passGate } from "../../shared/sqlite/lock.ts";
import { writeTransaction } from "../../shared/sqlite/transaction.ts";
import { realWorld } from "../../shared/world-real.ts";
import { DaemonEnded, OWN_DEADLINE_MS } from "../contact/daemon-contact.ts";
import { findDaemon, type GatewayClient } from "../contact/gateway-client.ts";
import type { MemoryPlace } from "../place/place.ts";
import { damagedHome } from "../screen/home-failure.ts";
import { sayAside } from "../screen/output.ts";
import { findLeftHeld, type LeftHeld } from "./left-held.ts";
import { refuseDeleted } from "./refuse-deleted.ts";
import { findOthersDaemon, onceHeard, refuseOthers } from "./refuse-others.ts";

/** What is there as a write is made, in its transaction. Throws where it must not be made. */
export type WriteGuard = (known: LocalMemory | undefined) => void;

/** What became of a write. */
export interface Written {
  /** What the write leaves of a held value, which is in no history. */
  readonly leftHeld: LeftHeld | undefined;
}

/**
 * Saves a memory, or deletes it if there is no value: durably in the inbox, with the entries that
 * are visible now. Undefined: there was nothing to delete.
 */
export async function writeMemory(
  home: Home,
  { document, account }: Pick<MemoryPlace, "document" | "account">,
  {
    key,
    value,
    guard,
    ...allows
  }: Allows & {
    readonly key: string;
    readonly value: string | undefined;
    readonly guard?: WriteGuard | undefined;
  },
): Promise<Written | undefined> {
  let leftHeld: LeftHeld | undefined;
  const isWritten = await writeToInbox(home, async (db) => {
    await refuseDeleted(db, document);
    const memories = await readLocalMemories(db, document, account);
    const known = memories.find((memory) => memory.key === key);
    guard?.(known);
    if (value === undefined && !known) return undefined;
    leftHeld = await findLeftHeld(db, { document, account }, { key, value });
    const writtenAt = realWorld.now();
    const seen = known?.seen ?? [];
    return { kind: "memory", document, account, key, value, seen, writtenAt, ...allows };
  });
  return isWritten ? { leftHeld } : undefined;
}

/**
 * Puts the writes that `work` derives from the replica into the inbox. They are applied together.
 * Tells a daemon that runs, or has started meanwhile; says so where none runs. False: `work`
 * returned no writes. Throws `CommandFailed` where a shell of another user's would write
 * to `user` or `global`.
 */
export async function writeToInbox(
  home: Home,
  work: (db: Kysely<DaemonTables>) => Promise<InboxWrite | readonly InboxWrite[] | undefined>,
): Promise<boolean> {
  // Before the transaction: a daemon that waits for its end would not answer.
  const daemon = await findOthersDaemon(home);
  const write = async (db: Kysely<DaemonTables>) => {
    const writes = [(await work(db)) ?? []].flat();
    for (const write of writes) {
      await refuseOthers(home, db, { ...write, daemon });
      await appendToInbox(db, write);
    }
    return { isWritten: writes.length > 0, why: await whyToBeHeld(db, writes) };
  };
  const { result, hasDaemon } = await onceHeard(home, () => changeHome(home, write));
  const { isWritten, why } = result;
  if (isWritten && !hasDaemon) sayAside(why === undefined ? await whenSent(home) : heldLater(why));
  return isWritten;
}

/** Why the daemon will hold a memory or a text when it applies the inbox. */
async function whyToBeHeld(
  db: Kysely<DaemonTables>,
  writes: readonly InboxWrite[],
): Promise<Reason | undefined> {
  for (const write of writes) {
    const reason = await whyOneToBeHeld(db, write);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

async function whyOneToBeHeld(
  db: Kysely<DaemonTables>,
  write: InboxWrite,
): Promise<Reason | undefined> {
  if (write.kind !== "memory" && write.kind !== "text") return undefined;
  const { value } = write;
  if (value === undefined) return undefined;
  const { document } = write;
  const { entryReason, textReason } = await import("../../daemon/held/judge.ts");
  const { standingTexts } = await import("../../daemon/held/standing-texts.ts");
  const others = () => standingTexts(db, document);
  if (write.kind === "text")
    return await textReason(db, value, { document, already: [write.base], others });
  const memory = { key: write.key, value };
  return await entryReason(db, memory, { document, already: [], others, allows: write });
}

function heldLater(why: Reason): string {
  const held = `held once the daemon runs: ${explain(why)}`;
  return `saved here, and ${held}; \`memsync held\` shows it then`;
}

async function whenSent(home: Home): Promise<string> {
  // Without its record there is no daemon, and the lock is left to one that starts.
  if (!existsSync(home.record)) return WHEN_SENT.none;
  const { whyNoDaemon } = await import("../place/get-daemon.ts");
  return WHEN_SENT[await whyNoDaemon(home)];
}

/** When a write is sent, by the reason why no daemon answers. */
const WHEN_SENT = {
  none: "saved; will be sent when the daemon runs: `memsync start`",
  starting: "saved; will be sent once the daemon, which is starting, has started",
  silent: "saved; the daemon does not answer: `memsync restart` starts one that sends it",
} as const;

/** The result of a change, and whether a daemon runs that was told. */
export interface HomeChange<Result> {
  readonly result: Result;
  readonly hasDaemon: boolean;
}

/**
 * Changes the home's database beside the daemon: durably, in one transaction, and while nobody
 * exchanges the file. Tells a daemon that runs, or has started meanwhile.
 */
export async function changeHome<Result>(
  home: Home,
  work: (db: Kysely<DaemonTables>) => Promise<Result>,
): Promise<HomeChange<Result>> {
  const result = await changeFile(home, work);
  // After the gate: replacing an older daemon may start another one, which waits for the gate.
  const daemon = await findDaemon(home);
  if (daemon && (await isTold(daemon))) return { result, hasDaemon: true };
  const { findStarting } = await import("../place/get-daemon.ts");
  const next = await findStarting(home, OWN_DEADLINE_MS);
  return { result, hasDaemon: next !== undefined && (await isTold(next)) };
}

/**
 * False: the daemon was just ending. What was saved is safe in any case: a daemon that can't be
 * told now reads the inbox when it starts.
 */
async function isTold(daemon: GatewayClient): Promise<boolean> {
  try {
    await daemon.call("POST", "/_memsync/inbox", { body: {} });
    return true;
  } catch (thrown) {
    return !(thrown instanceof DaemonEnded);
  }
}

async function changeFile<Result>(
  home: Home,
  work: (db: Kysely<DaemonTables>) => Promise<Result>,
): Promise<Result> {
  prepareHome(home);
  const gate = await passGate(home.gate, "shared");
  try {
    await refuseLost(home);
    const database = await openHomeDatabase(home.database);
    try {
      return await writeTransaction(database.writer, work);
    } finally {
      await database.close();
    }
  } catch (thrown) {
    const sentence = isDamage(thrown)
      ? `${damagedHome(home.dir)}; nothing of this was saved`
      : storageFailure(thrown, home.dir);
    throw sentence === undefined ? thrown : new Error(sentence, { cause: thrown });
  } finally {
    gate.release();
  }
}
