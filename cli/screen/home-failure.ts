import { isDamage, unforeseen } from "../../shared/sqlite/failures.ts";

/** The message for an error that nobody foresaw, in a command that uses the home at `dir`. */
export function homeFailure(thrown: unknown, dir: string): string {
  return isDamage(thrown) ? damagedHome(dir) : unforeseen(thrown, dir);
}

/** The sentence for a damaged database, and what repairs it: the start of a daemon. */
export function damagedHome(dir: string): string {
  return (
    `the database in ${dir} is damaged: \`memsync restart\` sets it aside, and makes a new one ` +
    "of what can be read of it and what the service has"
  );
}
