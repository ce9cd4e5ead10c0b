import { dirname, join, normalize } from "node:path";
import type { Kysely } from "kysely";
import type { Reason } from "../../../shared/reasons.ts";
import { findCodeBlocks } from "../../../shared/replica/text/code-blocks.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { FOLLOWED_NAMES } from "../../disk/followable-files.ts";
import { readFileAt } from "../../disk/read-file.ts";
import { type Link, listLinks } from "../../home/links.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { alsoKey, alsoNameOf, folderOf } from "../names/also-file.ts";
import { importedPaths, isImport } from "../names/import-file.ts";
import type { Readable } from "./follow-facts.ts";
import { readFollowed } from "./follow-store.ts";

/** `@` and a path, at the beginning of a line or behind a space. */
const IMPORTS = /(?<=^|\s)@([^\s`]+)(?=\s|$)/g;

/** What may stand behind a path where a sentence ends. */
const SENTENCE_ENDS = ".,;:!?)";

/** Of code between backticks assistants read no import. */
const CODE_SPANS = /(`+)[^`]*\1/g;

/** Which of these paths a text imports, anywhere in it, as a file at `path` or at the top. */
function importsAnyOf(text: string, path: string, paths: readonly string[]): string | undefined {
  const targets = outsideOfCode(plainLines(text)).flatMap(targetsIn);
  const imported = targets.flatMap((each) => [join(dirname(path), each), normalize(each)]);
  return paths.find((each) => imported.includes(each));
}

function targetsIn(line: string): string[] {
  const said = line.replaceAll(CODE_SPANS, "");
  return [...said.matchAll(IMPORTS)].map(([, name = ""]) => withoutSentenceEnd(name));
}

/** What a text imports. Within a sentence a name may be anybody's, unless it is that of a text. */
function importsIn(text: string): string[] {
  return outsideOfCode(plainLines(text)).flatMap((line) => {
    const isAlone = isImport(line);
    return targetsIn(line).filter((target) => isAlone || target.endsWith(".md"));
  });
}

function outsideOfCode(lines: readonly string[]): string[] {
  const code = new Set<number>();
  for (const [from, to] of findCodeBlocks(lines)) {
    for (let at = from; at < to; at++) code.add(at);
  }
  return lines.filter((_, at) => !code.has(at));
}

/** No pattern: on a line of many dots one takes the square of their number. */
function withoutSentenceEnd(name: string): string {
  let { length } = name;
  while (length > 1 && SENTENCE_ENDS.includes(name.charAt(length - 1))) length -= 1;
  return name.slice(0, length);
}

/** Whether the project's text, as the file that counts has it, imports this further file. */
export async function importsFurther(
  db: Kysely<DaemonTables>,
  link: Link,
  text: string,
): Promise<boolean> {
  const name = alsoNameOf(link);
  if (name === undefined) return false;
  const main = await readFollowed(db, folderOf(link));
  return importsAnyOf(text, main?.path ?? "", [name]) !== undefined;
}

/** Why a further file would be left alone, because of an import in its text or of its text. */
export async function whyAlsoLeft(
  db: Kysely<DaemonTables>,
  dir: string,
  name: string,
): Promise<Reason | undefined> {
  const link = (await listLinks(db)).find((each) => each.dir === dir);
  const read = await readFileAt(dir, name);
  if (!link || read.kind !== "text") return undefined;
  const further = { ...link, dir: alsoKey(dir, name) };
  const main = await readFollowed(db, dir);
  const document = main?.base.text ?? "";
  if (await importsFurther(db, further, document)) return { code: "also-imported" };
  const followed = main ? await followedWith(db, further) : FOLLOWED_NAMES;
  const place = { folder: dir, isFurther: true, followed, beside: [] };
  return await whyImporting({ file: read, known: undefined, document, ...place });
}

/** The other files of a link's folder that have the project's text. */
export async function followedWith(db: Kysely<DaemonTables>, link: Link): Promise<string[]> {
  const own = alsoNameOf(link);
  if (own === undefined) return [...(link.also ?? [])];
  const folder = folderOf(link);
  const main = await readFollowed(db, folder);
  const all = (await listLinks(db)).find(({ dir }) => dir === folder)?.also ?? [];
  return [...(main ? [main.path] : []), ...all.filter((name) => name !== own)];
}

/** A save, and what is around it. */
interface Importing {
  readonly file: Extract<Readable, { readonly kind: "text" }>;
  /** The text that the file had last. */
  readonly known: string | undefined;
  readonly folder: string;
  /** It follows beside the file that counts. */
  readonly isFurther: boolean;
  /** The project's text. */
  readonly document: string;
  /** The paths of the other files that have the text, and of those that could. */
  readonly followed: readonly string[];
  readonly beside: readonly string[];
}

/**
 * Why a save stays in its file: it has become the import of another one, or it imports one that has
 * the same text, in which its own lines would stand then, the import of itself among them.
 */
export async function whyImporting({
  file: { content, path },
  known,
  folder,
  isFurther,
  document,
  followed,
  beside,
}: Importing): Promise<Reason | undefined> {
  if (known !== undefined && isImport(known)) return undefined;
  const paths = importedPaths(content, path).filter((each) => each !== path);
  const imported = [...followed, ...beside].find((each) => paths.includes(each));
  if (imported !== undefined) {
    const read = await readFileAt(folder, imported);
    const isBack = read.kind === "text" && importedPaths(read.content, imported).includes(path);
    if (isBack) return { code: "imports-back", imported };
    return followed.includes(imported) ? { code: "also-imports" } : { code: "imports", imported };
  }
  // Wherever its text is now, it is none of the project's that somebody deletes.
  if (isFurther && isImport(content)) return { code: "also-imports" };
  const inside = importsAnyOf(content, path, followed);
  if (inside !== undefined && !importsAnyOf(known ?? "", path, [inside])) {
    const file = FOLLOWED_NAMES.some((each) => each === inside) ? ` --file ${inside}` : "";
    return { code: "imports-beside", imported: inside, command: `memsync link --no-also${file}` };
  }
  const isInstead = isImportInstead({ content, known, document });
  return isInstead ? { code: "import-instead" } : undefined;
}

/**
 * Whether a text has an import in place of the project's, which still stands: one machine can't
 * know whether everybody is to have it so. What is typed beside the import says nothing of that. An
 * import that comes to the text, or takes the place of a part of it, is an edit like any other.
 */
function isImportInstead({
  content,
  known,
  document,
}: Pick<Importing, "known" | "document"> & { readonly content: string }): boolean {
  if (document.trim() === "" || document.trim() === content.trim()) return false;
  if (known === undefined) return isImport(content);
  const imports = importsIn(content);
  if (imports.length === 0) return false;
  const said = plainLines(known).filter((line) => line.trim() !== "" && !isImport(line));
  const saved = new Set(plainLines(content));
  const gone = said.filter((line) => !saved.has(line));
  const standing = new Set(plainLines(document));
  const isThere = importsIn(document).some((each) => imports.includes(each));
  if (isThere && !gone.some((line) => standing.has(line))) return false;
  const before = importsIn(known);
  const isNew = imports.some((each) => !before.includes(each));
  return isNew ? 2 * gone.length > said.length : said.length > 0 && gone.length === said.length;
}

/** Whether a save has the import in the place of a text that somebody has cleared for it. */
export function isClearedFor(content: string, known: string, document: string): boolean {
  return document.trim() === "" && isImportInstead({ content, known, document: known });
}
