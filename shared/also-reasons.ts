/** Reasons to leave a file alone where several of a folder have the project's text. */
export const ALSO_REASONS = {
  "also-counts": {
    meaning: "the file is to follow the project's text, and is the one that counts",
    say: () => "is the file that counts itself",
    advise: () => "`memsync link --no-also` takes that back",
  },
  "also-imports": {
    meaning: "the file has nothing but an import of another one, which is enough",
    say: () => "only imports another file, and has its text so",
  },
  imports: {
    meaning: "the file that counts has become the import of another one, and deletes nothing",
    say: ({ imported }: ImportsAnother) => `only imports ${imported} now, and deletes nothing`,
    advise: ({ imported }: ImportsAnother) =>
      `\`memsync link --file ${imported}\` follows that one`,
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
