import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { layerOf } from "../../shared/replica/document/address.ts";
import { beginsAsPersonal, PERSONAL_KEY } from "../home/personal-mark.ts";
import type { DaemonTables } from "../home/tables.ts";
import { keysOfService } from "../plain/plain-store.ts";
import { findLocalDocument } from "./find-document.ts";

/** A document, and who owns it. */
interface Place {
  readonly document: string;
  readonly account: AccountId;
}

/** A memory, or what is to become one. */
interface KeyAndValue {
  readonly key: string;
  readonly value: string;
}

/**
 * Tells which memories of a document are the personal text. A service that keeps no keys has given
 * it another one; there it is known by how it begins. `db`: undefined where there is no home yet.
 */
export async function personalMemories(
  db: Kysely<DaemonTables> | undefined,
  { document, account }: Place,
): Promise<(memory: KeyAndValue) => boolean> {
  if (layerOf(document) !== "user") return () => false;
  const found = db && (await findLocalDocument(db, document, account));
  const keys = new Set(db && found ? await keysOfService(db, found.id) : []);
  return ({ key, value }) => key === PERSONAL_KEY || (keys.has(key) && beginsAsPersonal(value));
}
