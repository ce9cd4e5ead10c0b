import { expect, test } from "bun:test";
import { serviceStoreOf } from "../../server/services/service-store.ts";
import { SyncMarks } from "../../server/services/sync-marks.ts";
import { keepOthersOut } from "../../server/stores/keep-others-out.ts";
import { asAccountId } from "../../shared/ids.ts";
import { globalDocument } from "../../shared/replica/document/address.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { serversOfTests } from "../support/postgres-servers.ts";
import { waitFor } from "../support/wait-for.ts";

const newDatabase = serversOfTests();

test("marks wait for no account, and only for the rows that another server has", async () => {
  const servers = await newDatabase();
  const [{ store }, other] = [await servers.open(), await servers.open()];
  const world = createDrivenWorld();
  const marks = new SyncMarks(serviceStoreOf(store), world);
  const owners = Array.from({ length: 24 }, (_, at) => asAccountId(`acct_${at}`));
  const synced = async () => {
    const rows = store.reader.selectFrom("documents").select("id").where("sync_count", ">", 0);
    return (await rows.execute()).length;
  };
  const add = owners.map(async (owner) => {
    const documentId = await store.write(
      async (context) => (await context.open(globalDocument(owner))).id,
      { owner },
    );
    marks.add({ owner, documentId, at: 1 });
  });
  await Promise.all(add);
  await other.database.write(async (db) => {
    await keepOthersOut(db, asAccountId("acct_0"));
    await keepOthersOut(db, asAccountId("acct_1"));
    // As a server that writes the second one's log.
    await db
      .updateTable("documents")
      .set({ updated_at: 2 })
      .where("owner", "=", asAccountId("acct_1"))
      .execute();
    world.advance(1000);
    await waitFor("the marks of the others", async () => (await synced()) === 23);
    // It is waited for when it is tried again.
    await waitFor("a further try", () => world.timers > 0);
    world.advance(1000);
  });
  await waitFor("the mark that was late", async () => (await synced()) === 24);
  await store.settle();
  expect(await synced()).toBe(24);
});
