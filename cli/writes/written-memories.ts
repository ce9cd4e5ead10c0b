import type { Kysely } from "kysely";
import { keyOfName } from "../../daemon/assistants/memory-folders/memory-names.ts";
import type { ScannedFolder } from "../../daemon/assistants/memory-folders/scan-memory-folders.ts";
import { areShown } from "../../daemon/assistants/memory-folders/written-since.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import {
  type AskedMemoryFile,
  findMemoryFile,
  type MemoryOwner,
} from "../../daemon/home/memory-files.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readLocalMemories, readStanding } from "../../daemon/reading/local-memories.ts";
import { getDefault, readRemotes } from "../../daemon/remotes/remote-view.ts";
import type { Environment } from "../place/environment.ts";
import { ownDocument } from "../place/layer-option.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";

type Db = Kysely<DaemonTables>;

/** Files whose memories somebody has written since: the daemon deletes none of them. */
export async function writtenSince(
  env: Environment,
  db: Db,
  {
    asked,
    folders,
  }: {
    readonly asked: readonly AskedMemoryFile[];
    readonly folders: readonly Pick<ScannedFolder, "path" | "format">[];
  },
): Promise<AskedMemoryFile[]> {
  const written: AskedMemoryFile[] = [];
  for (const file of asked) {
    const format = folders.find(({ path }) => path === file.folder)?.format;
    if (!format) continue;
    const key = keyOfName(format, file.name);
    const document = file.owner === "user" ? ownDocument("user") : file.owner;
    const account = await accountOf(env, db, file.owner);
    const memories = await readLocalMemories(db, document, account);
    const isInInbox = memories.some((each) => each.key === key && each.in_inbox);
    // What is held of the file hides what others have written, so the document is read by itself.
    const { entries } = await readStanding(db, { account, document, key });
    const shown = (await findMemoryFile(db, file.folder, file.name))?.seen ?? [];
    if (isInInbox || !areShown(entries, shown)) written.push(file);
  }
  return written;
}

/** The account by which the daemon has it: personal memories are those of the default remote. */
async function accountOf(env: Environment, db: Db, owner: MemoryOwner) {
  if (owner !== "user") return (await findBinding(db, owner)) ?? LOCAL_ACCOUNT;
  const view = await readRemotes(db, remoteEnvironment(env));
  return view.follows ? LOCAL_ACCOUNT : getDefault(view).account;
}
