import { type ProjectId, parseProjectId } from "../../shared/ids.ts";

/** The id `proj_<name>`. */
export function projectId(name: string): ProjectId {
  const id = parseProjectId(`proj_${name}`);
  if (id === undefined) throw new Error(`proj_${name} is no project's id`);
  return id;
}
