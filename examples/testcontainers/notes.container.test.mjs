import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { NotesClient } from "../testing/notes-client.cjs";
import { startMemsync } from "./memsync-container.mjs";

let memsync;

before(async () => {
  memsync = await startMemsync({ options: ["--random", "1"] });
  Object.assign(process.env, memsync.env);
});
beforeEach(() => memsync.control("POST", "reset", {}));
after(() => memsync?.stop());

async function contents() {
  const found = [];
  for await (const { content } of new NotesClient().all()) found.push(content);
  return found;
}

test("a note is there once, though its first answer was lost", async () => {
  await memsync.control("POST", "faults", {
    method: "POST",
    path: "/v1/memories",
    disconnect: "after",
  });
  await new NotesClient().add("call the plumber");
  assert.deepEqual(await contents(), ["call the plumber"]);
  assert.deepEqual(await memsync.control("GET", "violations"), { violations: [] });
});

test("the next test finds nothing", async () => {
  assert.deepEqual(await contents(), []);
});
