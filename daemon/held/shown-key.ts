import type { HeldItem } from "../home/held-store.ts";
import { secretHider } from "./secret-scan.ts";

/**
 * A held write's key, fit for screens and JSON. The key may itself contain the secret, which must
 * not be shown by a message about it.
 */
export async function shownKey({ key, kind, cause }: Pick<HeldItem, "key" | "kind" | "cause">) {
  if (cause !== "private" || kind === "file" || kind === "text") return key;
  const hide = await secretHider();
  return hide(key);
}
