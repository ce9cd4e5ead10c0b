import { AppError } from "../../../shared/errors.ts";
import { parseMemoryId } from "../../../shared/ids.ts";
import type { MemoryDeleted } from "../../../shared/wire/memory.ts";
import type { Caller, Services } from "../../services/services.ts";
import { requireWrite } from "./route.ts";

/** Deletes the memory that a path names. Throws an `AppError` where the caller can't. */
export async function deleteMemory(
  { memories }: Pick<Services, "memories">,
  caller: Caller,
  named: string,
): Promise<MemoryDeleted> {
  requireWrite(caller);
  const id = parseMemoryId(named);
  if (id === undefined) throw new AppError("not_found", "there is no such memory");
  await memories.remove(caller, id);
  return { id, deleted: true };
}
