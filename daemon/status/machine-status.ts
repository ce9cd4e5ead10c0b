import type { Kysely } from "kysely";
import { parseJson } from "../../shared/json.ts";
import { noteFrom, type ReasonNote } from "../../shared/reasons.ts";
import { HOME_PREFIX, parseHome } from "../../shared/replica/log/homes.ts";
import type { Home } from "../home/home.ts";
import { damagedHomeIds, readHomeId } from "../home/home-id.ts";
import { readMachineName } from "../home/machine-name.ts";
import type { DaemonTables } from "../home/tables.ts";

/**
 * A home that has said nothing for so long is believed to be gone, such as this machine's own
 * before it was set up anew. A home in use says its name every week in what it writes.
 */
const GONE_AFTER_MS = 30 * 24 * 3_600_000;

/**
 * This machine, as histories and conflicts name it. `note`: what is wrong with its name, and what
 * to do.
 */
export interface MachineStatus extends ReasonNote {
  readonly name: string;
}

/**
 * Whether another home has this one's name, as far as the documents here tell. Each home counts
 * with the name that it gave last, in whatever document: so whoever renames one of the two has
 * settled it, once that one has synced. Machines without a home's id are not counted:
 * they may be this one as it was before, and services without replicas tell of no machine at all.
 */
export async function readMachineStatus(
  db: Kysely<DaemonTables>,
  home: Home,
  now: number,
): Promise<MachineStatus> {
  const name = readMachineName(home);
  const [damaged] = damagedHomeIds(home);
  // The home of the same name is then this one, under its former id.
  if (damaged !== undefined) return { name, ...noteFrom({ code: "id-anew", file: damaged }) };
  const at = await lastAlike(db, readHomeId(home), name);
  if (at === undefined || now - at >= GONE_AFTER_MS) return { name, ...noteFrom(undefined) };
  return { name, ...noteFrom({ code: "name-twice", at, file: home.machine }) };
}

/** When another home last said this name; undefined where none has it now. */
async function lastAlike(
  db: Kysely<DaemonTables>,
  own: string | undefined,
  name: string,
): Promise<number | undefined> {
  if (own === undefined) return undefined;
  const rows = await db
    .selectFrom("metadata")
    .select(["key", "value"])
    .where("key", ">=", HOME_PREFIX)
    .where("key", "<", `${HOME_PREFIX}~`)
    .execute();
  const said = rows.flatMap(({ key, value }) => parseHome(key, parseJson(value)) ?? []);
  const inOrder = said.sort((one, other) => one.at - other.at);
  const last = new Map(inOrder.map((each) => [each.home, each]));
  last.delete(own);
  const alike = [...last.values()].filter((each) => each.name === name);
  return alike.length === 0 ? undefined : Math.max(...alike.map(({ at }) => at));
}
