import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { LongestTurns } from "../support/turn-watch.ts";
import type { Program, Programs } from "./programs.ts";

/** An emulator that runs as a process of its own, keeping its data in a folder. */
export interface EmulatorProgram extends Program {
  readonly url: string;
}

export async function startEmulator(
  programs: Programs,
  dataDir: string,
  limits: "on" | "off" = "off",
): Promise<EmulatorProgram> {
  const args = ["emulator", "--port", "0", "--limits", limits, "--data-dir", dataDir];
  const program = await programs.start("memsync", args);
  return { ...program, url: urlIn(program.line) };
}

/** The same whose plan allows any number of requests: all are counted, none is refused. */
export async function startRaisedEmulator(
  programs: Programs,
  dataDir: string,
  limits: "on" | "off" = "on",
): Promise<EmulatorProgram> {
  const uncounted = limits === "off" ? ["--uncounted"] : [];
  const args = ["--data-dir", dataDir, ...uncounted];
  const program = await programs.start("../support/raised-emulator.ts", args);
  return { ...program, url: urlIn(program.line) };
}

/** The same, and the longest turns of its loop since they were forgotten. */
export interface WatchedEmulator extends EmulatorProgram {
  forgetTurns(): Promise<void>;
  longestTurns(): LongestTurns;
}

export async function startWatchedEmulator(
  programs: Programs,
  dataDir: string,
): Promise<WatchedEmulator> {
  const file = join(dataDir, "turns.json");
  const args = ["--data-dir", dataDir, "--turns", file];
  const program = await programs.start("../support/raised-emulator.ts", args);
  return {
    ...program,
    url: urlIn(program.line),
    async forgetTurns() {
      rmSync(file);
      process.kill(program.pid, "SIGUSR2");
      while (!existsSync(file)) await delay(realWorld, 1);
    },
    // `watchTurns` wrote it.
    longestTurns: () => JSON.parse(readFileSync(file, "utf8")) as LongestTurns,
  };
}

/** The address that a program says it is ready at. */
export function urlIn(line: string): string {
  const url = /ready at (http:\S+)/.exec(line)?.[1];
  if (url === undefined) throw new Error(`no address in: ${line}`);
  return url;
}

/** A request that has to succeed. Resolves to the body. */
export async function call<Body>(
  base: { readonly url: string; readonly token: string },
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  const response = await fetch(base.url + path, {
    method,
    headers: { Authorization: `Bearer ${base.token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Body;
}
