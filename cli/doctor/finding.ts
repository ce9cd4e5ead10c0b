import { messageOf } from "../../shared/errors.ts";

/** `ok`; `warning`: it works, but may not for long; `wrong`: something does not work. */
export type FindingState = "ok" | "warning" | "wrong";

/**
 * What `memsync doctor` found about one thing.
 *
 * ```
 * return warning("disk", "300 MB are left", "make room");
 * ```
 */
export interface Finding {
  /** What was checked, in one word. */
  readonly about: string;
  readonly state: FindingState;
  /** The finding, in a phrase. */
  readonly detail: string;
  /** What the user can do about it; null where nothing needs to be done. */
  readonly mend: string | null;
}

export function ok(about: string, detail: string): Finding {
  return { about, state: "ok", detail, mend: null };
}

export function warning(about: string, detail: string, mend: string): Finding {
  return { about, state: "warning", detail, mend };
}

export function wrong(about: string, detail: string, mend: string): Finding {
  return { about, state: "wrong", detail, mend };
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
    return wrong(about, `could not be looked at: ${messageOf(thrown)}`, mend);
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
