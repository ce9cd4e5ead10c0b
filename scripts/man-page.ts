import type { Command, Help, Option } from "commander";
import { createProgram } from "../cli/main.ts";
import { readEnvironment } from "../cli/place/environment.ts";
import { VERSION } from "../shared/version.ts";

/** What the commands themselves don't say. */
const ENVIRONMENT = {
  MEMSYNC_HOME:
    "the folder of all local state, ~/.memsync when not set; two homes are two machines",
  MEMSYNC_URL: "the service's address, without /v1 or /api; an embedded one when not set",
  MEMSYNC_TOKEN: "its API token",
  MEMSYNC_GATEWAY_PORT:
    "the port of the daemon's gateway, which keeps its token then; else any free",
} as const;

const EXIT_STATUS = {
  0: "It is done.",
  1: "It could not be done; standard error says why.",
  2: "It was used wrongly; standard error says how, and standard output is empty.",
} as const;

/** The manual page `memsync(1)`, in the macros of man(7): made of the commands themselves. */
export async function manPage(): Promise<string> {
  // What is set on this machine is no part of the page.
  const program = await createProgram(readEnvironment({ MEMSYNC_HOME: "/" }));
  const help = program.createHelp();
  const commands = commandsOf(program, help);
  return [
    `.TH MEMSYNC 1 "" "memsync ${VERSION}" "User Commands"`,
    ".SH NAME",
    "memsync \\- keeps what coding assistants learn, on every machine",
    ".SH SYNOPSIS",
    `.B memsync\n.I command\n[\\fIoption\\fR ...] [\\fIargument\\fR ...]`,
    ".SH DESCRIPTION",
    escaped(program.description()),
    ".SH OPTIONS",
    ...optionLines(program, help),
    ".SH COMMANDS",
    "With \\fB\\-\\-help\\fR each command says what it takes.",
    ...commands.flatMap((command) => commandLines(command, help)),
    ".SH ENVIRONMENT",
    ...Object.entries(ENVIRONMENT).flatMap(([name, text]) => tagged(`\\fB${name}\\fR`, text)),
    ".SH EXIT STATUS",
    ...Object.entries(EXIT_STATUS).flatMap(([status, text]) => tagged(`\\fB${status}\\fR`, text)),
    "",
  ].join("\n");
}

/** Every command that the help shows, each before those below it. */
export function commandsOf(parent: Command, help: Help): Command[] {
  return help
    .visibleCommands(parent)
    .filter((command) => command.name() !== "help")
    .flatMap((command) => [command, ...commandsOf(command, help)]);
}

function commandLines(command: Command, help: Help): string[] {
  const usage = help.commandUsage(command).replace(" [options]", "");
  return [
    `.SS ${escaped(usage)}`,
    escaped(sentence(help.commandDescription(command))),
    ...optionLines(command, help),
    ...textAfter(command),
  ];
}

function optionLines(command: Command, help: Help): string[] {
  return help
    .visibleOptions(command)
    .filter((option) => command.parent === null || option.long !== "--help")
    .flatMap((option) => optionLine(option, help));
}

function optionLine(option: Option, help: Help): string[] {
  return tagged(`\\fB${escaped(help.optionTerm(option))}\\fR`, help.optionDescription(option));
}

/** What a command's help says below all else, examples among it, as it stands there. */
function textAfter(command: Command): string[] {
  let whole = "";
  command.configureOutput({ writeOut: (text) => (whole += text) }).outputHelp();
  const text = whole.slice(command.helpInformation().length).trim();
  return text === "" ? [] : [".PP", ".nf", escaped(text), ".fi"];
}

function tagged(tag: string, text: string): string[] {
  return [".TP", tag, escaped(text)];
}

/** `run the daemon here` as a sentence. */
function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase();
  return `${first}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

/** Text as roff prints it: no character of it is an instruction. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/gm, "\\&");
}
