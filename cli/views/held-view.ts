import { fileAt } from "../../daemon/files/names/also-file.ts";
import { shownKey } from "../../daemon/held/shown-key.ts";
import type { HeldItem } from "../../daemon/home/held-store.ts";
import type { HeldStatus } from "../../daemon/status/held-status.ts";
import { toned } from "../screen/tones.ts";

/** The name of a held write for a person. Never contains a secret, even if its key does. */
export async function shownName(item: Pick<HeldItem, "kind" | "key" | "cause">): Promise<string> {
  return heldName({ kind: item.kind, key: await shownKey(item) });
}

function heldName({ kind, key }: Pick<HeldItem, "kind" | "key">): string {
  if (kind === "memory") return key;
  if (kind === "metadata") return `metadata ${key}`;
  return kind === "text" ? "document" : fileAt(key);
}

/**
 * The status lines about held writes and their projects. Held files are left out here: they are
 * shown with their folders.
 */
export function heldLines(
  held: readonly HeldStatus[],
  projects: readonly { readonly id: string; readonly name: string }[],
  withRemote: boolean,
): string[] {
  const placeOf = ({ project_id, layer }: HeldStatus) =>
    projects.find(({ id }) => id === project_id)?.name ?? project_id ?? layer;
  return held
    .filter(({ kind }) => kind !== "file")
    .flatMap((item) => {
      const { kind, key, remote, advice } = item;
      const at = withRemote && remote !== null ? `   at ${remote}` : "";
      const name = heldName({ kind, key: key ?? "" });
      return [
        `${toned("pending", "held")}      ${name}   ${placeOf(item)}${at}`,
        `          ${advice}`,
      ];
    });
}
