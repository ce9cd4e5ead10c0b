import { expect, test } from "bun:test";
import { HostAdmin } from "../../server/accounts/host-admin.ts";
import { createHostApp } from "../../server/host-app.ts";
import { asAccountId, type ProjectId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { realWorld } from "../../shared/world-real.ts";
import { runOnPostgres, serversOfTests } from "../support/postgres-servers.ts";

const newDatabase = serversOfTests();

const ann = asAccountId("ann");
const notes = projectDocument(ann, "proj_notes" as ProjectId);

test("a long write that others came in the way of is edited again, flushed or not", async () => {
  for (const isFlushed of [true, false]) {
    const { store } = await (await newDatabase()).open();
    const draft = await store.draft({
      address: notes,
      create: true,
      edit: async ({ document }, { now }) => {
        document.setEntry("memories", "drafted", { value: "x", now });
      },
    });
    if (!draft) throw new Error("there is no draft");
    const adopted: boolean[] = [];
    await store.write(
      async (context) => {
        const open = await context.adopt(draft);
        adopted.push(open !== undefined);
        if (open && isFlushed) await context.flush(open);
        if (open) throw Object.assign(new Error("deadlock detected"), { code: "40P01" });
        const { document } = await context.open(notes);
        document.setEntry("memories", "edited", { value: "x", now: context.now });
      },
      { owner: ann, isLong: true },
    );
    expect(adopted).toEqual([true, false]);
    const keys = await store.write(
      async (context) => [...(await context.open(notes)).document.memories.keys()],
      { owner: ann },
    );
    expect(keys).toEqual(["edited"]);
    expect(await store.reader.selectFrom("memories").select("key").execute()).toEqual([
      { key: "edited" },
    ]);
  }
});

test("a long sync that is a deadlock's victim is answered when it is saved", async () => {
  const { address } = await newDatabase();
  const host = await createHostApp({
    path: address,
    world: realWorld,
    log: silentLog,
    loopbackOnly: true,
  });
  const admin = new HostAdmin(host.database, realWorld);
  await admin.createAccount("acme", "pro");
  const { token } = await admin.createToken({
    account: "acme",
    user: "ann",
    name: "laptop",
    scope: "write",
    projects: null,
    expiresAt: null,
  });
  const sync = async (values: readonly string[]) => {
    const memories = values.map((value, at) => ({ key: `key-${at}`, value }));
    const answer = await host.app.fetch(
      new Request("http://127.0.0.1/v1/projects/proj_0123456789/sync", {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ memories }),
      }),
    );
    return answer.status;
  };
  // A statement after that of the documents is the one that fails, at its first try alone.
  await runOnPostgres(
    address,
    "CREATE SEQUENCE tries",
    `CREATE FUNCTION deadlock() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('tries') = 1 THEN RAISE 'deadlock detected' USING ERRCODE = '40P01'; END IF;
      RETURN NEW;
    END $$`,
    `CREATE TRIGGER deadlocks BEFORE INSERT OR UPDATE ON current_projects
    FOR EACH ROW EXECUTE FUNCTION deadlock()`,
  );
  expect(await sync(Array.from({ length: 600 }, () => "long"))).toBe(200);
  const rows = await host.database.reader.selectFrom("memories").select("value").execute();
  expect(rows.filter(({ value }) => value === "long")).toHaveLength(600);
  expect(await sync(["short"])).toBe(200);
  await host.close();
});
