import { basename } from "node:path";
import type { Counted, Followable } from "../disk/followable-files.ts";
import type { FileRead } from "../disk/read-file.ts";
import { areAlike } from "./alike-texts.ts";
import type { FollowedState } from "./follow-store.ts";

/** A file that goes on under another name. */
export interface FileSuccessor {
  readonly path: string;
  /** Its text is another one: it is met like a file that was made anew. */
  readonly isAnother: boolean;
}

/** What a successor is found by. */
export interface SuccessorFacts {
  readonly known: FollowedState;
  readonly counted: Counted;
  /** What stands at the known path. */
  readonly read: FileRead;
  /** Reads one of those beside it; absent while it is being written. */
  readonly readBeside: (followable: Followable) => Promise<FileRead>;
}

/**
 * The file that goes on from the followed one, which was renamed, and edited perhaps. Where the
 * name is a symbolic link now, that is the one it leads to. Where the file is gone it is one that
 * was not there before, or that holds the same text. A file that stood beside it with another text
 * is not taken for it: whoever deletes one of two may mean either.
 */
export async function findSuccessor(facts: SuccessorFacts): Promise<FileSuccessor | undefined> {
  const { known, counted, read } = facts;
  if (known.base.text.trim() === "" || read.kind === "problem") return undefined;
  if (read.kind === "text") return await findMovedText(facts, read);
  const led = counted.beside.find(({ name, path }) => name === known.path && path !== name);
  if (!led && !known.isGone) return undefined;
  const texts = await readTexts(facts);
  const same = texts.find(({ hash }) => hash === known.hash);
  if (same) return { path: same.path, isAnother: false };
  const isNew = ({ path }: Text) => cameSince(known, path);
  const [found, ...others] = led
    ? texts.filter(({ path }) => path === led.path)
    : texts.filter(isNew);
  if (!found || others.length > 0) return undefined;
  return {
    path: found.path,
    isAnother: !isNew(found) || !areAlike(known.base.text, found.content),
  };
}

/**
 * The same where another text took the file's name: one that refers to the file which holds now
 * what was there, as `@AGENTS.md` does, or that came with it.
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

/** Of what stood beside a file that an older version followed nothing is known. */
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
