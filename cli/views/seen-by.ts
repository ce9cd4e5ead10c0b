import type { AudienceView } from "../../daemon/status/audience-view.ts";
import { count } from "../screen/output.ts";

/** Width of the column with a status line's subject. */
const LABEL_WIDTH = 10;

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

/** Who can read what is in `global`, in words that follow "seen by". */
export function seenBy(audience: AudienceView | null): string {
  if (audience === null) return "you alone";
  const { account, users } = audience;
  const whom = `everybody in ${account ?? "this account"}`;
  return users === null ? whom : `${whom} (${count(users, "user", "users")})`;
}
