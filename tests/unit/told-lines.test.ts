import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToldLines } from "../../daemon/files/arrivals/told-lines.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { openTestReplica } from "../support/empty-home.ts";

const DAY_MS = 24 * 60 * 60_000;

test("which lines a save has brought back is told for a day, and not kept for ever", async () => {
  const world = createDrivenWorld("a");
  const folder = mkdtempSync(join(tmpdir(), "line-arrivals-"));
  const store = await openTestReplica(join(folder, "memsync.db"), world, {
    machine: "a",
    homeId: () => "home",
  });
  const told = new ToldLines(world);
  const code = "line-returned";
  const rows = () => store.reader.selectFrom("file_arrivals").select("id").execute();
  await store.write(({ db }) => told.note(db, "x.md", { code, lines: ["one"] }));
  world.advance(DAY_MS + 1);
  await store.write(({ db }) => told.note(db, "x.md", { code, lines: ["two"] }));
  const lines = await told.told(store.reader, "x.md", "one\ntwo\n");
  expect(lines).toMatchObject([{ code, line: "two" }]);
  expect(await rows()).toHaveLength(1);
  await store.close();
  rmSync(folder, { recursive: true });
});
