import type { OfAnother } from "../../daemon/remotes/refuse-owners.ts";
import type { AudienceView } from "../../daemon/status/audience-view.ts";
import { realWorld } from "../../shared/world-real.ts";
import { count, momentShown } from "../screen/output.ts";

/** Width of the column with a status line's subject. */
const LABEL_WIDTH = 10;

/** A number of users that is older than this is shown with its time. */
const AGED_MS = 10_000;

/** Whether somebody may have come since a service told who can read what is in `global`. */
export function isAged(audience: AudienceView | null): audience is AudienceView {
  if (!audience?.heard_at) return false;
  return Math.abs(realWorld.now() - Date.parse(audience.heard_at)) > AGED_MS;
}

/** Whether others can read what is in `global`, or may be able to where nobody has said. */
export function isShared(audience: AudienceView | null): audience is AudienceView {
  return audience !== null && audience.users !== 1;
}

/** A line about a layer that belongs to no project: its owner and its readers. */
export function layerLine(
  layer: "user" | "global",
  {
    remote,
    audience,
  }: { readonly remote: string | undefined; readonly audience: AudienceView | null },
  rest: string,
): string {
  const at = remote === undefined ? "" : `at ${remote}, `;
  const whom = layer === "user" ? "you alone" : seenBy(audience);
  return `${layer.padEnd(LABEL_WIDTH)}${at}seen by ${whom}: ${rest}`;
}

/**
 * How what the embedded service still has gets to a remote, and who sees it then. `login --move`
 * leaves `global` there until somebody has agreed to that.
 */
export function moveAllShown(remote: {
  readonly name: string;
  readonly audience: AudienceView | null;
  readonly global: number;
  readonly of_another: OfAnother | null;
}): string {
  const { name, audience, global, of_another: another } = remote;
  if (another) return `${another.whose}; ${another.way} moves it`;
  const moves = `\`memsync login --remote ${name} --move\` moves it all to ${name}`;
  if (global === 0 || !isShared(audience)) return moves;
  const agrees = audience.agreed ? "" : "; it asks first, or takes --yes for an answer";
  return `${moves}, where global is seen by ${seenBy(audience)}${agrees}`;
}

/** Who can read what is in `global`, in words that follow "seen by". */
export function seenBy(audience: AudienceView | null): string {
  if (audience === null) return "you alone";
  const { account, users, heard_at } = audience;
  const whom = `everybody in ${account ?? "this account"}`;
  if (users === null) return whom;
  const at = isAged(audience) ? ` as of ${momentShown(heard_at ?? "", realWorld.now())}` : "";
  return `${whom} (${count(users, "user", "users")}${at})`;
}
