import type { AudienceView } from "../audience-view.ts";
import { count } from "./output.ts";

/** Whether others than the user see what is in `global`, or may, where nobody has said. */
export function isShared(audience: AudienceView | null): audience is AudienceView {
  return audience !== null && audience.users !== 1;
}

/** Who sees what is in `global`, in words that follow "seen by". */
export function seenBy(audience: AudienceView | null): string {
  if (audience === null) return "you alone";
  const { account, users } = audience;
  const whom = `everybody in ${account ?? "this account"}`;
  return users === null ? whom : `${whom} (${count(users, "user", "users")})`;
}
