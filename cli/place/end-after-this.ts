import { type ChildProcess, spawn } from "node:child_process";

/**
 * A shell that reads a line, which comes when all is over. If its input ends without one, the
 * process at the other end was killed. It ignores signals that a terminal sends to all of its
 * processes.
 */
const WATCH = `trap '' INT TERM HUP QUIT; read -r over || kill -TERM "$0"`;

/**
 * Asks `child` to end when this process is killed so that it can't do so itself. Returns what ends
 * the watch, to be called when the child has ended: its number may be another process's then.
 * Where there is no shell, nothing watches.
 */
export function endAfterThis(child: ChildProcess): () => void {
  if (child.pid === undefined) return () => {};
  const watch = spawn("sh", ["-c", WATCH, String(child.pid)], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  watch.once("error", () => {});
  watch.stdin.once("error", () => {});
  watch.unref();
  return () => watch.stdin.end("over\n");
}
