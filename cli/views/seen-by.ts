import type { AudienceView } from "../../daemon/status/audience-view.ts";
import { count } from "../screen/output.ts";

/** What a line of the status is about stands so wide before it. */
const LABEL_WIDTH = 10;

/** Whether others than the user see what is in `global`, or may, where nobody has said. */
export function isShared(audience: AudienceView | null): audience is AudienceView {
  return audience !== null && audience.users !== 1;
}

/** A line about a layer that is no project's: whose it is, and who sees what is in it. */
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

/** Who sees what is in `global`, in words that follow "seen by". */
export function seenBy(audience: AudienceView | null): string {
  if (audience === null) return "you alone";
  const { account, users } = audience;
  const whom = `everybody in ${account ?? "this account"}`;
  return users === null ? whom : `${whom} (${count(users, "user", "users")})`;
}
