import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  isClassDeclaration,
  isEnumDeclaration,
  isFunctionDeclaration,
  isIdentifier,
  isInterfaceDeclaration,
  isTypeAliasDeclaration,
  isVariableStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";
import { API } from "typescript/unstable/async";

/** The folder of this checkout. */
export const ROOT = resolve(import.meta.dir, "../..");

/**
 * The rooms that stand on each other. The client's names are those of the published package, and
 * the conformance suite shares nothing with the rest.
 */
export const ROOMS = /^(cli|daemon|server|shared)\//;

/** A module of the project, parsed. */
export interface Source {
  /** From the project's folder, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly tree: SourceFile;
}

/** The files of this checkout that git keeps or would keep, by path. */
export async function listFiles(): Promise<string[]> {
  const git = Bun.spawn(["git", "ls-files", "-coz", "--exclude-standard", "--deduplicate"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const paths = (await git.stdout.text()).split("\0").filter((path) => path !== "");
  if ((await git.exited) !== 0) throw new Error("git could not list the files");
  const exist = await Promise.all(paths.map((path) => Bun.file(join(ROOT, path)).exists()));
  return paths.filter((_, at) => exist[at]).sort();
}

let sources: Promise<readonly Source[]> | undefined;

/** The modules of this checkout, read once. */
export function readSources(): Promise<readonly Source[]> {
  sources ??= listFiles().then((paths) =>
    parse(
      ROOT,
      paths.filter((path) => path.endsWith(".ts")),
    ),
  );
  return sources;
}

/** Modules that a test makes up, to show that a check refuses them; they need not resolve. */
export async function sampleSources(files: Readonly<Record<string, string>>): Promise<Source[]> {
  const folder = await temporaryFolder();
  try {
    for (const [path, text] of Object.entries(files)) await Bun.write(join(folder, path), text);
    return await parse(folder, Object.keys(files));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function temporaryFolder(): Promise<string> {
  return await realpath(await mkdtemp(join(tmpdir(), "memsync-tidy-")));
}

/** Parses these files alone: what they import, and the library, would take longer than they do. */
async function parse(folder: string, paths: readonly string[]): Promise<Source[]> {
  const place = await temporaryFolder();
  const config = join(place, "tsconfig.json");
  const files = paths.map((path) => join(folder, path));
  const compilerOptions = {
    noResolve: true,
    noLib: true,
    types: [],
    allowImportingTsExtensions: true,
  };
  await Bun.write(config, JSON.stringify({ compilerOptions, files }));
  const api = new API({ cwd: place });
  try {
    const snapshot = await api.updateSnapshot({ openProject: config });
    const program = snapshot.getProject(config)?.program;
    const sources: Source[] = [];
    for (const path of paths) {
      const tree = await program?.getSourceFile(join(folder, path));
      if (tree === undefined) throw new Error(`${path} could not be parsed`);
      sources.push({ path, text: tree.text, tree });
    }
    return sources;
  } finally {
    await api.close();
    await rm(place, { recursive: true });
  }
}

/** `node` and all that is in it, in the order of the text; what holds others comes before them. */
export function* nodesIn(node: Node): Generator<Node> {
  const left = [node];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    yield next;
    const children: Node[] = [];
    next.forEachChild((child) => {
      children.push(child);
    });
    left.push(...children.reverse());
  }
}

/** What a statement exports, by name; a type and a value of one name are one. */
export function exportedNames(statement: Node): readonly Node[] {
  const isDeclaration =
    isFunctionDeclaration(statement) ||
    isClassDeclaration(statement) ||
    isInterfaceDeclaration(statement) ||
    isTypeAliasDeclaration(statement) ||
    isEnumDeclaration(statement);
  if (!isDeclaration && !isVariableStatement(statement)) return [];
  const isExported = (statement.modifiers ?? []).some(
    ({ kind }) => kind === SyntaxKind.ExportKeyword,
  );
  if (!isExported) return [];
  if (isDeclaration) return statement.name ? [statement.name] : [];
  return statement.declarationList.declarations.map(({ name }) => name).filter(isIdentifier);
}

/** A line for a person: where, and what is wrong there. */
export function finding(source: Source, node: Node, problem: string): string {
  const before = source.text.slice(0, node.getStart(source.tree));
  return `${source.path}:${before.split("\n").length} ${problem}`;
}
