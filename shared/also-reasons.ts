/** Reasons to leave a file alone that follows the project's text beside the one that counts. */
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
  "also-waits": {
    meaning: "the file that counts has to be read first",
    say: () => "waits until the file that counts is there and read",
  },
} as const;
