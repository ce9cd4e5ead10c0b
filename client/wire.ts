// The wire's types as users of the client see them: those of the schemas by which the server checks
// requests, with ids as plain strings. In the package they are written out (scripts/wire-types.ts).
import type { Static, TSchema } from "@sinclair/typebox";
import type { JsonObject } from "../shared/json.ts";
import type * as account from "../shared/wire/account.ts";
import type * as batch from "../shared/wire/batch.ts";
import type * as connection from "../shared/wire/connection.ts";
import type * as exchange from "../shared/wire/exchange.ts";
import type * as health from "../shared/wire/health.ts";
import type * as layer from "../shared/wire/layer.ts";
import type * as memory from "../shared/wire/memory.ts";
import type * as project from "../shared/wire/project.ts";
import type * as session from "../shared/wire/session.ts";
import type * as stats from "../shared/wire/stats.ts";
import type * as sync from "../shared/wire/sync.ts";

export type { JsonObject, JsonValue } from "../shared/json.ts";

/** A branded string has more members than any other. */
type Unbranded<T extends string> = Exclude<keyof T, keyof string> extends never ? T : string;

/** `T`, read-only and without brands; any object becomes JSON. */
type Plain<T> = T extends string
  ? Unbranded<T>
  : T extends object
    ? IsAnyObject<T> extends true
      ? JsonObject
      : { readonly [K in keyof T]: Plain<T[K]> }
    : T;

type IsAnyObject<T> = string extends keyof T ? Same<T, JsonObject> : Same<keyof T, never>;
type Same<A, B> = [A, B] extends [B, A] ? true : false;

type Of<T extends TSchema> = Plain<Static<T>>;

export type Account = Of<typeof account.Account>;
export type Batch = Of<typeof batch.BatchBody>;
export type BatchAnswer = Of<typeof batch.BatchAnswerBody>;
export type ProjectPart = Of<typeof batch.ProjectPartBody>;
export type ProjectPartAnswer = Of<typeof batch.ProjectPartAnswerBody>;
export type Connection = Of<typeof connection.Connection>;
export type ConnectAnswer = Of<typeof connection.ConnectAnswer>;
export type ConnectRequest = Of<typeof connection.ConnectBody>;
export type DocumentAnswer = Of<typeof exchange.DocumentAnswerBody>;
export type DocumentRequest = Of<typeof exchange.DocumentBody>;
export type Exchange = Of<typeof exchange.ExchangeBody>;
export type ExchangeAnswer = Of<typeof exchange.ExchangeAnswerBody>;
export type Health = Of<typeof health.Health>;
export type Ready = Of<typeof health.Ready>;
export type KeyValue = Of<typeof project.KeyValue>;
export type Layer = Of<typeof layer.Layer>;
export type Memory = Of<typeof memory.Memory>;
export type MemoryCreate = Of<typeof memory.MemoryCreateBody>;
export type MemoryDeleted = Of<typeof memory.MemoryDeleted>;
export type MemoryList = Of<typeof memory.MemoryList>;
export type Project = Of<typeof project.Project>;
export type ProjectDeleted = Of<typeof project.ProjectDeleted>;
export type ProjectList = Of<typeof project.ProjectList>;
export type ProjectPut = Of<typeof project.ProjectPutBody>;
export type ProjectPutAnswer = Of<typeof project.ProjectPutAnswer>;
export type ProjectWithMemories = Of<typeof project.ProjectWithMemories>;
export type ProjectWithText = Of<typeof project.ProjectWithText>;
export type RequestWindow = Of<typeof stats.RequestWindow>;
export type Session = Of<typeof session.Session>;
export type SessionList = Of<typeof session.SessionList>;
export type SessionUpload = Of<typeof session.SessionBody>;
export type Stats = Of<typeof stats.Stats>;
export type Sync = Of<typeof sync.SyncBody>;
export type SyncAnswer = Of<typeof sync.SyncAnswer>;
