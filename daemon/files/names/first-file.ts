import type { Followable } from "../../disk/followable-files.ts";
import type { FileRead } from "../../disk/read-file.ts";
import { areAlike } from "../lines/alike-texts.ts";

/** What decides which file counts if none was followed before. */
export interface FirstFacts {
  /** In the order in which they count. */
  readonly found: readonly Followable[];
  readonly read: (followable: Followable) => Promise<FileRead>;
  /** The document's text. */
  readonly document: string;
}

/**
 * Which of several files belongs to the document: the only one that has its text, perhaps edited,
 * because other machines follow that one. Else the first in order that does more than import
 * another one, as a `CLAUDE.md` with nothing but `@AGENTS.md` does. Undefined where that is the
 * first anyway.
 */
export async function findFirstFile(facts: FirstFacts): Promise<string | undefined> {
  const { found, document } = facts;
  if (found.length < 2) return undefined;
  const texts: { readonly path: string; readonly content: string }[] = [];
  for (const each of found) {
    const read = each.problem === undefined ? await facts.read(each) : undefined;
    if (read?.kind === "text") texts.push(read);
  }
  const [alike, ...others] = texts.filter(({ content }) => areAlike(document, content));
  if (alike && others.length === 0) return alike.path;
  const paths = texts.map(({ path }) => path);
  const [first] = found;
  const imported = texts.find(({ path }) => path === first?.path)?.content.trim();
  return paths.find((path) => imported === `@${path}` || imported === `@./${path}`);
}
