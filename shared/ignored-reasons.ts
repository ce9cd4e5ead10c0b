/** What is said of something that was sent before it was ignored. */
export interface Sent {
  /** The command that deletes what was sent. */
  readonly command: string;
}

/** `file`: the `.memsyncignore` that counts as it was last. */
export interface GoneIgnoreFile {
  readonly file: string;
  /** Whether it is in a linked folder; undefined if that was not kept. */
  readonly isLinked?: boolean;
}

/** A folder of no project, as an assistant's own, has no command. */
function sending({ file, isLinked = true }: GoneIgnoreFile): string {
  const empty = `an empty ${file}`;
  if (!isLinked) return `${empty} sends it`;
  const command = "`memsync link --send-ignored` in the project's folder";
  return `${command} sends it, after asking, or ${empty}`;
}

/** A line of a `.memsyncignore`. */
export interface IgnoredLine {
  readonly line: number;
  readonly text: string;
}

const shown = ({ line, text }: IgnoredLine) => `line ${line}, "${text.trim()}",`;

/** Reasons why a file or a record stays on this machine: its project's folder says so. */
export const IGNORED_REASONS = {
  ignored: {
    meaning: "`.memsyncignore` names the file, or it is private to a machine by its name",
    say: () => "is ignored, and stays on this machine",
  },
  "ignored-sent": {
    meaning: "the same, and there is something of it in the project",
    say: (_: Sent) => "is ignored, and what the project has of it stays there",
    advise: ({ command }: Sent) => `\`${command}\` deletes that everywhere`,
  },
  "ignored-gone": {
    meaning: "a `.memsyncignore` named the file that is not there any more, and still counts",
    say: ({ file }: GoneIgnoreFile) => `stays on this machine, for ${file} named it, which is gone`,
    advise: sending,
  },
  "ignored-lost": {
    meaning: "a damaged home has lost what a `.memsyncignore` named that may have been there",
    say: ({ file }: GoneIgnoreFile) =>
      `stays on this machine, for a damaged home has lost what ${file} may have named`,
    advise: sending,
  },
  "ignore-unreadable": {
    meaning: "nobody knows what is ignored, so nothing of the folder is read or written",
    say: () => "stays on this machine, for its .memsyncignore can't be read",
    advise: () => "make it a file of at most 64 KiB, in UTF-8",
  },
  "ignore-line-two-readings": {
    meaning: "a line of a `.memsyncignore` can mean two things, and what either names stays here",
    say: (facts: IgnoredLine) =>
      `${shown(facts)} has two readings, and what either names stays here`,
    advise: () => "write one name on a line, with no quotes, blanks or comment beside it",
  },
  "ignore-line-no-name": {
    meaning:
      "a line of a `.memsyncignore` is no path from its folder; a file of its last name stays here",
    say: (facts: IgnoredLine) =>
      `${shown(facts)} is no path from this folder, and may keep other files than meant`,
    advise: () => "write a path from the folder, as docs/own.md, or !docs/own.md to let one out",
  },
} as const;
