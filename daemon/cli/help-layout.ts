import type { Command } from "commander";
import { hasTerminal } from "./terminal.ts";

/** The commands as the help groups them; what is in no group comes last. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "Memories:": ["set", "add", "get", "list", "search", "rm", "history", "restore", "doc"],
  "What needs you:": ["conflicts", "held", "status", "doctor", "preview"],
  "Projects:": ["projects", "link", "unlink", "sync", "connect", "disconnect"],
  "The daemon:": ["up", "start", "stop", "restart", "install", "uninstall", "logs", "env"],
  "Account and home:": ["login", "logout", "remote", "stats", "sessions", "export", "import"],
  "Tests and servers:": ["exec", "emulator", "server", "conformance", "demo"],
};

const OTHERS = "More:";

/** Descriptions are wrapped, however little room is left beside what they describe. */
export const WRAPPED = { minWidthToWrap: 12 } as const;

/** Puts the commands of a program under headings, and leaves `[options]` out of their list. */
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

/** What a help says in whole sentences, in lines that are no longer than the terminal's. */
export function writeHelp(text: string): void {
  const width = hasTerminal() ? process.stdout.columns : 0;
  process.stdout.write(width > 0 ? folded(text, width) : text);
}

/** Paragraphs, which begin at the left edge, are filled anew; all else stays as it is. */
export function folded(text: string, width: number): string {
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
