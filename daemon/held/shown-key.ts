import type { HeldItem } from "../home/held-store.ts";
import { findSecrets } from "./secret-scan.ts";

/** Stands where a secret was. */
const HIDDEN = "[secret]";

/**
 * A held write's key as it may be shown on screens and in JSON. A secret may stand in the key
 * itself, and is not to be told by whatever says that it is held.
 */
export async function shownKey({ key, kind, cause }: Pick<HeldItem, "key" | "kind" | "cause">) {
  if (cause !== "secret" || kind === "file" || kind === "text") return key;
  let shown = key;
  for (const { text } of await findSecrets(key)) shown = shown.replaceAll(text, HIDDEN);
  return shown;
}
