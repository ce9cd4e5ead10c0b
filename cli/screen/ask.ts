import { createInterface } from "node:readline/promises";
import { CommandFailed } from "./errors.ts";
import { inLines } from "./output.ts";
import { visible } from "./visible.ts";

const END_OF_TEXT = "\u0003";
const END_OF_TRANSMISSION = "\u0004";
const DELETED = /^[\b\u007f]$/;

/** Whether there is somebody to ask. */
export function isTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Thrown if a question was answered with Ctrl-C. */
export class Interrupted extends CommandFailed {
  constructor() {
    super("interrupted");
  }
}

/**
 * Asks for a line, on standard error, so that standard output has only the command's output. Empty
 * at the end of the input. Throws `Interrupted`.
 */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve, reject) => {
    terminal.once("close", () => resolve(""));
    terminal.once("SIGINT", () => reject(new Interrupted()));
  });
  try {
    const shown = inLines(question.trimEnd(), process.stderr).join("\n");
    return (await Promise.race([terminal.question(`${shown} `), ended])).trim();
  } catch (thrown) {
    process.stderr.write("\n");
    throw thrown;
  } finally {
    terminal.close();
  }
}

/** Asks for a yes. Everything else counts as no. */
export async function confirm(question: string): Promise<boolean> {
  return isYes(await ask(`${question} [y/N] `));
}

export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer);
}

/** Asks for a line that is not shown while it is typed or pasted. */
export async function askSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  // Comes before the question: what is typed or pasted at once must not be shown either.
  stdin.setRawMode(true);
  try {
    stderr.write(visible(question));
    return await typed();
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write("\n");
  }
}

function typed(): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const take = (chunk: Buffer) => {
      for (const key of chunk.toString("utf8")) {
        if (key === END_OF_TEXT) return finish(() => reject(new Interrupted()));
        if (/^[\r\n]$/.test(key) || key === END_OF_TRANSMISSION) return finish(() => resolve(text));
        text = DELETED.test(key) ? text.slice(0, -1) : text + key;
      }
    };
    const finish = (settle: () => void) => {
      process.stdin.off("data", take);
      settle();
    };
    process.stdin.on("data", take);
    // An earlier question may have paused it.
    process.stdin.resume();
  });
}
