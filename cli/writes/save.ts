import type { Allows } from "../../daemon/held/judge.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import type { InboxWrite, TextConflictDismissal } from "../../daemon/inbox/inbox.ts";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import { getProjectOf } from "../../shared/replica/document/address.ts";
import { NOT_WELL_FORMED } from "../../shared/wire/well-formed.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { TextConflict } from "../local/local-conflicts.ts";
import type { Environment } from "../place/environment.ts";
import type { MemoryPlace } from "../place/place.ts";
import { CommandFailed } from "../screen/errors.ts";
import { type WriteGuard, type Written, writeMemory, writeToInbox } from "./inbox-write.ts";
import { findLeftText, type LeftHeld } from "./left-held.ts";
import { refuseDeleted } from "./refuse-deleted.ts";

/** Saves a memory in the inbox, which a running daemon applies at once. */
export async function saveMemory(
  { home }: Environment,
  place: MemoryPlace,
  {
    key,
    value,
    options: { allowSecret, allowPersonal, guard } = {},
  }: {
    readonly key: string;
    readonly value: string;
    readonly options?: (Allows & { readonly guard?: WriteGuard | undefined }) | undefined;
  },
): Promise<Written> {
  assertSavable(key, value);
  const written = await writeMemory(home, place, {
    key,
    value,
    allowSecret,
    allowPersonal,
    guard,
  });
  return written ?? { leftHeld: undefined };
}

/** Refuses what the interface would refuse, and what it would store with U+FFFD in it. */
function assertSavable(key: string, value: string): void {
  if (key === "") throw new CommandFailed("the key is empty: name the memory");
  if (`${key}${value}`.includes("\0")) throw new CommandFailed("a NUL character can't be saved");
  if (!`${key}\n${value}`.isWellFormed()) throw new CommandFailed(`the text ${NOT_WELL_FORMED}`);
  if (exceedsBytes(key, LIMITS.memoryKeyBytes)) {
    throw new CommandFailed(`the key is over ${LIMITS.memoryKeyBytes} bytes: shorten it`);
  }
  if (exceedsBytes(value, LIMITS.memoryValueBytes)) {
    throw new CommandFailed(`the value is over ${LIMITS.memoryValueBytes} bytes: split it`);
  }
}

/** A change of a text, made by a person who saw `base`. */
export interface TextChoice {
  readonly base: string;
  /** Each is based on the one before, and nobody else sees any but the last. */
  readonly values: readonly string[];
  /** The last row of the document's log when `base` was read. */
  readonly seenSeq?: number | undefined;
  /**
   * The conflicts that are settled together with the text, before it. A conflict that comes of it,
   * because another machine chose otherwise, has the same id.
   */
  readonly settles?: readonly TextConflict[];
}

/**
 * Replaces the text of a project's document by way of the inbox, and tells a running daemon. The
 * interface can't be used, because none of its calls names the text, `base`, that the new one is
 * based on: lines that others added since must stay. Returns what it leaves of a held text.
 */
export async function saveText(
  { home }: Environment,
  document: string,
  choice: TextChoice,
): Promise<Written> {
  if (choice.values.some((value) => exceedsBytes(value, LIMITS.claudeMdBytes))) {
    throw new CommandFailed(`the text is over ${LIMITS.claudeMdBytes} bytes: shorten it`);
  }
  const writtenAt = realWorld.now();
  const last = choice.values.at(-1);
  let leftHeld: LeftHeld | undefined;
  await writeToInbox(home, async (db) => {
    await refuseDeleted(db, document);
    const account = (await findBinding(db, getProjectOf(document))) ?? LOCAL_ACCOUNT;
    if (last !== undefined) leftHeld = await findLeftText(db, { document, account }, last);
    return textWrites(document, choice, writtenAt);
  });
  return { leftHeld };
}

/** What the inbox gets. */
export function textWrites(
  document: string,
  { base, values, seenSeq, settles = [] }: TextChoice,
  writtenAt: number,
): InboxWrite[] {
  const texts = values.map((value, at): InboxWrite => {
    const write = { kind: "text", document, base: values[at - 1] ?? base, value } as const;
    return { ...write, writtenAt, ...(at === 0 && { seenSeq }) };
  });
  return [...settles.flatMap((conflict) => dismissals(conflict, writtenAt)), ...texts];
}

/** The writes that dismiss a conflict of a text, and those that it covers. */
function dismissals(
  { id, covered, document: { name: document, account } }: TextConflict,
  writtenAt: number,
): TextConflictDismissal[] {
  return [...covered.map((each) => each.id), id].map((each) => {
    return { kind: "text-conflict", document, account, writtenAt, id: each };
  });
}
