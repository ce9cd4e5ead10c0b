import type { HeldItem } from "../held/held-store.ts";
import type { HeldStatus } from "../held/held-status.ts";

/** What a held write is of, as a person would say it. */
export function heldName({ kind, key }: Pick<HeldItem, "kind" | "key">): string {
  if (kind === "memory") return key;
  if (kind === "metadata") return `metadata ${key}`;
  return kind === "text" ? "document" : `file in ${key}`;
}

/** The lines of `status` about what is held; files are with their folders. */
export function heldLines(held: readonly HeldStatus[], withRemote: boolean): string[] {
  return held
    .filter(({ kind }) => kind !== "file")
    .flatMap(({ kind, key, layer, project_id, remote, advice }) => [
      `held      ${heldName({ kind, key: key ?? "" })}   ${project_id ?? layer}` +
        (withRemote && remote !== null ? `   at ${remote}` : ""),
      `          ${advice}`,
    ]);
}
