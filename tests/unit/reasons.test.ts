import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import { listHeld } from "../../daemon/home/held-store.ts";
import { daemonMigrations } from "../../daemon/home/migrations.ts";
import { openHomeDatabase } from "../../daemon/home/open-home.ts";
import { readPosition } from "../../daemon/home/positions.ts";
import { readWholeInbox } from "../../daemon/inbox/inbox.ts";
import { listRefused } from "../../daemon/plain/plain-store.ts";
import {
  explain,
  isSameReason,
  parseReason,
  type Reason,
  reasonText,
} from "../../shared/reasons.ts";
import { openDatabase } from "../../shared/sqlite/database.ts";
import { migrate } from "../../shared/sqlite/migrate.ts";

test("a reason is stored as it is, and a sentence of before keeps its words", () => {
  const reason: Reason = { code: "service-refused", said: "too large" };
  expect(parseReason(reasonText(reason))).toEqual(reason);
  const words = ["no room", '"no room"', "{", "null", '{"code":"toString"}', '{"code":"newer"}'];
  for (const said of words) expect(parseReason(said)).toEqual({ code: "told-before", said });
});

test("reasons are the same where their codes and facts are", () => {
  const one: Reason = { code: "folder-gone", dir: "/a", isReplaced: false };
  expect(isSameReason(one, { isReplaced: false, dir: "/a", code: "folder-gone" })).toBe(true);
  expect(isSameReason(one, { ...one, isReplaced: true })).toBe(false);
  expect(isSameReason({ code: "no-room" }, { code: "too-large" })).toBe(false);
});

test("a sentence names its facts, and says what to do", () => {
  const sentences: readonly (readonly [Reason, string])[] = [
    [
      {
        code: "leave-unknown",
        trouble: "left-behind",
        said: "fatal: not a git repository: /src/app/.git/worktrees/fix",
      },
      "git could not say whether it is tracked (fatal: not a git repository: " +
        "/src/app/.git/worktrees/fix): `git worktree repair` in the repository mends it",
    ],
    [
      { code: "requests-used", limit: 60, windowMs: 60_000 },
      "the account has 60 requests a minute",
    ],
    [{ code: "requests-used", limit: 9, windowMs: 5000 }, "the account has 9 requests in 5 s"],
    [{ code: "requests-used" }, "the account's requests are used"],
    [
      { code: "requests-pace", everyMs: 107_000 },
      "one request every 107 s, to last for the day (`memsync sync` does not wait)",
    ],
    [{ code: "link-to-itself" }, "is a symbolic link to itself"],
    [{ code: "not-utf8" }, "is not UTF-8: save it as UTF-8"],
    [
      { code: "call-refused", said: "it answered 409: taken" },
      "it answered 409: taken; it is tried again, and all else goes on",
    ],
    [
      { code: "missing", lines: 1 },
      "is missing here, the project has 1 line: `memsync doc write` writes it",
    ],
    [
      { code: "missing", lines: null },
      "is not there yet: the first of CLAUDE.md, .claude/CLAUDE.md, AGENTS.md is followed",
    ],
    [
      { code: "leave-branch", branch: "feature", isDetached: false, followed: "main" },
      "is left alone on feature: it is followed on main",
    ],
    [
      { code: "leave-branch", isDetached: true },
      "is left alone on a detached HEAD: no default branch is known",
    ],
    [
      {
        code: "looks-like-secret",
        rule: "r",
        like: "a token",
        line: 3,
        more: 2,
        inKey: true,
      },
      "its key looks like a token in line 3, and 2 more",
    ],
  ];
  for (const [reason, sentence] of sentences) expect(explain(reason)).toBe(sentence);
});

const FORBIDDEN =
  "the token may not write it, or does not reach it: give `memsync login`, or MEMSYNC_TOKEN, one " +
  "that may";
const FULL = "the document is over 11534336 bytes: delete something first";

async function fill(db: Kysely<unknown>): Promise<void> {
  await sql`insert into documents (id, owner, name, created_at, updated_at) values
    (1, 'local', 'global', 0, 0), (2, 'local', 'user/local', 0, 0),
    (3, 'local', 'proj_a', 0, 0), (4, 'local', 'proj_b', 0, 0)`.execute(db);
  await sql`insert into sync_positions (service, document_id, epoch, seq, acked_seq, refused)
    values ('s', 1, 'e', 1, 1, ${FORBIDDEN}), ('s', 2, 'e', 1, 1, 'it''s too "large"'),
    ('s', 3, 'e', 1, 1, null),
    ('s', 4, 'e', 1, 1, 'the service''s update is not acceptable: it says so: no')`.execute(db);
  await sql`insert into plain_refused (document_id, kind, key, hash, reason) values
    (1, 'deletion', 'a', 'h', 'its deletion can''t be sent: the service gives no id for it'),
    (1, 'deletion', 'b', 'h', 'its deletion is refused: it answered 404'),
    (1, 'memories', 'c', 'h', 'is bad'),
    (1, 'text', '', 'h', 'what it holds is too large, or no text, and stays there as it is')
    `.execute(db);
  const held = (key: string, cause: string, reason: string) =>
    sql`insert into held (kind, account, document, key, seen, cause, reason, written_at)
      values ('memory', 'local', 'global', ${key}, '[]', ${cause}, ${reason}, 0)`.execute(db);
  await held("a", "secret", "looks like a GitHub token in line 2");
  await held("b", "limit", FULL);
  await held("c", "refused", "refused by the service: it says: no");
  await sql`insert into inbox (kind, document, key, seen, written_at) values
    ('text conflict', 'proj_a', 'c1', '[]', 0), ('losers', 'proj_a', 'k', '[]', 0)`.execute(db);
}

test("sentences that a home holds become codes, each with its words", async () => {
  const folder = mkdtempSync(join(tmpdir(), "memsync-reasons-"));
  const path = join(folder, "memsync.db");
  const before = await openDatabase<unknown>({ path });
  await migrate(
    before.writer,
    daemonMigrations.filter(({ name }) => name !== "daemon-reasons-as-codes"),
  );
  await fill(before.writer);
  await before.close();
  const home = await openHomeDatabase(path);
  try {
    const refusedOf = async (id: number) => (await readPosition(home.reader, "s", id)).refused;
    expect(await Promise.all([1, 2, 3, 4].map(refusedOf))).toEqual([
      { code: "token-forbids" },
      { code: "service-refused", said: 'it\'s too "large"' },
      undefined,
      { code: "update-unacceptable", said: "it says so: no" },
    ]);
    expect((await listRefused(home.reader, 1)).map(({ reason }) => reason)).toEqual([
      { code: "no-id" },
      { code: "deletion-refused", said: "it answered 404" },
      { code: "service-refused", said: "is bad" },
      { code: "untakable" },
    ]);
    expect((await listHeld(home.reader)).map(({ reason }) => reason)).toEqual([
      { code: "told-before", said: "looks like a GitHub token in line 2" },
      { code: "no-room" },
      { code: "service-refused", said: "it says: no" },
    ]);
    expect(await readWholeInbox(home.reader)).toMatchObject([
      { kind: "text-conflict", id: "c1" },
      { kind: "losers", key: "k" },
    ]);
  } finally {
    await home.close();
    rmSync(folder, { recursive: true });
  }
});
