import { hash } from "node:crypto";
import type { World } from "./world.ts";

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

function branded<Id extends Branded<string>>(text: string): Id {
  // The brand exists for the compiler alone. Each caller has checked or made the text.
  return text as Id;
}

/** `proj_` and 1 to 64 of `[0-9A-Za-z_-]`; scoped by account. */
export type ProjectId = Branded<"ProjectId">;
/** `mem_` and 1 to 64 of `[0-9A-Za-z_-]`; derived by `memoryIdOf`. */
export type MemoryId = Branded<"MemoryId">;
/** `sess_` and the assistant's own session id. */
export type SessionId = Branded<"SessionId">;
/** `req_` and a random part; names one request in answers and logs. */
export type RequestId = Branded<"RequestId">;
/**
 * `acct_` and a random part on a host, `acct_dev_` and a name in the emulator. In a home `local`,
 * or `local/<remote>/<random part>`. Never parsed: any text may be one.
 */
export type AccountId = Branded<"AccountId">;
/** `user_` and a random part on a host; `local` in a home. Never parsed, like an account's. */
export type UserId = Branded<"UserId">;

const BODY = "[0-9A-Za-z_-]{1,64}";
/** Form of a `ProjectId`. */
export const PROJECT_ID = new RegExp(`^proj_${BODY}$`);
/** Form of a `MemoryId`. */
export const MEMORY_ID = new RegExp(`^mem_${BODY}$`);
/** Form of a `SessionId`. */
export const SESSION_ID = new RegExp(`^sess_${BODY}$`);

/** Undefined for a malformed text. Does not check whether the project exists. */
export function parseProjectId(text: string): ProjectId | undefined {
  return PROJECT_ID.test(text) ? branded<ProjectId>(text) : undefined;
}

/** Undefined for a malformed text. Does not check whether the memory exists. */
export function parseMemoryId(text: string): MemoryId | undefined {
  return MEMORY_ID.test(text) ? branded<MemoryId>(text) : undefined;
}

/** Undefined for a malformed text. Does not check whether the session exists. */
export function parseSessionId(text: string): SessionId | undefined {
  return SESSION_ID.test(text) ? branded<SessionId>(text) : undefined;
}

/** An account's id, as our own database, file or message has it. */
export function asAccountId(text: string): AccountId {
  return branded(text);
}

/** A user's id, as our own database or message has it. */
export function asUserId(text: string): UserId {
  return branded(text);
}

/** RFC 4648's alphabet in lower case. */
const BASE32 = Buffer.from("abcdefghijklmnopqrstuvwxyz234567");

/** RFC 4648 base32, lower case, without padding. */
export function base32(bytes: Uint8Array): string {
  // A loop over places is several times as fast as one over elements, and each memory has an id.
  const text = Buffer.allocUnsafe(Math.ceil((bytes.length * 8) / 5));
  let length = 0;
  let buffer = 0;
  let bits = 0;
  for (let at = 0; at < bytes.length; at++) {
    buffer = ((buffer & 0xff) << 8) | (bytes[at] ?? 0);
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text[length++] = BASE32[(buffer >>> bits) & 31] ?? 0;
    }
  }
  if (bits > 0) text[length++] = BASE32[(buffer << (5 - bits)) & 31] ?? 0;
  return text.toString("latin1");
}

/**
 * The id that a memory has on every replica: `mem_` and the first 26 characters of base32 of
 * SHA-256 over `<document id>\n<key>` (contract, section 4). The document id is the project's id,
 * `user` or `global`.
 */
export function memoryIdOf(documentId: string, key: string): MemoryId {
  const digest = hash("sha256", `${documentId}\n${key}`, "buffer");
  return branded(`mem_${base32(digest).slice(0, 26)}`);
}

/** A random key for a memory that came without one: `note-` and 16 base32 characters. */
export function randomMemoryKey(world: World): string {
  return `note-${base32(world.randomBytes(10))}`;
}

/** A new project's id: `proj_` and 26 base32 characters (128 bits). */
export function randomProjectId(world: World): ProjectId {
  return branded(`proj_${base32(world.randomBytes(16)).slice(0, 26)}`);
}

/** A new request's id: `req_` and 16 base32 characters (80 bits). */
export function randomRequestId(world: World): RequestId {
  return branded(`req_${base32(world.randomBytes(10))}`);
}
