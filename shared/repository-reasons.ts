import { shellWord } from "./shell-word.ts";

/** The project that a repository's name stands for. */
export interface RepositoryProject {
  readonly id: string;
}

/** A folder that its repository has under another path now. */
export interface RenamedFolder extends RepositoryProject {
  readonly path: string;
}

/** A linked folder that git has renamed, so that nothing is at its path. */
export interface GoneByRename extends RepositoryProject {
  /** The folder that it became. */
  readonly to: string;
}

/** What is said of a linked folder whose repository names another project, for `reasons.ts`. */
export const REPOSITORY_REASONS = {
  "repository-identified": {
    meaning: "git says with more certainty than before which project a folder is",
    say: () => "git says better now which project this is",
    advise: () => "`memsync link` there makes it that one",
  },
  "repository-renamed": {
    meaning: "a linked folder's repository has another URL or first commit than before",
    say: ({ id }: RepositoryProject) =>
      "its repository is named by another URL or first commit now; " +
      `it stays this one, until \`memsync link --id ${id}\` there`,
  },
  "folder-renamed": {
    meaning: "a linked folder of a repository has another path in there than before",
    say: ({ id, path }: RenamedFolder) =>
      "it has another path in its repository now, and stays this project: " +
      `\`memsync link ${shellWord(path)} --id ${id}\` says so here and, with its path, in other clones`,
  },
  "folder-renamed-away": {
    meaning: "a linked folder is gone, because git has renamed it",
    say: ({ to }: GoneByRename) => `git has renamed it to ${to}`,
    advise: ({ id, to }: GoneByRename) =>
      `\`memsync link ${shellWord(to)} --id ${id}\` goes on with its project there`,
  },
  "repository-known": {
    meaning: "the service has the repository's project by the name of an earlier link",
    say: () => "the service has this repository's project by the name of an earlier link",
    advise: ({ id }: RepositoryProject) => `\`memsync link --id ${id}\` there joins it`,
  },
} as const;
