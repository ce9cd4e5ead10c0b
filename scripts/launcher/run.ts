import { spawn } from "node:child_process";
import { Socket } from "node:net";
import { LAUNCHER_VARIABLE } from "../../cli/place/launcher-end.ts";

/** Each ends the command; a terminal sends them to all of its processes, the child among them. */
const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What `exec` passes on to its own command. */
const PASSED_ON = [...ENDING_SIGNALS, "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

const FAILED = 1;

/**
 * Runs a program in the place of this process, or beside it where Node can't do that. Signals that
 * end this process then end the program; one that passes signals on (`passesOn`) is sent the same.
 */
export function run(program: string, args: readonly string[], passesOn: boolean): void {
  // Newer Nodes can hand the process over, which leaves no Node waiting beside the program.
  if (process.platform !== "win32" && process.execve !== undefined) {
    process.execve(program, [program, ...args], process.env);
  }
  const env = { ...process.env, [LAUNCHER_VARIABLE]: "3" };
  // The last one tells the child of this process's end, however it came: nothing is written to it.
  const child = spawn(program, args, { env, stdio: ["inherit", "inherit", "inherit", "pipe"] });
  // A process that the child leaves behind may have its end, too, and must not hold this one.
  const pipe = child.stdio[3];
  if (pipe instanceof Socket) pipe.on("error", () => {}).unref();
  for (const signal of passesOn ? PASSED_ON : ENDING_SIGNALS) {
    // To others it is SIGTERM, because the terminal may have sent this one to the child as well,
    // and a second of the same kind would end it at once. `exec` is ended by none of them, and
    // knows what was typed.
    process.on(signal, () => child.kill(passesOn ? signal : "SIGTERM"));
  }
  child.on("error", (error) => fail(`${program} can't be started (${error.message})`));
  child.on("exit", (status, signal) => {
    process.exitCode = status ?? FAILED;
    if (signal !== null) endBy(signal);
  });
}

/** Ends this process as its child ended, so that whoever waits for it sees the same. */
function endBy(signal: NodeJS.Signals): void {
  for (const each of PASSED_ON) process.removeAllListeners(each);
  process.kill(process.pid, signal);
}

/** Says on standard error what is wrong, and ends the command as failed, or with a status. */
export function fail(problem: string, status = FAILED): void {
  complain(problem);
  process.exitCode = status;
}

export function complain(problem: string): void {
  process.stderr.write(`memsync: ${problem}\n`);
}
