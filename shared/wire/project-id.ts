import { AppError } from "../errors.ts";
import { type ProjectId, parseProjectId } from "../ids.ts";

/** A malformed project id can't exist, so it is a 404, like any unknown one. */
export function existingProjectId(value: string): ProjectId {
  const id = parseProjectId(value);
  if (id === undefined) throw new AppError("not_found", "there is no such project");
  return id;
}
