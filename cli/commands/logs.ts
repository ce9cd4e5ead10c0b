import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import type { Command } from "commander";
import type { Home } from "../../daemon/home/home.ts";
import { logFiles } from "../../daemon/supervise/rotating-file.ts";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { UsageError } from "../screen/errors.ts";
import { logJson, logLine } from "../screen/log-view.ts";
import { sayAside, saySentence } from "../screen/output.ts";
import { visibleJson } from "../screen/visible.ts";

interface LogsOptions {
  readonly lines: string;
  readonly follow?: boolean;
  readonly json?: boolean;
}

const FOLLOW_POLL_MS = 200;

/** `logs`: the daemon's log, for people. */
export function addLogsCommand(program: Command, env: Environment): void {
  program
    .command("logs")
    .description("show what the daemon logged")
    .option("-n, --lines <number>", "how many of the last lines", "50")
    .option("-f, --follow", "go on with what comes, until Ctrl-C")
    .option("--json", "print the lines as JSON, one each")
    .action((options: LogsOptions) => logs(env, options));
}

async function logs({ home }: Environment, options: LogsOptions): Promise<void> {
  const number = Number(options.lines);
  if (!/^\d{1,7}$/.test(options.lines)) throw new UsageError("--lines is a number of lines");
  const print = (line: string) => {
    if (options.json) process.stdout.write(`${visibleJson(logJson(line))}\n`);
    else saySentence(logLine(line));
  };
  const current = textAt(home.log);
  const lines = lastLines(home, current, number);
  for (const line of lines) print(line);
  if (lines.length === 0 && number > 0 && !options.follow) {
    sayAside(`nothing is logged in ${home.log}: no daemon has run there`);
  }
  if (options.follow) await follow(home.log, Buffer.byteLength(current), print);
}

/** The last lines of the log, from older files as well if necessary. */
function lastLines(home: Home, current: string, number: number): string[] {
  let lines = linesIn(current);
  const older = logFiles(home.log).slice(0, -1).reverse();
  for (const path of older) {
    if (lines.length >= number) break;
    lines = [...linesIn(textAt(path)), ...lines];
  }
  return lines.slice(Math.max(0, lines.length - number));
}

function linesIn(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function textAt(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Prints what is appended after `offset`, until interrupted. A log that shrank was begun again. */
async function follow(path: string, offset: number, print: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let at = offset;
  let begun = "";
  while (process.stdout.writable) {
    const added = bytesFrom(path, at);
    if (added === "shrank") {
      at = 0;
      continue;
    }
    at += added.length;
    const lines = (begun + decoder.decode(added, { stream: true })).split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) if (line !== "") print(line);
    await delay(realWorld, FOLLOW_POLL_MS);
  }
}

function bytesFrom(path: string, at: number): Uint8Array | "shrank" {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    // No daemon has run yet.
    return new Uint8Array();
  }
  try {
    const { size } = fstatSync(file);
    if (size < at) return "shrank";
    const bytes = new Uint8Array(size - at);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, at));
  } finally {
    closeSync(file);
  }
}
