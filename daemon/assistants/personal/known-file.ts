import type { AccountId } from "../../../shared/ids.ts";
import type { Reason } from "../../../shared/reasons.ts";
import type { ProjectFile } from "../../files/names/find-project-file.ts";
import { askedWhoseText, type PersonalFile } from "../../home/personal-files.ts";
import type { PersonalRead } from "./read-personal-file.ts";
import { parseVersion } from "./version.ts";

/** What others see and write is no place for a text of one's own. */
export function whyProjects(
  { assistant }: PersonalFile,
  shared: ProjectFile | undefined,
): Reason | undefined {
  if (!shared?.isTaken) return undefined;
  return { code: "personal-in-project", assistant, project: shared.project };
}

/**
 * A link that leads to another file than before: what stands there may be anybody's, as in a file
 * that is turned on. One who saves a file in the link's place has seen what it had.
 */
export function ledTo(file: PersonalFile, path: string): PersonalFile {
  const { target } = file;
  const isElsewhere = target !== undefined && path !== target && path !== file.path;
  return { ...(isElsewhere ? askedWhoseText(file) : file), target: path };
}

/** Another account's text is another one: what the block has is new to it. */
export function ofAccount(file: PersonalFile, account: AccountId): PersonalFile {
  const nothing = { shown: undefined, next: undefined, held: undefined };
  const asked = file.asked === "found" ? file.asked : undefined;
  return { ...file, ...nothing, asked, account, undone: [] };
}

/** Whether nobody has put anything into a file's block since it was shown the text. */
export function isLeftAlike({ shown, begun }: PersonalFile, read: PersonalRead): boolean {
  const text = read.kind === "file" ? read.block?.text : undefined;
  if (text === undefined || shown === undefined || begun) return true;
  return text === parseVersion(shown).text;
}
