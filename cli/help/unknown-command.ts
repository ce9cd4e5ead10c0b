import type { Command, CommanderError } from "commander";
import { shellWord } from "../../shared/shell-word.ts";
import { didYouMean } from "../screen/did-you-mean.ts";
import { UsageError } from "../screen/errors.ts";

/**
 * Makes commands that act by themselves and also have sub-commands refuse an unknown sub-command by
 * its name. The parser would only complain about the number of arguments.
 */
export function nameUnknownCommands({ commands }: Command): void {
  for (const command of commands) {
    if (command.commands.length === 0) continue;
    if (command.registeredArguments.length === 0) {
      command.allowExcessArguments().hook("preAction", (_, acting) => {
        const [word] = acting.args;
        if (acting === command && word !== undefined)
          throw new UsageError(unknownWord(command, word));
      });
    }
    nameUnknownCommands(command);
  }
}

/** Refuses a request for the help of an unknown command. */
export function assertHelpIsThere(program: Command, args: readonly string[]): void {
  const [first, word] = args;
  if (first !== "help" || word === undefined || ["-h", "--help"].includes(word)) return;
  if (word.startsWith("-")) {
    throw new UsageError(`unknown option '${word}': \`memsync --help\` lists the commands`);
  }
  if (word !== "help" && !program.commands.some((each) => each.name() === word)) {
    throw new UsageError(unknownWord(program, word));
  }
}

/**
 * Explains why the parser refused a command line, one sentence for each reason: with the command or
 * option that was probably meant, or else with what helps. None where the parser's message is
 * enough.
 */
export function wordsOn(
  program: Command,
  args: readonly string[],
  { code, message }: Pick<CommanderError, "code" | "message">,
): string[] {
  if (!message.startsWith(ERROR)) return [];
  const said = message.slice(ERROR.length);
  const { command, words } = commandIn(program, args);
  if (code === "commander.unknownCommand") return [unknownWord(command, lastQuoted(said))];
  // The parser complains first of an option that is missing. If something unknown stands in its
  // place, that is what was meant.
  const unknown = code.endsWith("MandatoryOptionValue") ? unknownOption(command, args) : undefined;
  if (unknown !== undefined) {
    const nearly = didYouMean(unknown, optionsOf(command));
    const usage = nearly === "" ? [usageOf(command, words)] : [];
    return [`unknown option '${unknown}'${nearly}`, said, ...usage];
  }
  const isMissing = /^commander\.missing(?:Argument|MandatoryOptionValue)$/.test(code);
  if (isMissing) return [said, usageOf(command, words)];
  if (code === "commander.excessArguments") {
    const advice =
      quoted(command, words) ??
      urlOf(command, words) ??
      severalFolders(command) ??
      oneOfThem(command);
    return [said, advice ?? usageOf(command, words)];
  }
  if (code === "commander.invalidArgument") return [said.replace(CHOICES, "'$1' is no $2: say $3")];
  if (code !== "commander.unknownOption") return [said];
  if (lastQuoted(said) === "-v") return [`${said}: \`memsync --version\` prints the version`];
  const [name = "", value] = lastQuoted(said).split("=");
  if (value !== undefined && optionsOf(command).includes(name)) return [`${name} takes no value`];
  const nearly = didYouMean(lastQuoted(said), optionsOf(command));
  return [`${said}${nearly}`, ...(nearly === "" ? [hintAtDash(command, words, args)] : [])];
}

const ERROR = "error: ";
/** The parser's message about a word that must be one of several. */
const CHOICES =
  /^command-argument value '(.*)' is invalid for argument '(\w+)'\. Allowed choices are (.*)\.$/s;

/** The command of a line, and the words that name it. */
function commandIn(program: Command, args: readonly string[]) {
  const words = [program.name()];
  let command = program;
  for (const word of args) {
    const found = command.commands.find((each) => each.name() === word);
    if (!found) break;
    command = found;
    words.push(word);
  }
  return { command, words };
}

/** The usage of a command, with the options that it needs. */
function usageOf({ registeredArguments, options }: Command, words: readonly string[]): string {
  const names = registeredArguments.map((each) => {
    const name = `${each.name()}${each.variadic ? "..." : ""}`;
    return each.required ? `<${name}>` : `[${name}]`;
  });
  const needed = options.flatMap(({ mandatory, flags }) => (mandatory ? [flags] : []));
  return `say it so: \`${[...words, ...names, ...needed].join(" ")}\``;
}

/** Names of arguments that are texts of several words. */
const TEXTS: readonly (string | undefined)[] = ["value", "text"];
const WORDS_SHOWN_MAX = 60;

/**
 * Advice where a text of several words came without quotes; undefined where the last argument is no
 * text, or what was typed is too long or has signs that a shell reads.
 */
function quoted({ registeredArguments, args }: Command, words: readonly string[]) {
  if (!TEXTS.includes(registeredArguments.at(-1)?.name())) return undefined;
  const before = args.slice(0, registeredArguments.length - 1);
  const text = args.slice(registeredArguments.length - 1).join(" ");
  const typed = [...before, text].join(" ");
  if (typed.length > WORDS_SHOWN_MAX || !/^[\w .,:;/@%+=~-]*$/.test(typed)) return undefined;
  const name = registeredArguments.at(-1)?.name();
  return `put the ${name} in quotes: \`${[...words, ...before, `"${text}"`].join(" ")}\``;
}

/** Advice where a service's address came without its option, as other programs take it. */
function urlOf({ args, options }: Command, words: readonly string[]): string | undefined {
  const [url = ""] = args;
  const isUrl = args.length === 1 && /^https?:\/\//i.test(url);
  if (!isUrl || !options.some(({ long }) => long === "--url")) return undefined;
  return `say it so: \`${words.join(" ")} --url ${shellWord(url)}\``;
}

/** The options of `link` are about one folder. `start` takes several. */
function severalFolders(command: Command): string | undefined {
  if (pathOf(command) !== "memsync link") return undefined;
  const typed = command.args.map(shellWord).join(" ");
  const folders = typed.length > WORDS_SHOWN_MAX ? "DIR..." : typed;
  return `\`memsync start ${folders}\` links several`;
}

/** `projects` lists them, and `project` has the commands about one. */
function oneOfThem(command: Command): string | undefined {
  const one = command.parent?.commands.find((each) => `${each.name()}s` === command.name());
  const inner = one?.commands.find((each) => each.name() === command.args[0]);
  return inner && `did you mean \`${pathOf(inner)}\`?`;
}

function unknownOption(command: Command, args: readonly string[]): string | undefined {
  const known = [...command.createHelp().visibleOptions(command), ...command.options];
  const names = known.flatMap(({ short, long }) => [short, long]);
  return args
    .slice(0, args.includes("--") ? args.indexOf("--") : undefined)
    .filter((word, at) => word.startsWith("--") && !isValue(command, args[at - 1]))
    .map((word) => word.replace(/=.*$/s, ""))
    .find((word) => !names.includes(word));
}

function lastQuoted(said: string): string {
  return /'([^']*)'[^']*$/.exec(said)?.[1] ?? "";
}

function optionsOf(command: Command): string[] {
  const options = command.createHelp().visibleOptions(command);
  return options.flatMap(({ long }) => long ?? []);
}

/**
 * Advice where a text was taken for an option because it begins with a dash, or where the command
 * has no such option.
 */
function hintAtDash(command: Command, words: readonly string[], args: readonly string[]): string {
  const { registeredArguments: known } = command;
  const texts = args.slice(words.length - 1).filter((word, at, all) => {
    return !word.startsWith("-") && !isValue(command, all[at - 1]);
  });
  // The command has all the texts that it needs, so the word with a dash is meant as an option.
  if (texts.length >= known.filter(({ required }) => required).length)
    return `\`${words.join(" ")} --help\` lists its options`;
  const names = known.map((each) => each.name().toUpperCase());
  const line = [...words, "--", ...names].join(" ");
  return `what begins with a dash and is no option goes behind --: \`${line}\``;
}

/** Whether the word behind this one is the value of an option. */
function isValue({ options }: Command, before: string | undefined): boolean {
  if (before === undefined) return false;
  const option = options.find(({ short, long }) => short === before || long === before);
  return option !== undefined && (option.required || option.optional);
}

/**
 * The names that other programs have for the same thing. The first of them that a command has is
 * advised.
 */
const SYNONYMS = byName<readonly string[]>({
  add: ["create"],
  del: ["rm", "drop"],
  delete: ["rm", "drop", "revoke"],
  drop: ["rm"],
  get: ["show", "list"],
  ls: ["list"],
  mv: ["move"],
  new: ["create", "add"],
  create: ["add"],
  edit: ["set"],
  exit: ["stop"],
  info: ["status"],
  init: ["link"],
  kill: ["stop"],
  pull: ["sync"],
  push: ["sync"],
  quit: ["stop"],
  remove: ["rm", "drop", "revoke"],
  rm: ["revoke", "drop"],
  show: ["list", "get"],
  watch: ["up"],
  whoami: ["status"],
});

/** Words for what no command of such a name does, and what does it instead. */
const ELSEWHERE = byName<string>({
  account: "accounts are a server's: `memsync server account list`",
  diff: "`memsync doc diff` compares the text and the file here",
  open:
    "memsync has no page: `memsync up` is its live screen, and an emulator prints the address " +
    "of its page",
  token:
    "`memsync login` keeps a service's token, `memsync env` prints the gateway's, and " +
    "`memsync server token list` lists a server's",
  user: "users are a server's: `memsync server user list --account NAME`",
  version: "`memsync --version` prints it",
});
const ALSO_CALLED = byName<string>({
  accounts: "account",
  dashboard: "open",
  tokens: "token",
  ui: "open",
  users: "user",
  web: "open",
});

/** A map, because a word may be typed that is also the name of a property of every object. */
function byName<Value>(values: Readonly<Record<string, Value>>): ReadonlyMap<string, Value> {
  return new Map(Object.entries(values));
}

function unknownWord(above: Command, word: string): string {
  const names = above
    .createHelp()
    .visibleCommands(above)
    .map((each) => each.name());
  const lower = word.toLowerCase();
  const elsewhere =
    above.parent === null ? ELSEWHERE.get(ALSO_CALLED.get(lower) ?? lower) : undefined;
  if (elsewhere !== undefined) return `unknown command '${word}': ${elsewhere}`;
  const meant = SYNONYMS.get(lower)?.find((each) => names.includes(each));
  const nearly = meant === undefined ? didYouMean(word, names) : `: did you mean "${meant}"?`;
  return `unknown command '${word}'${nearly || otherwise(above, names)}`;
}

/** Names all sub-commands of a command, since they are few. */
function otherwise(above: Command, names: readonly string[]): string {
  const words = pathOf(above);
  if (above.parent === null) return `: \`${words} help\` lists those there are`;
  const others = names.filter((name) => name !== "help");
  return `: \`${words}\` has ${others.join(", ")}`;
}

/** The words by which a command is called. */
function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
