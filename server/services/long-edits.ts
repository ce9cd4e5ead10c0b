import type { ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { type AppliedUpdate, applyRequest } from "../../shared/replica/store/exchange.ts";
import type { ExchangeRequest } from "../../shared/wire/exchange.ts";
import type { SyncPayload } from "../../shared/wire/sync.ts";
import { mayReach } from "./access.ts";
import { MEMORIES_AT_ONCE, type PlainChanges, writePlain } from "./plain-write.ts";
import type { Caller } from "./services.ts";
import type { LongEdit } from "./write-as.ts";

/** From so many bytes on, an update takes longer than a turn. */
const LONG_UPDATE_BYTES = 64 * 1024;

/** The edit of a plain sync that takes longer than a turn; undefined for any other. */
export function longSync(
  caller: Caller,
  id: ProjectId,
  payload: SyncPayload,
): LongEdit<PlainChanges> | undefined {
  const isLong = (payload.memories?.length ?? 0) > MEMORIES_AT_ONCE;
  if (!isLong || !isAllowed(caller, id)) return undefined;
  return {
    address: projectDocument(caller.account, id),
    edit: (open, turns) => writePlain(open, payload, turns),
  };
}

/** The same of an exchange's update to a project. */
export function longExchange(
  caller: Caller,
  id: ProjectId | null,
  { documents: { project } }: ExchangeRequest,
): LongEdit<AppliedUpdate> | undefined {
  const isLong = (project?.update?.length ?? 0) >= LONG_UPDATE_BYTES;
  if (!project || id === null || !isLong || !isAllowed(caller, id)) return undefined;
  return {
    address: projectDocument(caller.account, id),
    edit: (open, { pause }) => applyRequest(open, project, pause),
  };
}

/** Nothing is worked out for a caller whom the write refuses. */
function isAllowed(caller: Caller, id: ProjectId): boolean {
  return caller.canWrite && mayReach(caller, id);
}
