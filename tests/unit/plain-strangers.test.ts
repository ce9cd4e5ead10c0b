import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Send } from "../../daemon/service/http-service.ts";
import { listTextConflicts } from "../../shared/replica/conflicts/text-conflict-record.ts";
import {
  memoriesOf,
  said,
  set,
  settle,
  startPlain,
  statusOf,
  write,
} from "../support/plain-cluster.ts";
import { type Machine, PROJECT, type SyncCluster } from "../support/sync-cluster.ts";

let cluster: SyncCluster;
let first: Machine;
let second: Machine;

beforeEach(async () => {
  [cluster, first, second] = await startPlain();
});

afterEach(() => cluster.stop());

async function remove(machine: Machine, ...keys: readonly string[]) {
  await machine.edit(({ document }) => {
    for (const key of keys) document.deleteEntry("memories", key);
  });
}

async function textOf(machine: Machine) {
  return await machine.read(({ document }) => document.content());
}

type Body = Record<string, unknown>;

/** Changes what the service answers to `GET /api/projects/:id`. */
function showing(change: (body: Body) => Body) {
  return async (request: Request, pass: Send) => {
    const response = await pass(request);
    const isProject = new URL(request.url).pathname === `/api/projects/${PROJECT}`;
    if (request.method !== "GET" || !isProject || !response.ok) return response;
    return Response.json(change((await response.json()) as Body));
  };
}

/** The calls that the machines made, each as its method and path. */
function recorded(): string[] {
  const calls: string[] = [];
  cluster.intercept = (request, pass) => {
    calls.push(`${request.method} ${new URL(request.url).pathname.replace(PROJECT, ":id")}`);
    return pass(request);
  };
  return calls;
}

test("a change takes one call more than the two readings around it, and nothing new takes one", async () => {
  await settle(first);
  const calls = recorded();
  await set(first, "key", "value");
  await write(first, "# Text\n");
  await settle(first);
  const own = "GET /v1/memories";
  expect(calls.filter((call) => call !== own)).toEqual([
    "GET /api/projects/:id",
    "POST /api/projects/:id/sync",
    "GET /api/projects/:id",
  ]);
  calls.length = 0;
  await settle(first);
  expect(calls).toEqual(["GET /api/projects/:id", own]);
});

test("a service that shows no text gets it, and is never read for it", async () => {
  cluster.intercept = showing(({ claude_md_content: _, ...rest }) => rest);
  await write(first, "# Of the first\n");
  await settle(first);
  cluster.intercept = undefined;
  await settle(second);
  expect(await textOf(second)).toBe("# Of the first\n");
  await write(second, "");
  await settle(second);
  cluster.intercept = showing(({ claude_md_content: _, ...rest }) => rest);
  await settle(first);
  expect(await textOf(first)).toBe("# Of the first\n");
  expect((await statusOf(first)).outstanding).toBe(0);
});

test("a deletion that can't be sent for want of an id is said, and nothing comes back", async () => {
  cluster.intercept = showing((body) => ({
    ...body,
    memories: (body.memories as Body[]).map(({ id: _, ...memory }) => memory),
  }));
  await set(first, "kept", "1");
  await set(first, "gone", "2");
  await settle(first);
  await remove(first, "gone");
  await settle(first);
  await settle(first);
  expect(await memoriesOf(first)).toEqual({ kept: "1" });
  const { outstanding, notes } = await statusOf(first);
  expect(outstanding).toBe(1);
  expect(said(notes)).toMatch(/^gone is deleted here only: .*gives no id/);
  cluster.intercept = undefined;
  await settle(first, second);
  expect(await memoriesOf(second)).toEqual({ kept: "1" });
  expect(await statusOf(first)).toEqual({ outstanding: 0, notes: [] });
});

const BASE = "http://localhost";
const HEADERS = { authorization: "Bearer mst_dev_cluster" };

/** Deletes a memory as somebody else does. */
async function deleteElsewhere(pass: Send, ...keys: readonly string[]) {
  const read = await pass(new Request(`${BASE}/api/projects/${PROJECT}`, { headers: HEADERS }));
  const { memories } = (await read.json()) as { memories: { id: string; key: string }[] };
  for (const { id } of memories.filter(({ key }) => keys.includes(key))) {
    const request = new Request(`${BASE}/v1/memories/${id}`, {
      method: "DELETE",
      headers: HEADERS,
    });
    expect((await pass(request)).status).toBe(200);
  }
}

test("what vanishes with a deletion is put back", async () => {
  for (const key of ["a", "b", "c"]) await set(first, key, key);
  await settle(first, second);
  cluster.intercept = async (request, pass) => {
    if (request.method === "DELETE") await deleteElsewhere(pass, "b");
    return await pass(request);
  };
  await remove(first, "a");
  await settle(first, second);
  expect(await memoriesOf(first)).toEqual({ b: "b", c: "c" });
  expect(await memoriesOf(second)).toEqual({ b: "b", c: "c" });
});

/** Makes the service answer differently; gives up the usual way. */
async function elsewhere(work: (pass: Send) => Promise<void>) {
  let done = false;
  cluster.intercept = async (request, pass) => {
    if (!done) await work(pass);
    done = true;
    return await pass(request);
  };
  await first.sync("none");
  cluster.intercept = undefined;
}

test("few absent memories were deleted, many were lost by the service", async () => {
  const keys = ["a", "b", "c", "d", "e", "f", "g"];
  for (const key of keys) await set(first, key, key);
  await settle(first);
  await elsewhere((pass) => deleteElsewhere(pass, "a", "b", "c"));
  await settle(first);
  expect(Object.keys(await memoriesOf(first)).sort()).toEqual(["d", "e", "f", "g"]);
  expect((await statusOf(first)).notes).toEqual([]);
  await elsewhere((pass) => deleteElsewhere(pass, "d", "e", "f", "g"));
  await settle(first, second);
  expect(Object.keys(await memoriesOf(second)).sort()).toEqual(["d", "e", "f", "g"]);
  const { outstanding, notes } = await statusOf(first);
  expect(outstanding).toBe(0);
  expect(said(notes)).toContain("the service had lost data");
});

for (const held of ["a memory", "a text", "both"]) {
  test(`a service that lost a project with ${held} gets it again`, async () => {
    if (held !== "a text") await set(first, "only", "one");
    if (held !== "a memory") await write(first, "# Text\n");
    await settle(first);
    await cluster.emptyService();
    // It is made anew, and this process ends before it hears of that.
    await first.sync("lose answer", 1);
    await first.restart();
    await settle(first, second);
    expect(await memoriesOf(second)).toEqual(held === "a text" ? {} : { only: "one" });
    expect(await textOf(second)).toBe(held === "a memory" ? "" : "# Text\n");
    expect(said((await statusOf(first)).notes)).toContain("the service had lost data");
  });
}

test("a project that is empty all at once was lost, not deleted", async () => {
  await set(first, "only", "one");
  await write(first, "# Text\n");
  await settle(first);
  cluster.intercept = showing((body) => ({ ...body, claude_md_content: "", memories: [] }));
  await first.sync("none");
  expect([await memoriesOf(first), await textOf(first)]).toEqual([{ only: "one" }, "# Text\n"]);
  cluster.intercept = undefined;
  await settle(first, second);
  expect(await memoriesOf(second)).toEqual({ only: "one" });
  expect(await textOf(second)).toBe("# Text\n");
});

for (const held of ["a memory", "a text"]) {
  test(`a project with ${held} that shows nothing at all is doubted at first`, async () => {
    if (held === "a memory") await set(first, "only", "one");
    else await write(first, "# Text\n");
    await settle(first);
    cluster.intercept = showing((body) => ({ ...body, claude_md_content: "", memories: [] }));
    expect(await first.sync("none")).toBe(false);
    expect((await statusOf(first)).outstanding).toBe(1);
    expect(await memoriesOf(first)).toEqual(held === "a memory" ? { only: "one" } : {});
    expect(await textOf(first)).toBe(held === "a memory" ? "" : "# Text\n");
    cluster.intercept = undefined;
    await settle(first);
    expect(await statusOf(first)).toEqual({ outstanding: 0, notes: [] });
  });
}

test("metadata is merged key by key, removals included", async () => {
  const metadataOf = (machine: Machine) =>
    machine.read(({ document: { metadata } }) => {
      const keys = ["language", "framework", "tool"];
      return keys.map((key) => metadata.get(key)[0]?.value);
    });
  const put = (machine: Machine, key: string, value: string) =>
    machine.edit(({ document }) => document.setEntry("metadata", key, { value, now: 1 }));
  await put(first, "language", "TypeScript");
  await put(first, "framework", "none");
  await settle(first, second);
  await put(second, "tool", "bun");
  await put(first, "language", "Zig");
  await first.edit(({ document }) => document.deleteEntry("metadata", "framework"));
  await settle(first, second, first);
  for (const machine of [first, second]) {
    expect(await metadataOf(machine)).toEqual(["Zig", undefined, "bun"]);
  }
  const shown = await cluster.ask(
    new Request(`${BASE}/api/projects/${PROJECT}`, { headers: HEADERS }),
  );
  expect(((await shown.json()) as Body).metadata).toEqual({ language: "Zig", tool: "bun" });
});

/** Refuses a memory whose value has "bad" in it; names it, or does not. */
function refusing(named: boolean) {
  return async (request: Request, pass: Send) => {
    if (request.method !== "POST" || !request.url.endsWith("/sync")) return await pass(request);
    const body = (await request.clone().json()) as { memories?: { value: string }[] };
    const at = (body.memories ?? []).findIndex(({ value }) => value.includes("bad"));
    if (at < 0) return await pass(request);
    const details = named ? [{ path: `/memories/${at}/value`, message: "is bad" }] : undefined;
    const error = { code: "invalid_request", message: "something is bad", details };
    return Response.json({ error }, { status: 400 });
  };
}

for (const named of [true, false]) {
  const how = named ? "by its place" : "without saying which";
  test(`an item refused ${how} keeps nothing else back`, async () => {
    cluster.intercept = refusing(named);
    await write(first, "# Text\n");
    for (const key of ["a", "b", "c", "d", "e"]) await set(first, key, key);
    await set(first, "f", "bad");
    await settle(first, second);
    expect(Object.keys(await memoriesOf(second)).sort()).toEqual(["a", "b", "c", "d", "e"]);
    expect(await textOf(second)).toBe("# Text\n");
    const { outstanding, notes } = await statusOf(first);
    expect([outstanding, notes.length]).toEqual([1, 1]);
    expect(said(notes)).toMatch(/^f is refused by the service: .*is bad$/);
    const calls = recorded();
    await settle(first);
    expect(calls.filter((call) => call.startsWith("POST"))).toEqual([]);
    await set(first, "f", "good");
    await settle(first, second);
    expect(await memoriesOf(second)).toMatchObject({ f: "good" });
    expect(await statusOf(first)).toEqual({ outstanding: 0, notes: [] });
  });
}

test("what is written while it is sent is no conflict with what was sent", async () => {
  const write = async (at: number) => {
    await set(first, "key", `value ${at}`);
    await set(first, "own", `value ${at}`, "user");
    if (at === 2) await remove(first, "gone");
  };
  await settle(first);
  await set(first, "gone", "soon");
  await write(1);
  let sent = false;
  cluster.intercept = async (request, pass) => {
    const response = await pass(request);
    if (request.method !== "POST" || sent) return response;
    sent = true;
    await write(2);
    return response;
  };
  await first.sync("none");
  await settle(first, second);
  expect(sent).toBe(true);
  expect(await memoriesOf(first)).toEqual({ key: "value 2" });
  expect(await memoriesOf(second)).toEqual({ key: "value 2" });
  expect(await memoriesOf(first, "user")).toEqual({ own: "value 2" });
  expect(Object.values(await memoriesOf(second, "user"))).toEqual(["value 2"]);
  const entries = await first.read(({ document }) => document.memories.get("key").length);
  expect(entries).toBe(1);
});

test("a creation that was changed before its answer was lost is no conflict", async () => {
  await settle(first, second);
  await set(first, "style", "tabs", "user");
  cluster.intercept = async (request, pass) => {
    const response = await pass(request);
    if (request.method !== "POST" || !request.url.endsWith("/v1/memories")) return response;
    await set(first, "style", "spaces", "user");
    throw new Error("the network lost the answer");
  };
  expect(await first.sync("none")).toBe(false);
  cluster.intercept = undefined;
  await first.restart();
  await settle(first, second);
  expect(await memoriesOf(first, "user")).toEqual({ style: "spaces" });
  expect(Object.values(await memoriesOf(second, "user"))).toEqual(["spaces"]);
});

test("a creation whose answer was lost is found again, and done once", async () => {
  await settle(first, second);
  await set(first, "style", "tabs", "user");
  cluster.intercept = async (request, pass) => {
    const response = await pass(request);
    if (request.method !== "POST" || !request.url.endsWith("/v1/memories")) return response;
    throw new Error("the network lost the answer");
  };
  expect(await first.sync("none")).toBe(false);
  cluster.intercept = undefined;
  await first.restart();
  await settle(first, second);
  expect(await memoriesOf(first, "user")).toEqual({ style: "tabs" });
  expect(Object.values(await memoriesOf(second, "user"))).toEqual(["tabs"]);
});

test("a list without the layers of their own deletes nothing and makes no doubles", async () => {
  cluster.intercept = async (request, pass) => {
    const response = await pass(request);
    if (request.method !== "GET" || !request.url.endsWith("/v1/memories")) return response;
    return Response.json({ memories: [], total: 0 });
  };
  await set(first, "style", "tabs", "user");
  await settle(first);
  await settle(first);
  expect(await memoriesOf(first, "user")).toEqual({ style: "tabs" });
  cluster.intercept = undefined;
  await settle(second);
  expect(Object.values(await memoriesOf(second, "user"))).toEqual(["tabs"]);
});

test("an incomplete list deletes nothing", async () => {
  await set(first, "style", "tabs", "user");
  await settle(first);
  cluster.intercept = async (request, pass) => {
    const response = await pass(request);
    if (request.method !== "GET" || !request.url.endsWith("/v1/memories")) return response;
    return Response.json({ memories: [], total: 1 });
  };
  await settle(first);
  expect(await memoriesOf(first, "user")).toEqual({ style: "tabs" });
});

test("a service that gains the exchange is noticed, and one that loses it", async () => {
  await set(first, "kept", "1");
  await set(first, "style", "tabs", "user");
  await write(first, "# Title\n\nline\n");
  await settle(first, second);
  await cluster.restartService(false);
  await write(first, "# Title\n\nline\n\nmore\n");
  await settle(first, second, first);
  await settle(first, second, first);
  const calls = recorded();
  await settle(first);
  expect(calls).toEqual(["POST /api/projects/:id/sync"]);
  for (const machine of [first, second]) {
    expect(await textOf(machine)).toBe("# Title\n\nline\n\nmore\n");
    expect(await memoriesOf(machine)).toEqual({ kept: "1" });
  }
  cluster.intercept = undefined;
  await cluster.restartService(true);
  await settle(second, first);
  await set(second, "kept", "2");
  await settle(second, first);
  expect(await memoriesOf(first)).toEqual({ kept: "2" });
  expect(await textOf(first)).toBe("# Title\n\nline\n\nmore\n");
});

test("a whole text that crossed ours is merged with it", async () => {
  await write(first, "# Title\n\nend\n");
  await settle(first, second);
  await write(first, "# Title\n\nof the first\n\nend\n");
  await write(second, "# Title\n\nend\n\nof the second\n");
  // The first machine's whole round comes between the second's reading and its text.
  let crossed = false;
  cluster.intercept = async (request, pass) => {
    const isText = request.method === "POST" && request.url.endsWith("/sync");
    if (isText && !crossed) {
      crossed = true;
      await settle(first);
    }
    return await pass(request);
  };
  await settle(second);
  expect(crossed).toBe(true);
  await settle(first, second);
  for (const machine of [first, second]) {
    expect(await textOf(machine)).toBe("# Title\n\nof the first\n\nend\n\nof the second\n");
  }
  // Whoever sent the other text may have read ours, and have deleted what it brought.
  const told = await first.read(({ document }) => listTextConflicts(document));
  expect(told.map(({ kind, versions }) => [kind, ...versions.map(({ text }) => text)])).toEqual([
    ["unseen", "", "of the first\n"],
  ]);
});

test("of two values written at once the service's wins, and ours is a conflict here", async () => {
  await set(first, "key", "old");
  await settle(first, second);
  await set(first, "key", "of the first");
  await set(second, "key", "of the second");
  await settle(first, second, first);
  expect(await memoriesOf(second)).toEqual({ key: "of the first" });
  const values = await second.read(({ document }) => {
    return document.memories.get("key").map(({ value }) => value);
  });
  expect(values).toEqual(["of the first", "of the second"]);
});

test("an answer that is no project's decides nothing and deletes nothing", async () => {
  await set(first, "kept", "1");
  await settle(first);
  for (const answer of [{}, { id: "proj_other", memories: [] }, [], "text", null]) {
    cluster.intercept = () => Promise.resolve(Response.json(answer));
    expect(await first.sync("none")).toBe(false);
  }
  cluster.intercept = undefined;
  await settle(first, second);
  expect(await memoriesOf(second)).toEqual({ kept: "1" });
});
