import { isObject, type JsonValue } from "../../json.ts";
import type { ReplicaDocument } from "../document/document.ts";
import { machineName } from "../document/machine-name.ts";
import { OWN_METADATA_PREFIX } from "../document/own-metadata.ts";

/** The prefix of metadata that says what a home wrote. The rest of the key is the home's id. */
export const HOME_PREFIX = `${OWN_METADATA_PREFIX}home/`;

/**
 * What a home says of itself in a document. It is an entry of its own, and not part of a machine's
 * name, because earlier versions read a name that is no text as none.
 */
export interface HomeRecord {
  readonly home: string;
  /** The name under which it wrote last. */
  readonly name: string;
  /** When it last said so, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Its clients of which something may be visible. */
  readonly clients: readonly number[];
}

/** The metadata key of a home's record. */
export function homeKey(home: string): string {
  return HOME_PREFIX + home;
}

/** Undefined for any other metadata, and for what no memsync has written. */
export function parseHome(key: string, value: JsonValue | undefined): HomeRecord | undefined {
  if (!key.startsWith(HOME_PREFIX)) return undefined;
  const { at, clients, ...given } = isObject(value) ? value : {};
  const name = machineName(given.name);
  if (name === undefined || !isTime(at)) return undefined;
  const known = Array.isArray(clients) ? clients : [];
  return {
    home: key.slice(HOME_PREFIX.length),
    name,
    at,
    clients: known.filter((each) => typeof each === "number"),
  };
}

/** Whether a date can have this time; see "Time Values and Time Range" in ECMA-262. */
function isTime(value: JsonValue | undefined): value is number {
  return typeof value === "number" && Math.abs(value) <= 8.64e15;
}

/** The records of all homes in a document. */
export function homesIn({ metadata }: ReplicaDocument): HomeRecord[] {
  return [...metadata.keys()].flatMap((key) => parseHome(key, metadata.get(key)[0]?.value) ?? []);
}

/** The home that alone claims a client; undefined where none does, or several. */
export function claimantOf(document: ReplicaDocument, client: number): string | undefined {
  const [own, ...others] = homesIn(document).filter((each) => each.clients.includes(client));
  return others.length === 0 ? own?.home : undefined;
}

/** Writes a home's record in place of the one before. */
export function putHome(document: ReplicaDocument, record: HomeRecord): void {
  const { home, name, at, clients } = record;
  const value = { name, at, clients: [...clients] };
  document.setEntry("metadata", homeKey(home), { value, now: at });
}
