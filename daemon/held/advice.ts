import { explain } from "../../shared/reasons.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { type HeldPlace, type HeldWrite, heldId } from "../home/held-store.ts";
import type { StandingAlike } from "./standing-alike.ts";

/** Why a write is held, in words that follow its name. */
export function heldReason({ cause, reason }: Pick<HeldWrite, "cause" | "reason">): string {
  return cause === "refused" ? `refused by the service: ${explain(reason)}` : explain(reason);
}

/** Where what is held stands besides. */
export interface HeldWhere {
  /** Its document has the same, so that it is no secret of this machine. */
  readonly standing?: StandingAlike | undefined;
  /** A file has it, which `held drop` therefore refuses. */
  readonly isInFile?: boolean;
}

/** The same, and what became of it: its document has it, or something was written over it. */
export function heldReasonNow(
  held: Parameters<typeof heldReason>[0] & Overtakable,
  where: HeldWhere = {},
): string {
  const { standing } = where;
  if (standing) return `${heldReason(held)}; synced elsewhere${sinceOf(standing)}`;
  return `${heldReason(held)}${isLeft(held, where) ? "; written over or deleted since" : ""}`;
}

function sinceOf({ writtenAt }: StandingAlike): string {
  return writtenAt === undefined ? "" : ` since ${timestampOf(writtenAt)}`;
}

type Overtakable = Pick<HeldWrite, "kind" | "shown">;

/** Others may have written over what a file still has: there it is what it was. */
function isLeft({ kind, shown }: Overtakable, { isInFile = false }: HeldWhere): boolean {
  return kind !== "file" && shown === false && !isInFile;
}

/** Why a write is held and what to do, in words that follow its name. */
export function heldAdvice(
  held: HeldPlace & Pick<HeldWrite, "cause" | "reason" | "retryBatch" | "shown">,
  where: HeldWhere = {},
): string {
  if (held.retryBatch !== undefined) {
    return "held: refused with others by the service, tried again alone";
  }
  const todo = where.standing ? whatToDoThere(held) : whatToDo(held, where);
  return `held: ${heldReasonNow(held, where)}; ${todo}`;
}

/** What others have is taken out of the document, not out of what is held. */
function whatToDoThere(held: HeldPlace): string {
  const done = `\`memsync held drop ${heldId(held)}\` ends this`;
  if (held.kind === "memory") return `\`memsync rm\` deletes it on all machines; ${done}`;
  return `take it out to delete it on all machines; ${done}`;
}

function whatToDo(
  held: HeldPlace & Pick<HeldWrite, "cause" | "reason" | "shown">,
  where: HeldWhere,
): string {
  const id = heldId(held);
  if (isLeft(held, where)) {
    return `\`memsync held drop ${id}\` deletes it, \`memsync held allow ${id}\` syncs it`;
  }
  if (held.reason.code === "personal-block") {
    return `it stays on this machine; without the block it is synced: ${withoutBlock(held)}`;
  }
  if ("inKey" in held.reason && held.reason.inKey && hasOwnLines(held.reason)) {
    const allow = `\`memsync held allow ${id}\` syncs it`;
    return `it stays on this machine: give it another key, or ${allow}`;
  }
  if (held.reason.code === "personal-lines") {
    return `it stays on this machine: take them out, or \`memsync held allow ${id}\` syncs them`;
  }
  if (held.reason.code === "looks-like-secret" && held.reason.personal) {
    return `it stays on this machine: take out both, or \`memsync held allow ${id}\` syncs both`;
  }
  if (held.cause === "private") {
    return `it stays on this machine; \`memsync held allow ${id}\` if it is none`;
  }
  if (held.kind === "file") return "it stays on this machine until the file is changed";
  return `it stays on this machine: write it anew, or \`memsync held allow ${id}\` to try it again`;
}

function hasOwnLines(reason: HeldWrite["reason"]): boolean {
  if (reason.code === "looks-like-secret") return reason.personal !== undefined;
  return reason.code === "personal-lines";
}

/** A block that memsync has put into a file is taken out by a command. */
function withoutBlock({ kind }: Pick<HeldPlace, "kind">): string {
  return kind === "file" ? "`memsync personal off` or your editor takes it out" : "take it out";
}
