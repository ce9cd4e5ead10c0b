import { type Command, Help } from "commander";
import { brokenCommand, wrapped } from "../screen/text-width.ts";

/** The groups of commands in the help. Commands in no group come last. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "Memories:": ["set", "add", "get", "list", "search", "rm", "move", "history", "restore", "doc"],
  "What needs you:": ["conflicts", "held", "lines", "status", "doctor", "preview"],
  "Assistants:": ["setup", "auto-memory", "serena", "rules", "personal", "mcp", "hook"],
  "Projects:": ["projects", "link", "unlink", "sync", "connect", "disconnect", "project"],
  "The daemon:": ["up", "start", "stop", "restart", "install", "uninstall", "logs", "env"],
  "Account and home:": ["login", "logout", "remote", "stats", "sessions", "export", "import"],
  "Tests and servers:": ["exec", "emulator", "server", "conformance", "demo"],
};

const OTHERS = "More:";

/** A column of options that is wider than this leaves too little room for the descriptions. */
const TERM_WIDTH_MAX = 36;
/** A column that is too wide gets this width. The description of a wider option goes below it. */
const TERM_WIDTH = 30;

/** With less room than this beside a command or a term, its description is put below it. */
const BESIDE_MIN = 24;
const BELOW = 6;

/** The width if no terminal tells one, as in a pipe to a pager. */
const WIDTH = 80;

/** Wraps descriptions even if there is little room beside the terms. */
export const WRAPPED = {
  minWidthToWrap: 12,
  padWidth(command: Command, helper: Help): number {
    const width = Help.prototype.padWidth.call(helper, command, helper);
    const column = width > TERM_WIDTH_MAX ? TERM_WIDTH : width;
    return (helper.helpWidth ?? WIDTH) - column < BESIDE_MIN ? BELOW : column;
  },
  formatItem(term: string, termWidth: number, description: string, helper: Help): string {
    const item = (shown: string) =>
      Help.prototype.formatItem.call(helper, shown, termWidth, description, helper);
    if (helper.displayWidth(term) <= termWidth) return item(term);
    return `  ${term}\n${item("")}`;
  },
} as const;

/** Groups a program's commands under headings, and leaves `[options]` out of the list. */
export function layOutHelp(program: Command): void {
  const headings = Object.keys(GROUPS);
  program.configureHelp({
    ...WRAPPED,
    subcommandTerm: (command) => {
      const words = command.registeredArguments.map((argument) => {
        const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
        return argument.required ? `<${name}>` : `[${name}]`;
      });
      return [command.name(), ...words].join(" ");
    },
    groupItems: (unsorted, visible, headingOf) => {
      const groups = new Map<string, typeof visible>();
      for (const item of [...unsorted, ...visible]) groups.set(headingOf(item), []);
      for (const item of visible) groups.get(headingOf(item))?.push(item);
      const rank = (heading: string) => {
        return headings.includes(heading) ? headings.indexOf(heading) : headings.length;
      };
      return new Map([...groups].sort(([one], [other]) => rank(one) - rank(other)));
    },
  });
  for (const command of program.commands) {
    const found = Object.entries(GROUPS).find(([, names]) => names.includes(command.name()));
    command.helpGroup(found?.[0] ?? OTHERS);
  }
  program.commandsGroup(OTHERS).helpCommand("help [command]", "display help for a command");
}

/** An output that may be a terminal. */
type HelpStream = Pick<NodeJS.WriteStream, "columns" | "isTTY"> & { write(text: string): unknown };

/** Prints whole sentences of a help in lines that fit the terminal. */
export function writeHelp(text: string, stream: HelpStream = process.stdout): void {
  stream.write(folded(text, (stream.isTTY && stream.columns) || WIDTH));
}

/**
 * Paragraphs, which begin at the left edge, are wrapped again, and examples are made to fit.
 *
 * ```
 * folded("Deletes the text, the memories and the metadata.\n", 40);
 * // "Deletes the text, the memories and the\nmetadata.\n"
 * ```
 */
export function folded(text: string, width: number): string {
  const [before = "", ...examples] = text.split(EXAMPLES);
  const shown = examples.map((each) => examplesIn(each, width));
  return [filled(before, width), ...shown].join(EXAMPLES);
}

const EXAMPLES = "\nExamples:\n";
/** A command, with its description beside it. */
const EXAMPLE = /^( {2}\S.*?\S {2,})(\S.*)$/;
/** A description on a line of its own belongs to the line before. */
const GOES_ON = /\n {10,}(?=\S)/g;

function examplesIn(text: string, width: number): string {
  return text
    .replace(GOES_ON, " ")
    .split("\n")
    .flatMap((line) => {
      if (line.length <= width) return [line];
      const [, command, what] = EXAMPLE.exec(line) ?? [];
      if (command === undefined || what === undefined) return brokenCommand(line, width);
      if (width - command.length >= BESIDE_MIN) return wrapped(line, width, command.length);
      return [command.trimEnd(), ...wrapped(" ".repeat(BELOW) + what, width, BELOW)];
    })
    .join("\n");
}

function filled(text: string, width: number): string {
  return text.replace(/^(?:[^\s].*\n(?=[^\s]))+[^\s].*$|^[^\s].*$/gm, (paragraph) => {
    const lines: string[] = [];
    for (const word of paragraph.split(/\s+/)) {
      const last = lines.at(-1);
      if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
      else lines[lines.length - 1] = `${last} ${word}`;
    }
    return lines.join("\n");
  });
}
