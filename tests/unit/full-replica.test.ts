import { expect, test } from "bun:test";
import * as Y from "yjs";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { applyRemote } from "../../daemon/sync/incoming.ts";
import { LIMITS } from "../../shared/limits.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { projectId } from "../support/project-id.ts";
import { createTestWorld } from "../support/test-world.ts";

const ADDRESS = projectDocument(LOCAL_ACCOUNT, projectId("full"));
const VALUE = "x".repeat(LIMITS.memoryValueBytes);
const COUNT = Math.ceil(LIMITS.documentBytes / LIMITS.memoryValueBytes) + 1;

test("a replica that is full of its own writes takes others' but writes no more itself", async () => {
  const store = await openReplica(":memory:", createTestWorld(), { machine: "here" });
  const there = new ReplicaDocument([], 7);
  there.setEntry("memories", "theirs", { value: "1", now: 1 });
  await store.write(async (context) => {
    const open = await context.open(ADDRESS);
    open.document.change("local", () => {
      for (let at = 0; at < COUNT; at++) {
        open.document.setEntry("memories", `key-${at}`, {
          value: VALUE,
          now: context.now,
        });
      }
    });
  });
  await store.write(async (context) => {
    const open = await context.open(ADDRESS);
    const update = Y.encodeStateAsUpdate(there.ydoc);
    expect(await applyRemote(context, open, { ackedSeq: 0, update })).toBeUndefined();
    expect(open.document.memories.get("theirs")[0]?.value).toBe("1");
  });
  const write = store.write(async (context) => {
    const open = await context.open(ADDRESS);
    open.refuseIfFull(() => {
      open.document.setEntry("memories", "ours", { value: "1", now: context.now });
    });
  });
  await expect(write).rejects.toThrow("delete something");
  await store.close();
});

test("what was written over is measured once, and not by each later write", async () => {
  const store = await openReplica(":memory:", createTestWorld(), { machine: "here" });
  const write = (value: string, count: number) =>
    store.write(async (context) => {
      const open = await context.open(ADDRESS);
      open.refuseIfFull(() => {
        open.document.change("local", () => {
          for (let at = 0; at < count; at++) {
            open.document.setEntry("memories", `key-${at}`, { value, now: context.now });
          }
        });
      });
    });
  for (const last of ["1", "2", "3"]) await write(VALUE.slice(1) + last, COUNT / 2);
  expect(store.inMemory.bytes).toBeGreaterThan(LIMITS.documentBytes);
  await write("short", 1);
  expect(store.inMemory.bytes).toBeLessThan(LIMITS.documentBytes);
  await store.close();
});
