import { replaceFile as replace } from "../../daemon/disk/write-file.ts";

export type { WriteOutcome } from "../../daemon/disk/write-file.ts";

/** Stands for the real one in a process that is killed once a file is replaced. */
export async function replaceFile(
  ...asked: Parameters<typeof replace>
): ReturnType<typeof replace> {
  const outcome = await replace(...asked);
  if (outcome.kind === "written") process.kill(process.pid, "SIGKILL");
  return outcome;
}
