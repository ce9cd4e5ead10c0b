import type { FolderKind, FolderMode } from "../../daemon/home/folder-switches.ts";

/** How screens speak of folders of one kind. */
export interface FolderWords {
  /** In the list of commands. */
  readonly name: string;
  readonly help: string;
  /** Whether writing is turned on by itself; else git's rules alone say what is written. */
  readonly canWrite: boolean;
  /** The beginning of a sentence, up to its verb. */
  readonly subject: string;
  /** Its end, where they are read and written. */
  readonly written: string;
  readonly none: string;
  /** What is done with them, and what changes that. */
  readonly modes: Readonly<Record<FolderMode, string>>;
}

const MISSING = `
A file that is missing deletes nothing elsewhere, nor does a memory that was deleted elsewhere
remove a file here: \`memsync status\` asks, and \`restore\` or \`delete\` settles it.`;

/** What is said of the folders of each kind. */
export const FOLDER_WORDS: Readonly<Record<FolderKind, FolderWords>> = {
  "auto-memory": {
    name: "Claude Code's auto memory",
    help: `
Claude Code keeps what it remembers of a project in a folder of Markdown files. Nothing is done
with them before you say \`on\`. Then each file is a memory of its project: what looks like a secret
is held, everything else is sent with the project. With --write, what came from such files on other
machines is written into files here.
${MISSING}

Examples:
  memsync auto-memory                what there is, and what would be read or is held
  memsync auto-memory on             read it from now on
  memsync auto-memory on --write     and write here what others' assistants remember
  memsync auto-memory off            neither, from now on; what was sent stays where it is
  memsync auto-memory restore        bring back what is asked about, here and everywhere
  memsync auto-memory delete old.md  delete it everywhere`,
    canWrite: true,
    subject: "auto memory is",
    written: "read and written",
    none: "no linked project has a folder of auto memory here",
    modes: {
      off: "auto memory is off: `memsync auto-memory on` reads it, `on --write` writes it, too",
      read: "auto memory is read, and not written: `memsync auto-memory on --write` does both",
      write: "auto memory is read and written: `memsync auto-memory off` ends that",
    },
  },
  serena: {
    name: "Serena's memories",
    help: `
Serena keeps memories of a project in its folder .serena/memories, and those of all projects in
~/.serena/memories/global. Nothing is done with them before you say \`on\`. Then each file is a
memory of its project, or of yours: what looks like a secret is held, everything else is sent. With
--write, what came from such files on other machines is written into files here. What git tracks
is read on the default branch alone, and written only after \`memsync link --write\`.
${MISSING}

Examples:
  memsync serena                what there is, and what would be read or is held
  memsync serena on             read it from now on
  memsync serena on --write     and write here what came from elsewhere
  memsync serena off            neither, from now on; what was sent stays where it is
  memsync serena restore        bring back what is asked about, here and everywhere
  memsync serena delete core.md  delete it everywhere`,
    canWrite: true,
    subject: "Serena's memories are",
    written: "read and written",
    none: "no linked project has memories of Serena here, nor have you",
    modes: {
      off: "Serena's memories are off: `memsync serena on` reads them, `on --write` writes, too",
      read: "Serena's memories are read, and not written: `memsync serena on --write` does both",
      write: "Serena's memories are read and written: `memsync serena off` ends that",
    },
  },
  rules: {
    name: "Rules of Cursor and Claude Code",
    help: `
Rules of a project are the files .cursor/rules/**/*.mdc and .claude/rules/**/*.md. Nothing is done
with them before you say \`on\`. Then they are followed as the instruction file is: what git tracks
is read on the default branch alone, and written only after \`memsync link --write\`; what git
ignores, and what is in no repository, is written. What looks like a secret is held, and
.memsyncignore names what stays here.
${MISSING}

Examples:
  memsync rules                 what there is, and what would be read or is held
  memsync rules on              follow them from now on
  memsync rules off             no more; what was sent stays where it is
  memsync rules restore         bring back what is asked about, here and everywhere
  memsync rules delete old.mdc  delete it everywhere`,
    canWrite: false,
    subject: "rules are",
    written: "followed",
    none: "no linked project has folders of rules here",
    modes: {
      off: "rules are not followed: `memsync rules on` follows them",
      read: "rules are read, and not written: `memsync rules on` follows them",
      write: "rules are followed: `memsync rules off` ends that",
    },
  },
};
