import { stat } from "node:fs/promises";
// Its usual form finds its own parts at run time, and no bundle has them.
import { type Node, type ParseError, parseTree } from "jsonc-parser/lib/esm/main.js";
import { AppError, type ErrorDetail } from "../../../shared/errors.ts";
import { invalid } from "../../../shared/wire/parse.ts";
import type { EmulatorSeed } from "../interface/state.ts";
import { parseSeed } from "./seed-body.ts";
import { readSeedFolder } from "./seed-folder.ts";
import { readSeedText, unreadable } from "./seed-text.ts";

/** At most this many wrong places are named, each in a line of its own. */
const PLACES_MAX = 20;

/**
 * Reads a seed from a file: a seed or an export, or from a folder of such files and of Markdown,
 * each of which is a memory: `PROJECT/KEY.md`, `user/KEY.md`, `global/KEY.md`; `PROJECT/CLAUDE.md`
 * is the project's description. Rejects with the file and the line of what is wrong.
 *
 * ```
 * await emulator.seed(await readSeed("tests/seed"), { token });
 * ```
 */
export async function readSeed(path: string): Promise<EmulatorSeed> {
  const stats = await stat(path).catch((thrown: unknown) => {
    throw unreadable(path, thrown);
  });
  if (!stats.isDirectory()) return await readSeedFile(path);
  return await readSeedFolder(path, readSeedFile);
}

async function readSeedFile(path: string): Promise<EmulatorSeed> {
  const text = (await readSeedText(path)).replace(/^\ufeff/, "");
  const seed = parseJson(path, text);
  try {
    parseSeed(seed);
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    const details = placedIn(path, text, thrown.details);
    const places = details.slice(0, PLACES_MAX).map((each) => `${each.path} ${each.message}`);
    throw new AppError("invalid_request", places.join("\n"), details);
  }
  return seed as EmulatorSeed;
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const errors: ParseError[] = [];
    parseTree(text, errors, { disallowComments: true });
    const place = errors[0] ? `${path}:${lineOf(text, errors[0].offset)}` : path;
    throw invalid([{ path: place, message: "is not JSON" }]);
  }
}

/** The same details, each at its line of the file. */
function placedIn(path: string, text: string, details: readonly ErrorDetail[]): ErrorDetail[] {
  const root = parseTree(text);
  return details.map((detail) => {
    const line = lineOf(text, offsetOf(root, detail.path));
    return { path: `${path}:${line}`, message: `${detail.path} ${detail.message}`.trim() };
  });
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Where a JSON Pointer leads, or as near to it as there is anything. */
function offsetOf(root: Node | undefined, pointer: string): number {
  let node = root;
  for (const token of pointer.split("/").slice(1)) {
    const next = childOf(node, token.replaceAll("~1", "/").replaceAll("~0", "~"));
    if (!next) break;
    node = next;
  }
  return node?.offset ?? 0;
}

function childOf(node: Node | undefined, token: string): Node | undefined {
  const children = node?.children ?? [];
  if (node?.type === "array") return children[Number(token)];
  // Of two fields with one name the last one counts.
  return children.findLast(({ children: [key] = [] }) => key?.value === token)?.children?.[1];
}
