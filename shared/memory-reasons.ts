import { LIMITS } from "./limits.ts";
import { shellWord } from "./shell-word.ts";

/** A line of a file. */
export interface SaidLine {
  readonly line: string;
  /** The id by which a command names it. */
  readonly id: string;
}

/** A memory of which no file is made. */
export interface UnwrittenKey {
  readonly key: string;
}

/** A text that is held. */
export interface HeldText {
  /** The id by which a command names it. */
  readonly id: string;
}

function howLineIsSettled({ id }: SaidLine): string {
  return `\`memsync lines drop ${id}\` has it nowhere, \`keep ${id}\` has it everywhere`;
}

/** Reasons to leave a file alone in which an assistant keeps what it remembers, or its folder. */
export const MEMORY_REASONS = {
  "memory-several": {
    meaning: "several projects may have the folder of memories, since its name is not one path's",
    say: ({ paths }: { readonly paths: readonly string[] }) =>
      `may be that of ${paths.length > 1 ? paths.join(" or ") : "several projects"}`,
    advise: () => "it is neither read nor written until only one of them is there",
  },
  "memory-former": {
    meaning: "the folder of memories was a project's whose path is another's now",
    say: ({ former, paths }: { readonly former: string; readonly paths: readonly string[] }) =>
      `was that of ${former}, and may now be that of ${paths.join(" or ")}`,
    advise: ({ former }: { readonly former: string }) =>
      `move it away with \`mv\`: what was read of it stays with ${former}, and a new one begins`,
  },
  "memory-folder-link": {
    meaning: "the folder of memories, or a folder in it, is a symbolic link",
    say: () => "is a symbolic link or in one, and is left alone",
    advise: () => "put a folder in its place",
  },
  "memory-too-many": {
    meaning: "the folder of memories has more files than it is followed with",
    say: ({ files }: { readonly files: number }) => `has ${files} files, which are left alone`,
    advise: () => "leave at most 1000 in it",
  },
  "memory-too-large": {
    meaning: "a file of memories is over the limit of a memory",
    say: () => `is over ${LIMITS.memoryValueBytes} bytes`,
    advise: () => "shorten it or split it",
  },
  "memory-name": {
    meaning: "not every system can have a file of this name",
    say: () => "has a name that not every system can have",
    advise: () => "rename it",
  },
  "memory-key": {
    meaning: "not every system can have a file of the name that a memory's key gives it",
    say: (_: UnwrittenKey) =>
      "is made of no memory here, for not every system can have a file of this name",
    advise: ({ key }: UnwrittenKey) =>
      `the memory stays; \`memsync get ${shellWord(key)}\` prints it, to be saved under another key`,
  },
  "memory-ending": {
    meaning: "the name's ending is right but for upper and lower case",
    say: ({ ending }: { readonly ending: string }) => `has a name that does not end in ${ending}`,
    advise: ({ ending }: { readonly ending: string }) => `rename it to end in ${ending}`,
  },
  "memory-form": {
    meaning: "the name is right but for how its letters are encoded (Unicode's form NFD)",
    say: () => "has a name whose accents are characters of their own (Unicode's form NFD)",
    advise: () => "rename it by typing the name anew; it will look the same",
  },
  "memory-clash": {
    meaning: "another file has this name but for upper and lower case, or for how it is encoded",
    say: ({ other }: { readonly other: string }) => `has the name of ${other} on some systems`,
    advise: () => "rename one of them",
  },
  "memory-folder-full": {
    meaning: "with this memory's file the folder would have more than it is followed with",
    say: () => "is not written, because the folder would have over 1000 files",
    advise: () => "delete memories that nobody needs",
  },
  "memory-index-full": {
    meaning: "the index has no room for a line about this file that an assistant would read",
    say: () => "is in no line of MEMORY.md, which is full",
    advise: () => "shorten MEMORY.md",
  },
  "memory-index-long": {
    meaning: "with others' lines the index is longer than what an assistant reads of it",
    say: () => "would be longer than an assistant reads, with what others wrote in it",
    advise: () => "shorten it, here or there",
  },
  "memory-index-apart": {
    meaning: "versions of the index stand side by side, for together they are over the limit",
    say: () => `has several versions, which together are over ${LIMITS.memoryValueBytes} bytes`,
    advise: () => "`memsync conflicts` shows them; shorten the file",
  },
  "line-returned": {
    meaning: "a save brought a line back that was taken out less than a minute before",
    say: ({ line }: SaidLine) =>
      `has again what was taken out less than a minute before a save: ${line.trim()}`,
    advise: howLineIsSettled,
  },
  "line-kept": {
    meaning: "a save left a line out that its author may not have seen, and it stays",
    say: ({ line }: SaidLine) =>
      `has still what a save left out that may not have seen it: ${line.trim()}`,
    advise: howLineIsSettled,
  },
  "line-elsewhere": {
    meaning: "a save left a line out that its author may not have seen; the file is only read",
    say: ({ line }: SaidLine) =>
      `lacks what a save left out that may not have seen it, and what stays elsewhere: ${line.trim()}`,
    advise: howLineIsSettled,
  },
  "line-undone": {
    meaning: "a line that was taken out here was brought back by somebody else's version",
    say: ({ line }: SaidLine) =>
      `has again what was taken out here, from somebody who may not have seen that: ${line.trim()}`,
    advise: howLineIsSettled,
  },
  "line-gone": {
    meaning: "a save took others' line away that one on this machine had left out unseen before",
    say: ({ line }: SaidLine) =>
      `has lost what two saves left out that may not have seen it: ${line.trim()}`,
    advise: howLineIsSettled,
  },
  "line-dropped": {
    meaning: "others took a line out that one on this machine had decided to keep",
    say: ({ line }: SaidLine) => `has lost what was to stay, and others took out: ${line.trim()}`,
    advise: howLineIsSettled,
  },
  "line-waits": {
    meaning: "somebody has decided about a line, and the file is not to be written yet",
    say: ({ line }: SaidLine) =>
      `is not yet as it was decided, until it can be written and has room: ${line.trim()}`,
    advise: ({ id }: SaidLine) => `\`memsync lines drop ${id}\` or \`keep ${id}\` decides anew`,
  },
  "lines-met": {
    meaning: "two sides rewrote one line at once, and both versions stand in the file",
    say: ({ line, other }: { readonly line: string; readonly other: string }) =>
      `has both versions of a line that two have rewritten: ${line.trim()} | ${other.trim()}`,
    advise: () => "delete one of them if it is too much",
  },
  "memory-held-gone": {
    meaning: "a file is gone of which a text is held, or has another text now",
    say: (_: HeldText) => "no longer has a text that was held of it, which stays on this machine",
    advise: ({ id }: HeldText) =>
      `\`memsync held show ${id}\` prints it, \`memsync held drop ${id}\` deletes it`,
  },
  "memory-held-others": {
    meaning: "a file has a held text, and so does not get what others wrote",
    say: (_: HeldText) => "has a held text, beside which what others wrote does not come",
    advise: ({ id }: HeldText) =>
      `take the secret out of it, or \`memsync held allow ${id}\` if it is none`,
  },
  "memory-linked": {
    meaning: "the file has further names (hard links), and is not written",
    say: () => "has further names, and is not written",
    advise: () => "put a file of its own in its place",
  },
  "memory-tracked": {
    meaning: "git tracks the file, and nobody has agreed that it is written",
    say: () => "is not written, for git tracks it",
    advise: () => "`memsync link --write` writes it",
  },
  "memory-unasked": {
    meaning: "the file is missing and git would show it, and nobody has agreed that it is made",
    say: () => "is not made, for git would show it",
    advise: () => "`memsync link --write` makes it",
  },
  "memory-aside-in-git": {
    meaning: "a tracked file has others' version, and what was written here is a conflict of it",
    say: () => "has others' version, and git tracks it; what was written here is in a conflict",
    advise: () => "`memsync conflicts` shows it: settle that before you commit the file",
  },
  "memory-as-in-git": {
    meaning: "the file is as git has it, and the memory is another",
    say: () => "is as git has it, and the memory is another",
    advise: () => "save it to have both, as a conflict",
  },
  "memory-unwritable": {
    meaning: "the system does not let the file be written",
    say: ({ said }: { readonly said: string }) => `can't be written: ${said}`,
  },
} as const;
