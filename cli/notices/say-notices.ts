import type { Environment } from "../place/environment.ts";
import { count, sayAside } from "../screen/output.ts";
import { visible } from "../screen/visible.ts";
import type { Notice } from "./notice.ts";
import { readUnseen } from "./notice-files.ts";
import { QUIET_COMMANDS } from "./quiet-commands.ts";

/** `status` shows the same itself. */
const QUIET = [...QUIET_COMMANDS, "status"];

const NAMED_MAX = 3;

/**
 * Prints notices that no command has shown yet, on standard error, at the end of other commands.
 */
export function sayNotices({ home }: Environment, args: readonly string[]): void {
  const [command = ""] = args;
  if (command === "" || QUIET.includes(command) || args.includes("--json")) return;
  for (const line of noticeLines(readUnseen(home))) sayAside(line);
}

/** A line for the conflicts, one for held writes, and one for joined projects. */
function noticeLines(notices: readonly Notice[]): string[] {
  const held = notices.filter(({ kind }) => kind === "held");
  return [
    ...conflictLine(notices, ["new conflict", "new conflicts"]),
    ...(held.length > 0 ? [`held on this machine, ${named(held)}: \`memsync held\` says why`] : []),
    ...joinedLine(notices),
  ];
}

/** One line, whatever is joined: every command repeats it until the list has shown all of it. */
export function joinedLine(notices: readonly Notice[]): string[] {
  const told = notices.flatMap(({ where, joined }) => (joined ? [{ where, joined }] : []));
  const [first, ...others] = told;
  if (!first) return [];
  const { name, id, machine, here } = first.joined;
  const by = here ? " on this machine" : machine === null ? "" : ` on ${machine}`;
  const more = others.length === 0 ? "" : `, and ${count(others.length, "other", "others")} so`;
  const how = first.joined.is_return ? "no more joined by" : "joined to";
  const what = `${first.where} is ${how} ${name ?? id}${by}${more}`;
  return [visible(`${what}: \`memsync projects\` says what to do`)];
}

/** At most one line, which counts and names the conflicts among the notices. */
export function conflictLine(
  notices: readonly Notice[],
  [one, many]: readonly [string, string] = ["conflict", "conflicts"],
): string[] {
  const conflicts = notices.filter(({ kind }) => kind === "conflict");
  if (conflicts.length === 0) return [];
  const shows = conflicts.length === 1 ? "shows it" : "shows them";
  const counted = count(conflicts.length, one, many);
  return [`${counted}, ${named(conflicts)}: \`memsync conflicts\` ${shows}`];
}

/**
 * The names of what the notices are about. What occurs several times is named once, with its
 * number.
 */
function named(notices: readonly Notice[]): string {
  const counts = new Map<string, number>();
  for (const { where, what } of notices) {
    const name = `${what} in ${where}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const shown = [...counts].slice(0, NAMED_MAX);
  const names = shown.map(([name, times]) => (times > 1 ? `${name} (${times})` : name));
  const more = shown.reduce((left, [, times]) => left - times, notices.length);
  return visible(`${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`);
}
