import { createReadStream } from "node:fs";

/**
 * The variable by which the launcher names the descriptor of a pipe. The launcher holds the other
 * end.
 */
export const LAUNCHER_VARIABLE = "MEMSYNC_LAUNCHER_PIPE";

const PIPE = 3;

/**
 * Reads the variable and removes it: programs that are started from here have another starter, and
 * no such pipe.
 */
export function takeLauncherPipe(env: Record<string, string | undefined>): number | undefined {
  const isThere = env[LAUNCHER_VARIABLE] === String(PIPE);
  delete env[LAUNCHER_VARIABLE];
  return isThere ? PIPE : undefined;
}

/** Resolves when the launcher has ended, even by SIGKILL; never where there is none. */
export function launcherEnd(pipe: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (pipe === undefined) return;
    const stream = createReadStream("", { fd: pipe, autoClose: false });
    stream.once("end", () => resolve());
    // A pipe that can't be read tells nothing.
    stream.once("error", () => {});
    stream.resume();
  });
}
