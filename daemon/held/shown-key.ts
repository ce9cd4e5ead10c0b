import type { HeldItem } from "../home/held-store.ts";
import { findSecrets } from "./secret-scan.ts";

/** Shown in place of a secret. */
const HIDDEN = "[secret]";

/**
 * A held write's key, fit for screens and JSON. The key may itself contain the secret, which must
 * not be shown by a message about it.
 */
export async function shownKey({ key, kind, cause }: Pick<HeldItem, "key" | "kind" | "cause">) {
  if (cause !== "secret" || kind === "file" || kind === "text") return key;
  let shown = key;
  for (const { text } of await findSecrets(key)) shown = shown.replaceAll(text, HIDDEN);
  return shown;
}
