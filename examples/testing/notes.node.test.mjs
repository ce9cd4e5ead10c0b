import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { useMemsync } from "memsync/testing";
import { NotesClient } from "./notes-client.cjs";

const memsync = useMemsync({ plan: "pro", reset: "each" });

async function contents(client) {
  const found = [];
  for await (const { content } of client.all()) found.push(content);
  return found;
}

test("a note is there once, though its first answer was lost", async () => {
  memsync.faults.add({ method: "POST", path: "/v1/memories", disconnect: "after" });
  const client = new NotesClient();
  await client.add("call the plumber");
  assert.deepEqual(await contents(client), ["call the plumber"]);
  memsync.faults.assertAllFired();
  await memsync.violations.assertNone();
});

test("who is told to wait comes back when the time is over, and not before", async () => {
  await memsync.limits.set({ token: memsync.token, exhaust: "minute" });
  // The minute goes by at once.
  const client = new NotesClient({ wait: (ms) => memsync.clock.advance(ms) });
  await client.add("patience");
  assert.deepEqual(await contents(client), ["patience"]);
  // It was told so by a 429, and did not come back too early.
  await memsync.violations.assertNone();
});

test("a long list is read page by page", async () => {
  const memories = Array.from({ length: 250 }, (_, at) => ({ key: `k${at}`, value: `note ${at}` }));
  await memsync.seed({ user: { memories } });
  assert.equal((await contents(new NotesClient())).length, 250);
  const { requests } = await memsync.requests.list({ path: "/v1/memories" });
  assert.equal(requests.length, 3);
});

test("who loses the live socket opens it again, and has missed nothing", async () => {
  memsync.faults.add({ method: "GET", path: "/api/live", disconnect: "after" });
  const other = new NotesClient();
  // While it is away somebody writes.
  const client = new NotesClient({ wait: () => other.add("meanwhile") });
  const told = new EventEmitter();
  const [one, two] = ["1", "2"].map((count) => once(told, count));
  const stop = client.watch((notes) => {
    told.emit(`${notes.length}`, notes.map(({ content }) => content).sort());
  });
  assert.deepEqual(await one, [["meanwhile"]]);
  await other.add("later");
  assert.deepEqual(await two, [["later", "meanwhile"]]);
  stop();
  memsync.faults.assertAllFired();
});

test("a service that says nothing is asked again", async () => {
  memsync.faults.add({ method: "GET", path: "/v1/memories", silent: true });
  await memsync.seed({ user: { memories: [{ value: "still here" }] } });
  const client = new NotesClient({ patienceMs: 500 });
  assert.deepEqual(await contents(client), ["still here"]);
  const [first] = await memsync.requests.waitFor({ path: "/v1/memories" });
  assert.equal(first.aborted, true);
});
