import { messageOf } from "../../shared/errors.ts";
import { FINDINGS, type FindingCode, type FindingState } from "./finding-codes.ts";

/**
 * What `memsync doctor` found about one thing.
 *
 * ```
 * return noted("disk-low", "300 MB are left", "make room"); // about "disk", a warning
 * ```
 */
export interface Finding {
  /** What was checked, in one word. */
  readonly about: string;
  readonly state: FindingState;
  readonly code: FindingCode;
  /** The finding, in a phrase. */
  readonly detail: string;
  /** What the user can do about it; null where nothing needs to be done. */
  readonly mend: string | null;
}

export function noted(code: FindingCode, detail: string, mend: string | null = null): Finding {
  const [about, state] = FINDINGS[code];
  return { about, state, code, detail, mend };
}

/** A check that fails is a finding, too. */
export async function findingOf(
  about: string,
  check: () => Promise<Finding> | Finding,
): Promise<Finding> {
  try {
    return await check();
  } catch (thrown) {
    const mend = `${remedyOf(thrown)}, then run \`memsync doctor\` again`;
    return {
      ...noted("check-failed", `could not be looked at: ${messageOf(thrown)}`, mend),
      about,
    };
  }
}

/** What helps after a failed check. Permissions are no remedy where the disk itself refuses. */
function remedyOf(thrown: unknown): string {
  return diskRemedyOf(thrown) ?? "see to it that this account may look there";
}

/** What helps where the disk itself refuses to be written; undefined for any other failure. */
export function diskRemedyOf(thrown: unknown): string | undefined {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT|EFBIG)$/.test(code)) return "the disk is full: make room on it";
  if (code === "EROFS") return "the disk is mounted read-only: mount it so that it can be written";
  return undefined;
}
