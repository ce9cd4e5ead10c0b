import { count } from "./count.ts";
import { LIMITS } from "./limits.ts";

const DAMAGES = {
  "no-end": "has a first mark of memsync and no last one",
  "no-begin": "has a last mark of memsync and no first one before it",
  doubled: "has marks of memsync for more than one block",
  broken: "has marks of memsync of which one was changed",
} as const;

/** Of a text that is about to leave; by the numbers of its lines, where it has several. */
export function sayPersonalLines(lines: readonly number[]): string {
  if (lines.length === 0) return "has a line of your personal text";
  return `has ${count(lines.length, "line", "lines")} of your personal text, from line ${lines[0]}`;
}

/** Reasons to leave a file alone that is to have the personal text, and what is asked about one. */
export const PERSONAL_REASONS = {
  "personal-marks": {
    meaning: "the marks around the personal text are not whole, so nobody knows what is in between",
    say: ({ damage }: { readonly damage: keyof typeof DAMAGES }) => DAMAGES[damage],
    advise: () => "mend them, or delete them with what is in between",
  },
  "personal-same": {
    meaning: "the file is another assistant's as well, by a link, and has the personal text so",
    say: ({ other }: { readonly other: string }) => `is the file of ${other}, by a link`,
  },
  "personal-block": {
    meaning: "a write has a personal text between its marks, which is one person's alone",
    say: ({ line }: { readonly line: number | null }) =>
      `has a personal text between memsync's marks${line === null ? "" : `, from line ${line}`}`,
  },
  "personal-lines": {
    meaning: "a write has lines of the personal text, which others do not have yet",
    say: ({ lines, inKey }: { readonly lines: readonly number[]; readonly inKey?: boolean }) =>
      `${inKey ? "its key " : ""}${sayPersonalLines(lines)}`,
  },
  "personal-in-project": {
    meaning: "the file is followed for a project, whose members see and write it",
    say: ({ project }: { readonly assistant: string; readonly project: string }) =>
      `is a file of the project ${project}, which others see and write`,
    advise: ({ assistant }: { readonly assistant: string }) =>
      `\`memsync personal off ${assistant}\` leaves it to the project`,
  },
  "personal-of-another": {
    meaning:
      "the daemon was started with another user's token or service, so the file is left alone",
    say: () => "is neither read nor written, for the daemon was not started as the text's user",
    advise: () => "`memsync stop`, then `memsync start` in that user's shell",
  },
  "personal-unheard": {
    meaning:
      "the service has not told yet whose the daemon's token is, so the file is left as it is",
    say: () => "waits until the service has told whose the daemon's token is",
  },
  "personal-unsaved": {
    meaning:
      "the block of a project's file has what the personal text lacks, so it is not taken out",
    say: (_: { readonly assistant: string }) =>
      "has lines between the marks that your text has not, and is a project's file",
    advise: ({ assistant }: { readonly assistant: string }) =>
      "move them elsewhere, then say it again, " +
      `or \`memsync personal off ${assistant} --keep-text\` gives them to the project`,
  },
  "personal-tracked": {
    meaning: "git tracks the file, so it is read for the personal text, and not written",
    say: (_: { readonly assistant: string }) =>
      "lacks what others wrote, for git tracks it and brings that",
    advise: ({ assistant }: { readonly assistant: string }) =>
      `\`memsync personal on ${assistant} --write\` writes it, too`,
  },
  "personal-too-large": {
    meaning: "the personal text in the file is over the limit of a memory",
    say: () => `has more than ${LIMITS.memoryValueBytes} bytes in the block`,
    advise: () => "shorten it",
  },
  "personal-apart": {
    meaning:
      "versions of the personal text stand side by side, for together they are over the limit",
    say: () =>
      `has one of several versions, which together are over ${LIMITS.memoryValueBytes} bytes`,
    // A service of the published interface alone keeps each under a key of its own.
    advise: ({ key }: { readonly key?: string | undefined }) => {
      const shows = key === undefined ? "conflicts" : `get ${key} --layer user`;
      return `\`memsync ${shows}\` shows what is beside it; shorten the text`;
    },
  },
  "personal-held": {
    meaning: "the personal text in the file looks like a secret, and is held",
    say: () => "has what is held",
    advise: () => "`memsync held` says why",
  },
  "personal-dangling": {
    meaning: "the file is a symbolic link that leads to nothing",
    say: () => "is a symbolic link to nothing",
    advise: () => "mend the link or remove it",
  },
  "personal-mark-in-text": {
    meaning: "the personal text has a line like the marks around it, and is written nowhere",
    say: () => "does not get a text that has memsync's own marks in it",
    advise: () => "take that line out of the text",
  },
  "personal-hides": {
    meaning: "a CLAUDE.md is not made where Claude Code would no longer read an AGENTS.md for it",
    say: () => "is not made, for Claude Code may read the AGENTS.md beside it instead",
    advise: () => "make it yourself, then say it again",
  },
  "personal-just-gone": {
    meaning:
      "the personal text in the file is gone since some seconds; if it stays so, it is asked",
    say: () => "has lost the text a moment ago; in ten seconds you are asked what that means",
  },
  "personal-missing": {
    meaning: "the file, or the personal text in it, is gone, which deletes nothing elsewhere",
    say: (_: { readonly assistant: string }) => "has the text no more",
    advise: ({ assistant }: { readonly assistant: string }) =>
      `\`memsync personal on ${assistant}\` puts it in again, \`off ${assistant}\` leaves it out`,
  },
  "personal-emptied": {
    meaning: "nothing stands in the block of the personal text, which deletes nothing elsewhere",
    say: (_: { readonly assistant: string }) => "has nothing between the marks",
    advise: ({ assistant }: { readonly assistant: string }) =>
      `\`memsync personal on ${assistant}\` brings the text back, \`take ${assistant}\` empties all`,
  },
  "personal-former": {
    meaning: "an earlier version of the personal text was put back into the file",
    say: (_: { readonly assistant: string }) => "has an earlier version of the text",
    advise: ({ assistant }: { readonly assistant: string }) =>
      `\`memsync personal on ${assistant}\` brings the last one, ` +
      `\`take ${assistant}\` has this one everywhere`,
  },
  "personal-found": {
    meaning: "a block was in the file before it was turned on, or while a project had the file",
    say: (_: { readonly assistant: string }) =>
      "has lines between the marks that may be somebody else's",
    advise: ({ assistant }: { readonly assistant: string }) =>
      `\`memsync personal take ${assistant}\` shows them and adds them to your text; ` +
      "or take them out of the file",
  },
  "personal-deleted": {
    meaning: "the personal text was deleted elsewhere, and stays in the file",
    say: (_: { readonly assistant: string }) => "keeps the text, which was deleted elsewhere",
    advise: ({ assistant }: { readonly assistant: string }) =>
      `\`memsync personal take ${assistant}\` brings it back, \`off ${assistant}\` deletes it here`,
  },
} as const;
