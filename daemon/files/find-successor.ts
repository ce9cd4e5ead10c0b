import { basename } from "node:path";
import type { Counted, Followable } from "../disk/followable-files.ts";
import type { FileRead } from "../disk/read-file.ts";
import { areAlike } from "./lines/alike-texts.ts";
import type { FollowedState } from "./state/follow-store.ts";

/** The file that continues a followed one under another name. */
export interface FileSuccessor {
  readonly path: string;
  /** Its text is a different one, so it is met like a file that was created again. */
  readonly isAnother: boolean;
}

/** What decides which file is the successor. */
export interface SuccessorFacts {
  readonly known: FollowedState;
  readonly counted: Counted;
  /** What stands at the known path. */
  readonly read: FileRead;
  /** Reads one of the files beside it. A file that is being written counts as absent. */
  readonly readBeside: (followable: Followable) => Promise<FileRead>;
}

/**
 * Finds the file that continues the followed one after a rename, perhaps with an edit. If the file
 * is gone, it is a file that was not there before or that has the same text. A file that was beside
 * it with another text does not count: somebody who deletes one of two files may mean either.
 */
export async function findSuccessor(facts: SuccessorFacts): Promise<FileSuccessor | undefined> {
  const { known, read } = facts;
  if (known.base.text.trim() === "" || read.kind === "problem") return undefined;
  if (read.kind === "text") return await findMovedText(facts, read);
  if (!known.isGone) return undefined;
  const texts = await readTexts(facts);
  const same = texts.find(({ hash }) => hash === known.hash);
  if (same) return { path: same.path, isAnother: false };
  const isNew = ({ path }: Text) => cameSince(known, path);
  const [found, ...others] = texts.filter(isNew);
  if (!found || others.length > 0) return undefined;
  return { path: found.path, isAnother: !areAlike(known.base.text, found.content) };
}

/**
 * The successor where another text took the file's name: a file that has the old text now, if the
 * new text refers to it, as `@AGENTS.md` does, or if it appeared at the same time.
 */
async function findMovedText(
  facts: SuccessorFacts,
  { hash, content }: Pick<Text, "hash" | "content">,
): Promise<FileSuccessor | undefined> {
  const { known } = facts;
  if (hash === known.hash || areAlike(known.base.text, content)) return undefined;
  for (const text of await readTexts(facts)) {
    const isNew = cameSince(known, text.path);
    const isSame = text.hash === known.hash;
    if (!isNew && !content.includes(basename(text.path))) continue;
    if (!isSame && !areAlike(known.base.text, text.content)) continue;
    return { path: text.path, isAnother: !isSame && !isNew };
  }
  return undefined;
}

/** A file beside the followed one. */
interface Text {
  readonly path: string;
  readonly hash: string;
  readonly content: string;
}

/** Nothing is known of what was beside a file that an older version followed. */
function cameSince({ beside }: FollowedState, path: string): boolean {
  return beside !== undefined && !beside.includes(path);
}

async function readTexts({ counted, readBeside }: SuccessorFacts): Promise<Text[]> {
  const texts: Text[] = [];
  for (const each of counted.beside) {
    const found = each.problem === undefined ? await readBeside(each) : undefined;
    if (found?.kind === "text") texts.push(found);
  }
  return texts;
}
