/** Reasons to leave a file alone where several of a folder have the project's text. */
export const ALSO_REASONS = {
  "also-counts": {
    meaning: "the file is to follow the project's text, and is the one that counts",
    say: () => "is the file that counts itself",
    advise: () => "`memsync link --no-also` takes that back",
  },
  "also-imports": {
    meaning: "the file has nothing but an import of another one, which is enough",
    say: () => "only imports another one, and has its text so",
  },
  imports: {
    meaning: "the file that counts has become the import of another one, and deletes nothing",
    say: ({ imported }: ImportsAnother) => `only imports ${imported} now, and deletes nothing`,
    advise: ({ imported }: ImportsAnother) =>
      `\`memsync link --file ${imported}\` follows that one`,
  },
  "import-instead": {
    meaning: "the file has an import in place of most of the project's text, which stays",
    say: () => "has an import in place of the project's text, which stays, and is not written here",
    advise: () => "`memsync doc clear` lets this file's text take its place on every machine",
  },
  "imports-back": {
    meaning: "two files import each other, and the text is in neither of them",
    say: ({ imported }: ImportsAnother) =>
      `imports ${imported}, which imports it: the text is in neither of them`,
    advise: ({ imported }: ImportsAnother) => `\`memsync doc > ${imported}\` writes it there`,
  },
  "imports-beside": {
    meaning: "a save has lines beside the import of a file that would have these lines, too",
    say: ({ imported }: ImportsBeside) =>
      `imports ${imported} and has lines of its own: as one text ${imported} would import itself`,
    advise: ({ command }: ImportsBeside) => `\`${command}\` lets each file be as it is`,
  },
  "also-imported": {
    meaning: "the project's text imports the file, which would import itself with it",
    say: () => "is imported by the project's text, and would import itself with it",
    advise: () => "take the import out of the text, or say `memsync link --no-also`",
  },
  "also-waits": {
    meaning: "the file that counts has to be read first",
    say: () => "waits until the file that counts is there and read",
  },
} as const;

/** A file that has nothing but the import of another one. */
export interface ImportsAnother {
  readonly imported: string;
}

/** A file that imports another one, and the command that settles what is to become of both. */
export interface ImportsBeside extends ImportsAnother {
  readonly command: string;
}
