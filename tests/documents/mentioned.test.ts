import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Command } from "commander";
import { createProgram } from "../../cli/main.ts";
import { readEnvironment } from "../../cli/place/environment.ts";
import { ROOT } from "../tidy/source-tree.ts";
import { readDocuments } from "./commands.ts";

const documents = await readDocuments();
const program = await createProgram(readEnvironment({ HOME: "/nowhere" }));
const { scripts } = (await Bun.file(join(ROOT, "package.json")).json()) as {
  scripts: Readonly<Record<string, string>>;
};

/** Commands that docs/interface.md names to say that they are absent, and what a server prints. */
const NO_COMMANDS = ["memsync open", "memsync server ready at …"];
/** Sentences of the code that begin with "memsync" and name no command. */
const NO_ADVICE = /^memsync (has|needs|emulator ready|emulator answers|server ready) ?/;

/** Commands within sentences, and in the first column of the table of all commands. */
function mentionsIn(path: string, text: string): string[] {
  const spans = [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/`(memsync [^`]+)`/g)];
  const mentions = spans.map(([, span = ""]) => span);
  if (path === "docs/commands.md") {
    const cells = [...text.matchAll(/^\| (`.*?`) \| /gm)].map(([, cell = ""]) => cell);
    const commands = cells.flatMap((cell) => [...cell.matchAll(/`((?:\\\||[^`])+)`/g)]);
    mentions.push(...commands.map(([, command = ""]) => `memsync ${command}`));
  }
  return mentions.flatMap(alternatives).map((each) => each.replaceAll(/\s+/g, " "));
}

/** `a b|c` means `a b` and `a c`. */
function alternatives(mention: string): string[] {
  const found = /^(.*? )([a-z]+(?:\\\|[a-z]+)+)(.*)$/.exec(mention);
  if (!found) return [mention];
  return (found[2] ?? "").split("\\|").map((word) => `${found[1]}${word}${found[3]}`);
}

/** What the command line does not know of a command that a document mentions. */
function unknownIn(mention: string): string | undefined {
  const words = mention.split(/[ ,[\]()]+/).filter((word) => word !== "");
  let command = program;
  for (let at = 1; at < words.length && words[at] !== "--"; at++) {
    const word = words[at] ?? "";
    const inner = command.commands.find((each) => each.name() === word);
    const option = optionOf(command, word);
    if (inner) command = inner;
    else if (word === "VALUE" && takesNone(command)) return undefined;
    else if (option?.required) at++;
    else if (/^--?[a-z]/.test(word) && !option) return `${mention}: ${word}`;
    else if (/^[a-z]/.test(word) && takesNone(command)) return `${mention}: ${word}`;
  }
  return undefined;
}

function optionOf({ options }: Command, word: string): { readonly required: boolean } | undefined {
  return word === "--help"
    ? { required: false }
    : options.find(({ long, short }) => word === long || word === short);
}

/** The option that a command can't do without, and that advice leaves out. */
function lackingIn(mention: string): string | undefined {
  const words = mention.split(" ");
  let command: Command | undefined = program;
  for (const word of words.slice(1)) {
    const inner: Command | undefined = command.commands.find((each) => each.name() === word);
    if (!inner) break;
    command = inner;
  }
  const needed = command.options.filter(({ mandatory, long }) => mandatory && long !== undefined);
  const lacking = needed.find(({ long }) => !words.includes(long ?? ""));
  return lacking && `${mention}: lacks ${lacking.long}`;
}

/** A command of commands, whose words are those commands and their options. */
const takesNone = ({ commands, registeredArguments }: Command) =>
  commands.length > 0 && registeredArguments.length === 0;

test("each command that a document mentions is one, with the options that it names", () => {
  const mentions = [...documents].flatMap(([path, text]) => mentionsIn(path, text));
  expect(mentions.length).toBeGreaterThan(100);
  const unknown = mentions.filter((each) => !NO_COMMANDS.includes(each)).map(unknownIn);
  expect(unknown.filter((each) => each !== undefined)).toEqual([]);
});

test("a command or an option that is not there is found", () => {
  const text =
    "`memsync nonsense`, `memsync sync --soon`, `memsync conflicts shwo ID` `memsync up`";
  expect(mentionsIn("README.md", text).map(unknownIn)).toEqual([
    "memsync nonsense: nonsense",
    "memsync sync --soon: --soon",
    "memsync conflicts shwo ID: shwo",
    undefined,
  ]);
});

/** All commands that do something, by the words that one types; without hidden ones. */
function allCommands(within: Command, words: readonly string[] = []): Map<string, Command> {
  const visible = within.createHelp().visibleCommands(within);
  const inner = visible.filter((each) => each.name() !== "help");
  const deeper = inner.flatMap((each) => [...allCommands(each, [...words, each.name()])]);
  return new Map(inner.length === 0 ? [[words.join(" "), within]] : deeper);
}

test("docs/commands.md lists each command, and says which have no --json", () => {
  const text = documents.get("docs/commands.md") ?? "";
  const commands = [...allCommands(program)];
  const mentions = mentionsIn("docs/commands.md", text).map((each) => `${each} `);
  const unlisted = commands.filter(
    ([name]) => !mentions.some((each) => each.startsWith(`memsync ${name} `)),
  );
  expect({ "without a row in docs/commands.md": unlisted.map(([name]) => name) }).toEqual({
    "without a row in docs/commands.md": [],
  });
  const [, sentence = ""] = /has `--json`, but for ([^.]+)\./.exec(text) ?? [];
  const without = commands.filter(([, { options }]) => !options.some(isJson));
  const said = sentence.match(/`\w+`/g) ?? [];
  expect({ "without --json": without.map(([name]) => `\`${name}\``) }).toEqual({
    "without --json": said,
  });
});

const isJson = ({ long }: { readonly long?: string }) => long === "--json";

test("each script of npm's that a document mentions is in package.json", () => {
  const named = [...documents.values()].flatMap((text) => [
    ...text.matchAll(/(?:^|`)npm(?: --prefix \S+)? run(?: -s)? ([\w:]+)/gm),
  ]);
  const names = new Set(named.map(([, name = ""]) => name));
  expect(names.size).toBeGreaterThan(5);
  expect([...names].filter((name) => scripts[name] === undefined)).toEqual([]);
});

/** What the code says between backquotes; `VALUE` stands for what it fills in. */
function advisedIn(source: string): string[] {
  const filledIn = source.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "VALUE");
  const spans = filledIn.matchAll(/\\?`(memsync [^`\\]+)\\?`/g);
  return [...spans].flatMap(([, span = ""]) => {
    const line = span.replaceAll(/"\s*\+\s*"|\s*\n[ *]*/g, " ");
    // What is filled in behind a word is an end of its own.
    return NO_ADVICE.test(line) ? [] : [line.replaceAll(/(?<=[a-z])VALUE/g, "")];
  });
}

/** The options that a sentence names without their command. */
function bareOptionsIn(source: string): string[] {
  const words = source.matchAll(
    /\b(?:and|by|give|is|needs|or|say|with|without) (--[a-z][a-z-]*[a-z])(?!-)/g,
  );
  return [...words].map(([, option = ""]) => option);
}

function optionsWithin({ options, commands }: Command): string[] {
  return [...options.flatMap(({ long }) => long ?? []), ...commands.flatMap(optionsWithin)];
}

test("an option is read where a sentence names it", () => {
  const code = "`say it by --from, or --gone: git runs with --`, `by --no-, or --yes`";
  expect(bareOptionsIn(code)).toEqual(["--from", "--gone", "--yes"]);
});

test("each option that a sentence of the code names without a command is some command's", async () => {
  const named: string[] = [];
  for (const path of new Bun.Glob("{cli,daemon,server,shared}/**/*.ts").scanSync(ROOT)) {
    const options = bareOptionsIn(await Bun.file(join(ROOT, path)).text());
    named.push(...options.map((option) => `${path} names ${option}`));
  }
  expect(named.length).toBeGreaterThan(20);
  const known = new Set([...optionsWithin(program), "--help", "--version"]);
  expect(named.filter((each) => !known.has(each.split(" ").at(-1) ?? ""))).toEqual([]);
});

test("each command that the code advises is one, with the options that it names", async () => {
  const advised: string[] = [];
  for (const path of new Bun.Glob("{cli,client,daemon,plugin,server,shared}/**/*.ts").scanSync(
    ROOT,
  )) {
    advised.push(...advisedIn(await Bun.file(join(ROOT, path)).text()));
  }
  expect(advised.length).toBeGreaterThan(300);
  const unknown = [...new Set(advised)].map((each) => unknownIn(each) ?? lackingIn(each));
  expect(unknown.filter((each) => each !== undefined)).toEqual([]);
});
