import { AppError, invalidAt } from "../../../shared/errors.ts";
import { parseConnectRequest } from "../../../shared/wire/connection.ts";
import { parseProjectPut } from "../../../shared/wire/project.ts";
import { parseSyncPayload } from "../../../shared/wire/sync.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * A seed, checked by the rules of the interface: throws a 400. It has the form of an export, of
 * `memsync export` as well; what that has besides is left out.
 */
export function parseSeed(value: unknown) {
  const { format = 1, projects = [], user, global, connections = [] } = objectIn(value, "");
  if (format !== 1) throw invalidAt("/format", "is not known: this emulator reads format 1");
  return {
    projects: listIn(projects, "/projects").map((each, at) => {
      const { memories = [], sessions, ...put } = objectIn(each, `/projects/${at}`);
      const plain = listIn(memories, `/projects/${at}/memories`).map(keyAndValue);
      const sync = { memories: plain, ...(sessions !== undefined && { sessions }) };
      return { put: parseProjectPut(put), sync: parseSyncPayload(sync) };
    }),
    memories: [...layerOf(user, "user"), ...layerOf(global, "global")],
    connections: listIn(connections, "/connections").map((each, at) => {
      const [one, other] = listIn(objectIn(each, "").project_ids, `/connections/${at}/project_ids`);
      return parseConnectRequest({ project_id: one, target_project_id: other });
    }),
  };
}

function layerOf(part: unknown, layer: "user" | "global") {
  if (part === undefined) return [];
  const { memories = [] } = objectIn(part, `/${layer}`);
  return listIn(memories, `/${layer}/memories`).map((each, at) => {
    const { key, value } = keyAndValue(each);
    if (typeof value !== "string" || (key !== undefined && typeof key !== "string")) {
      throw invalidAt(
        `/${layer}/memories/${at}`,
        "needs a text as value, and as key if there is one",
      );
    }
    return { layer, key, value };
  });
}

/** What else a memory has in an export is about its history. */
function keyAndValue(memory: unknown) {
  const { key, value } = objectIn(memory, "/memories");
  return { key, value };
}

function objectIn(value: unknown, path: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  if (path !== "") throw invalidAt(path, "must be an object");
  throw new AppError("invalid_request", "a seed is an object with projects, user and global");
}

function listIn(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalidAt(path, "must be an array");
}
