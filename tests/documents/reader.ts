import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Lab } from "../support/lab.ts";
import { Machine, MEMSYNC, type ServiceConfig } from "../support/machine.ts";
import { SHORT_LIVED } from "../support/short-lived.ts";
import { TerminalSession } from "../support/terminal-session.ts";
import type { ShownCommand } from "./commands.ts";
import { Shell } from "./shell.ts";
import { isShown, type Names } from "./shown-output.ts";

/** How a command of a document is run where it is not simply typed. */
export interface Act {
  /** What the command begins with. */
  readonly command: string;
  /** What happens before it. */
  readonly before?: (reader: Reader) => Promise<void>;
  /** It lasts, and has printed this when it is looked at. */
  readonly until?: RegExp;
  /** What is typed, where a terminal or a comment of the document would say the rest. */
  readonly typed?: (text: string) => string;
  /** Runs it in another way, and gives what it prints. */
  readonly by?: (reader: Reader) => Promise<string>;
  /** What follows from what it has printed. */
  readonly after?: (reader: Reader, printed: string) => void;
  /** Why it can't be run here. */
  readonly notRun?: string;
}

/** Somebody who reads a document at a machine named laptop, and types what it says. */
export class Reader implements AsyncDisposable {
  readonly laptop: Machine;
  readonly shell: Shell;
  readonly #names: Names = new Map();
  readonly #places = new Map<string, string>();
  readonly #terminals: TerminalSession[] = [];

  constructor(readonly lab: Lab) {
    const { env, path, folder } = lab.git;
    const widget = path("src", "widget");
    mkdirSync(path("bin"));
    mkdirSync(widget, { recursive: true });
    writeFileSync(path("bin", "memsync"), `#!/bin/sh\nexec ${MEMSYNC.join(" ")} "$@"\n`);
    chmodSync(path("bin", "memsync"), 0o755);
    this.laptop = new Machine({
      name: "laptop",
      home: path(".memsync"),
      folder: widget,
      env,
      service: undefined,
    });
    nameMachine(this.laptop);
    const PATH = `${path("bin")}:${env.PATH}`;
    this.shell = new Shell(folder, widget, {
      ...env,
      ...SHORT_LIVED,
      PATH,
      MEMSYNC_KEYRING: "off",
    });
    this.callsIt("~/", `${folder}/`);
  }

  /** What a document calls a place, and where it is in this run. */
  callsIt(shown: string, real: string): void {
    this.#places.set(shown, real);
  }

  /** A thing's name in this run. */
  nameOf(shown: string): string {
    return this.#names.get(shown) ?? shown;
  }

  async use({ url, token }: ServiceConfig): Promise<void> {
    this.laptop.service = { url, token };
    await this.shell.run(`export MEMSYNC_URL=${url} MEMSYNC_TOKEN=${token}`);
  }

  /** `memsync` with these arguments at a terminal, that stays until the reading is over. */
  terminal(...args: readonly string[]): TerminalSession {
    const terminal = new TerminalSession(this.lab, this.laptop, args);
    this.#terminals.push(terminal);
    return terminal;
  }

  /**
   * Types the command; what it prints where that is not what the document shows. Rejects where it
   * fails.
   */
  async type({ text, output }: ShownCommand, act: Act | undefined): Promise<string | undefined> {
    await act?.before?.(this);
    const real = await this.#print(this.#asIsHere(act?.typed?.(text) ?? text), act);
    act?.after?.(this, real);
    const printed = this.#asIsShown(real);
    return output === undefined || isShown(output, printed, this.#names) ? undefined : printed;
  }

  async #print(command: string, act: Act | undefined): Promise<string> {
    if (act?.by) return await act.by(this);
    if (act?.until) return await this.shell.start(command, act.until);
    const { status, printed } = await this.shell.run(command);
    if (status === 0) return printed;
    throw new Error(`${command} ended with ${status}: ${printed}`);
  }

  #asIsHere(command: string): string {
    let here = command;
    for (const [shown, real] of this.#places) here = here.replaceAll(shown, real);
    for (const [shown, real] of this.#names) here = here.replaceAll(shown, real);
    return here;
  }

  #asIsShown(printed: string): string {
    let shown = printed;
    for (const [place, real] of this.#places) shown = shown.replaceAll(real, place);
    return shown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const terminal of this.#terminals) await terminal[Symbol.asyncDispose]();
    await this.shell[Symbol.asyncDispose]();
    await this.laptop.end();
  }
}

/** What others are told that it is called, as its user may write it down. */
export function nameMachine({ home, name }: Machine): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, "machine"), `${name}\n`);
}
