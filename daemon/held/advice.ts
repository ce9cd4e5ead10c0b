import { explain } from "../../shared/reasons.ts";
import { type HeldPlace, type HeldWrite, heldId } from "../home/held-store.ts";

/** Why a write is held, in words that follow its name. */
export function heldReason({ cause, reason }: Pick<HeldWrite, "cause" | "reason">): string {
  return cause === "refused" ? `refused by the service: ${explain(reason)}` : explain(reason);
}

/** Why a write is held and what to do, in words that follow its name. */
export function heldAdvice(
  held: HeldPlace & Pick<HeldWrite, "cause" | "reason" | "retryBatch">,
): string {
  if (held.retryBatch !== undefined) {
    return "held: refused with others by the service, tried again alone";
  }
  return `held: ${heldReason(held)}; ${whatToDo(held)}`;
}

function whatToDo(held: HeldPlace & Pick<HeldWrite, "cause">): string {
  const id = heldId(held);
  if (held.cause === "secret") {
    return `it stays on this machine; \`memsync held allow ${id}\` if it is none`;
  }
  if (held.kind === "file") return "it stays on this machine until the file is changed";
  return `it stays on this machine: write it anew, or \`memsync held allow ${id}\` to try it again`;
}
