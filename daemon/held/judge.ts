import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import { NO_ROOM, type OpenDocument } from "../../shared/replica/open-document.ts";
import type { DaemonTables } from "../tables.ts";
import type { HeldWrite } from "./held-store.ts";
import { findSecrets, type Secret } from "./secret-scan.ts";

type Db = Kysely<DaemonTables>;

/**
 * Why a text may not enter a document: in words that follow its name, with nothing of the text in
 * them; undefined when it may. What the texts in `present` have is in the document already, from
 * wherever it came, and what a person has allowed is no secret.
 */
export async function secretReason(
  db: Db,
  text: string,
  present: readonly string[],
): Promise<string | undefined> {
  const secrets = await findSecrets(text, async (found) => {
    const unknown = await notAllowedAmong(db, found);
    return unknown.filter((secret) => !present.some((each) => each.includes(secret.text)));
  });
  const [first] = secrets;
  if (!first) return undefined;
  const place = text.trimEnd().includes("\n") ? ` in line ${first.line}` : "";
  const more = secrets.length > 1 ? `, and ${secrets.length - 1} more` : "";
  return `looks like ${first.kind}${place}${more}`;
}

/** Why a write is held, as it is stored. */
export type WhyHeld = Pick<HeldWrite, "cause" | "reason">;

/** Why a write of `text` may not enter a document; undefined when it may. See `secretReason`. */
export async function whyHeld(
  db: Db,
  open: OpenDocument,
  text: string,
  present: readonly string[],
): Promise<WhyHeld | undefined> {
  const reason = await secretReason(db, text, present);
  if (reason !== undefined) return { cause: "secret", reason };
  if (!open.isFull || !addsLines(text, present)) return undefined;
  return { cause: "limit", reason: NO_ROOM };
}

/** The same for a memory, whose key is judged, too; `present` are the values that it has. */
export async function whyMemoryHeld(
  db: Db,
  open: OpenDocument,
  { key, value }: { readonly key: string; readonly value: string },
  present: readonly string[],
): Promise<WhyHeld | undefined> {
  const why = await whyHeld(db, open, value, present);
  if (why || present.length > 0) return why;
  const reason = await secretReason(db, key, []);
  return reason === undefined ? undefined : { cause: "secret", reason };
}

function addsLines(text: string, present: readonly string[]): boolean {
  const known = new Set(present.flatMap((each) => each.split("\n")));
  return text.split("\n").some((line) => !known.has(line));
}

/** From now on nothing that is in this text counts as a secret on this machine. */
export async function allowSecretsIn(db: Db, text: string, now: number): Promise<void> {
  for (;;) {
    const secrets = await findSecrets(text, (found) => notAllowedAmong(db, found));
    if (secrets.length === 0) return;
    for (const secret of secrets) {
      await db
        .insertInto("allowed_secrets")
        .values({ hash: hashOf(secret), allowed_at: now })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  }
}

async function notAllowedAmong(db: Db, secrets: readonly Secret[]): Promise<Secret[]> {
  if (secrets.length === 0) return [];
  const hashes = new Map(secrets.map((secret) => [secret, hashOf(secret)]));
  const rows = await db
    .selectFrom("allowed_secrets")
    .select("hash")
    .where("hash", "in", [...new Set(hashes.values())])
    .orderBy("hash")
    .execute();
  const allowed = new Set(rows.map(({ hash }) => hash));
  return secrets.filter((secret) => !allowed.has(hashes.get(secret) ?? ""));
}

function hashOf({ text }: Secret): string {
  return createHash("sha256").update(text).digest("hex");
}
