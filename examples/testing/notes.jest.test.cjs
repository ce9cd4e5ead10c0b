const { EventEmitter, once } = require("node:events");
const { useMemsync } = require("memsync/testing");
const { NotesClient } = require("./notes-client.cjs");

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
  expect(await contents(client)).toEqual(["call the plumber"]);
  memsync.faults.assertAllFired();
  await memsync.violations.assertNone();
});

test("who is told to wait comes back when the time is over, and not before", async () => {
  await memsync.limits.set({ token: memsync.token, exhaust: "minute" });
  // The minute goes by at once.
  const client = new NotesClient({ wait: (ms) => memsync.clock.advance(ms) });
  await client.add("patience");
  expect(await contents(client)).toEqual(["patience"]);
  // It was told so by a 429, and did not come back too early.
  await memsync.violations.assertNone();
});

test("a long list is read page by page", async () => {
  const memories = Array.from({ length: 250 }, (_, at) => ({ key: `k${at}`, value: `note ${at}` }));
  await memsync.seed({ user: { memories } });
  expect((await contents(new NotesClient())).length).toBe(250);
  const { requests } = await memsync.requests.list({ path: "/v1/memories" });
  expect(requests.length).toBe(3);
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
  expect(await one).toEqual([["meanwhile"]]);
  await other.add("later");
  expect(await two).toEqual([["later", "meanwhile"]]);
  stop();
  memsync.faults.assertAllFired();
});

test("a service that says nothing is asked again", async () => {
  memsync.faults.add({ method: "GET", path: "/v1/memories", silent: true });
  await memsync.seed({ user: { memories: [{ value: "still here" }] } });
  const client = new NotesClient({ patienceMs: 500 });
  expect(await contents(client)).toEqual(["still here"]);
  const [first] = await memsync.requests.waitFor({ path: "/v1/memories" });
  expect(first.aborted).toBe(true);
});
