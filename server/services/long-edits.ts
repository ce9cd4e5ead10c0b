import type { ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { type AppliedUpdate, applyRequest } from "../../shared/replica/store/exchange.ts";
import type { Edit } from "../../shared/replica/store/replica.ts";
import type { ExchangeRequest } from "../../shared/wire/exchange.ts";
import { mayReach } from "./access.ts";
import { MEMORIES_AT_ONCE, type PlainChanges, writePlain } from "./plain-write.ts";
import type { Caller, PlainSync } from "./services.ts";

/** From so many bytes on, an update takes longer than a turn. */
const LONG_UPDATE_BYTES = 64 * 1024;

/** The difference of texts of so many characters may take longer than a turn to find. */
const LONG_TEXT_LENGTH = 32 * 1024;

/** The edit of a plain sync that takes longer than a turn; undefined for any other. */
export function longSync(
  caller: Caller,
  id: ProjectId,
  { payload, createMissing }: PlainSync,
): Edit<PlainChanges> | undefined {
  const hasLongText = (payload.claude_md_content?.length ?? 0) >= LONG_TEXT_LENGTH;
  const isLong = hasLongText || (payload.memories?.length ?? 0) > MEMORIES_AT_ONCE;
  if (!isLong || !isAllowed(caller, id)) return undefined;
  return {
    address: projectDocument(caller.account, id),
    create: createMissing,
    edit: (open, turns) => writePlain(open, payload, turns),
  };
}

/** The same of an exchange's update to a project that is there: a new one gets its name first. */
export function longExchange(
  caller: Caller,
  id: ProjectId | null,
  { documents: { project } }: ExchangeRequest,
): Edit<AppliedUpdate> | undefined {
  const isLong = (project?.update?.length ?? 0) >= LONG_UPDATE_BYTES;
  if (!project || id === null || !isLong || !isAllowed(caller, id)) return undefined;
  return {
    address: projectDocument(caller.account, id),
    create: false,
    edit: (open, { pause }) => applyRequest(open, project, pause),
  };
}

/** Whether the write would be allowed: a refused one is not worth working out. */
function isAllowed(caller: Caller, id: ProjectId): boolean {
  return caller.canWrite && mayReach(caller, id);
}
