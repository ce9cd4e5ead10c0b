import { join } from "node:path";
import { ROOT } from "../tidy/source-tree.ts";

/** A command as a document shows it. */
export interface ShownCommand {
  /** All its lines, as they are typed. */
  readonly text: string;
  /** What the document shows below it; undefined where it shows nothing. */
  readonly output: string | undefined;
  readonly line: number;
}

interface Block {
  readonly kind: string;
  readonly lines: readonly string[];
  /** Of its first line. */
  readonly line: number;
}

/** The documents with commands for a reader to type. */
export async function readDocuments(): Promise<ReadonlyMap<string, string>> {
  const paths = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"];
  for await (const name of new Bun.Glob("docs/*.md").scan(ROOT)) paths.push(name);
  const texts = paths.map((path) => Bun.file(join(ROOT, path)).text());
  const all = await Promise.all(texts);
  return new Map(paths.map((path, at) => [path, all[at] ?? ""]));
}

function blocksIn(document: string): Block[] {
  const fenced = [...document.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  return fenced.map(({ 1: kind = "", 2: text = "", index }) => ({
    kind,
    lines: text.split("\n").slice(0, -1),
    line: document.slice(0, index).split("\n").length + 1,
  }));
}

/** How many lines of `lines`, from `at` on, are one command: with what follows `\` or `<<`. */
function lengthOf(lines: readonly string[], at: number): number {
  let end = at;
  while (lines[end]?.endsWith("\\")) end++;
  const heredoc = /<<'?(\w+)'?$/.exec(lines[end] ?? "");
  if (heredoc) while (end < lines.length && lines[end] !== heredoc[1]) end++;
  return end + 1 - at;
}

/** In a `console` block a command follows `$ `, and what it prints follows the command. */
function commandsOfConsole({ lines, line }: Block): ShownCommand[] {
  const commands: ShownCommand[] = [];
  let at = lines.findIndex((each) => each.startsWith("$ "));
  while (at >= 0 && at < lines.length) {
    const length = lengthOf(lines, at);
    const text = lines
      .slice(at, at + length)
      .join("\n")
      .slice("$ ".length);
    const next = lines.findIndex((each, place) => place >= at + length && each.startsWith("$ "));
    const output = lines.slice(at + length, next < 0 ? undefined : next).join("\n");
    commands.push({ text, output: output === "" ? undefined : output, line: line + at });
    at = next;
  }
  return commands;
}

/** In a `sh` block each line is a command. */
function commandsOfScript({ lines, line }: Block): ShownCommand[] {
  const commands: ShownCommand[] = [];
  for (let at = 0; at < lines.length; at += lengthOf(lines, at)) {
    const text = lines.slice(at, at + lengthOf(lines, at)).join("\n");
    if (text !== "") commands.push({ text, output: undefined, line: line + at });
  }
  return commands;
}

/** All commands of a document, in its order. */
export function commandsIn(document: string): ShownCommand[] {
  return blocksIn(document).flatMap((block) => {
    if (block.kind === "console") return commandsOfConsole(block);
    return /^(sh|bash|shell)$/.test(block.kind) ? commandsOfScript(block) : [];
  });
}
