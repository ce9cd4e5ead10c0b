import { readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { ABSENT_HASH, hashOf, isMissing } from "../../daemon/disk/read-file.ts";
import { replaceFile } from "../../daemon/disk/write-file.ts";
import { messageOf } from "../../shared/errors.ts";
import { realWorld } from "../../shared/world-real.ts";
import { CommandFailed } from "../screen/errors.ts";
import { tilde } from "../screen/tilde.ts";
import type { SettingsFile } from "./assistant.ts";
import {
  insertEntry,
  parseSettings,
  refuseDoubled,
  removeEntry,
  type SettingsEntry,
  stateOf,
  UnreadableSettings,
} from "./settings-text.ts";

/** More than any settings have; Claude Code's has a history of projects besides. */
const BYTES_MAX = 64 * 1024 * 1024;

/** What a file of settings has, and what is to be done about that. */
export type SettingsRead =
  | {
      readonly kind: "read";
      /** Undefined where there is no file. */
      readonly text: string | undefined;
      readonly hash: string;
      readonly absent: readonly SettingsEntry[];
      readonly present: readonly SettingsEntry[];
      readonly other: readonly SettingsEntry[];
    }
  | { readonly kind: "unreadable"; readonly why: string };

/**
 * Reads a file of settings. `beside`: what else belongs into files of its assistant; nothing is
 * written into a file where any of that has no place of its own.
 */
export function readSettingsFile(
  { path, syntax, entries }: SettingsFile,
  beside: readonly SettingsFile[] = [],
): SettingsRead {
  try {
    const { text, hash } = readSettingsText(path);
    parseSettings(text ?? "", syntax);
    const others = beside.filter((file) => file.path === path).flatMap((file) => file.entries);
    refuseDoubled(text ?? "", syntax, [...entries, ...others]);
    const of = (state: string) =>
      entries.filter((entry) => stateOf(text ?? "", syntax, entry) === state);
    const [absent, present, other] = [of("absent"), of("present"), of("other")];
    return { kind: "read", text, hash, absent, present, other };
  } catch (thrown) {
    return { kind: "unreadable", why: messageOf(thrown) };
  }
}

/** Links are followed: many keep their settings in a repository of their own. */
export function readSettingsText(path: string): {
  readonly text: string | undefined;
  readonly hash: string;
} {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > BYTES_MAX) throw new UnreadableSettings("is too large for settings");
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, hash: hashOf(bytes) };
  } catch (thrown) {
    if (isMissing(thrown)) return { text: undefined, hash: ABSENT_HASH };
    if (thrown instanceof TypeError) throw new UnreadableSettings("is not in UTF-8");
    throw thrown;
  }
}

/** The text with what it lacks. */
export function completed(
  { syntax }: SettingsFile,
  text: string,
  absent: readonly SettingsEntry[],
) {
  return absent.reduce((before, entry) => insertEntry(before, syntax, entry), text);
}

/** The text without what is ours in it. */
export function cleared({ syntax, entries }: SettingsFile, text: string): string {
  const ours = entries.filter(
    (entry) => !entry.isShared && stateOf(text, syntax, entry) === "present",
  );
  return ours.reduce((before, entry) => removeEntry(before, syntax, entry), text);
}

/** Writes the text whole, where the file still has the bytes of `hash`. It survives a crash. */
export async function writeSettingsText(
  path: string,
  text: string,
  { hash, within }: { readonly hash: string; readonly within: string },
): Promise<void> {
  const target = hash === ABSENT_HASH ? path : realpathSync(path);
  const options = { expectedHash: hash, world: realWorld, within };
  const outcome = await replaceFile(target, text, options);
  if (outcome.kind === "written") {
    await outcome.replaced?.close();
    return;
  }
  const where = tilde(path);
  throw new CommandFailed(
    `${where} was changed, or its folder ${tilde(dirname(path))} went away, while it was ` +
      "written: nothing was done to it; try again",
  );
}
