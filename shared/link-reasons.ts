import { shellWord } from "./shell-word.ts";

/** Where a symbolic link leads. */
export interface LinkTarget {
  readonly target: string;
}

const ANOTHER_FILE = "put a file in its place";

/** Reasons to leave a followed file alone that is a symbolic link. */
export const LINK_REASONS = {
  "link-outside": {
    meaning: "the file is a symbolic link out of the folder",
    say: ({ target }: LinkTarget) => {
      return `is a symbolic link to ${target}, which is outside of this folder`;
    },
    advise: () => `${ANOTHER_FILE}, or a link inside`,
  },
  "link-into-git": {
    meaning: "the file is a symbolic link into a .git",
    say: ({ target }: LinkTarget) => `is a symbolic link to ${target}, which is git's own`,
    advise: () => ANOTHER_FILE,
  },
  "link-into-repository": {
    meaning: "the file is a symbolic link into another repository",
    say: ({ target }: LinkTarget) =>
      `is a symbolic link to ${target}, which is another repository's`,
    advise: () => ANOTHER_FILE,
  },
  "link-to-itself": {
    meaning: "the file is a symbolic link that never ends",
    say: () => "is a symbolic link to itself",
  },
  "became-link": {
    meaning: "a symbolic link took the file's place while it was looked at",
    say: () => "is a symbolic link",
    advise: () => ANOTHER_FILE,
  },
  "link-to-other": {
    meaning: "the file is a symbolic link to what is no instruction file by its name",
    say: ({ target }: LinkTarget) => {
      return `is a symbolic link to ${target}, which is no instruction file by its name`;
    },
    advise: () => `${ANOTHER_FILE}, or a link to a *.md or *.mdc that is not hidden`,
  },
  "link-to-program": {
    meaning: "the file is a symbolic link to an executable file",
    say: ({ target }: LinkTarget) => `is a symbolic link to ${target}, which is executable`,
    advise: ({ target }: LinkTarget) => `\`chmod -x ${shellWord(target)}\`, or ${ANOTHER_FILE}`,
  },
  "link-to-ignored": {
    meaning: "git tracks the file, a symbolic link, and ignores what it leads to",
    say: ({ target }: LinkTarget) =>
      `is a symbolic link that git tracks to ${target}, which it ignores`,
    advise: () => `${ANOTHER_FILE}, or have git ignore both or neither`,
  },
} as const;
