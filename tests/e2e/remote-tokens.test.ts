import { expect } from "bun:test";
import { join } from "node:path";
import { memoryIdOf } from "../../shared/ids.ts";
import { type Lab, scenario } from "../support/lab.ts";
import { connectLive } from "../support/live-client.ts";
import { shakeHands } from "../support/live-handshake.ts";
import type { Machine } from "../support/machine.ts";
import { bothBound, set } from "../support/two-services.ts";

/** In all that the first remote has, and in nothing else. */
const OF_A = /value of of-a|session of a/;

/** How a daemon's gateway is reached: its address, and the token of each remote and of all. */
interface Issued {
  readonly url: string;
  readonly all: string;
  readonly byRemote: Readonly<Record<string, string>>;
}

async function issuedBy(machine: Machine, remotes: readonly string[]): Promise<Issued> {
  const env = async (...args: readonly string[]) => {
    const printed = JSON.parse(await machine.memsync("env", "--json", ...args));
    return printed as { MEMSYNC_GATEWAY_URL: string; MEMSYNC_GATEWAY_TOKEN: string };
  };
  const { MEMSYNC_GATEWAY_URL: url, MEMSYNC_GATEWAY_TOKEN: all } = await env();
  const byRemote: Record<string, string> = {};
  for (const name of remotes) {
    byRemote[name] = (await env("--remote", name)).MEMSYNC_GATEWAY_TOKEN;
  }
  return { url, all, byRemote };
}

/** Three remotes, each with a marked project (or none, as the embedded one) and user memory. */
async function threeRemotes(lab: Lab) {
  const { a, pa, pb, machine } = await bothBound(lab);
  const nameA = new URL(a.url).host.replace(":", "-");
  for (const layer of ["project", "user", "global"]) {
    await set(machine, pa, `of-a-${layer}`, "--layer", layer);
    await set(machine, pb, `of-b-${layer}`, "--layer", layer);
  }
  await set(machine, "/", "of-embedded", "--layer", "user", "--remote", "embedded");
  const [{ id: idA }, { id: idB }] = [await machine.projectOf(pa), await machine.projectOf(pb)];
  const issued = await issuedBy(machine, [nameA, "client-b", "embedded"]);
  return { machine, pa, pb, idA, idB, nameA, issued };
}

type Init = RequestInit & { readonly unix?: string };

async function ask(url: string, token: string, init: Init = {}): Promise<Response> {
  const authorization = token === "" ? undefined : { authorization: `Bearer ${token}` };
  return await fetch(url, { ...init, headers: { ...authorization, ...init.headers } });
}

/** Every operation of the gateway that needs a token, as its own description tells. */
async function operationsOf(url: string): Promise<(readonly [string, string])[]> {
  const description = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { security?: readonly unknown[] }>>;
  };
  return Object.entries(description.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { security }]) => security?.length !== 0)
      .map(([method]) => [method.toUpperCase(), path] as const),
  );
}

/** All that can be put together from tokens and names by cutting, joining and changing. */
function forgedFrom({ all, byRemote }: Issued): Set<string> {
  const names = Object.keys(byRemote);
  const tokens = [all, ...Object.values(byRemote)];
  const forged = new Set(names.flatMap((name) => [name, `@${name}`]));
  for (const token of tokens) {
    for (const name of [...names, "nobody", ""]) {
      for (const mark of ["@", "/", ".", ":", "#", ""]) {
        forged.add(`${token}${mark}${name}`).add(`${name}${mark}${token}`);
      }
    }
    for (let at = 0; at <= token.length; at++) {
      const [head, tail] = [token.slice(0, at), token.slice(at)];
      forged
        .add(head)
        .add(tail)
        .add(`${tail}${head}`)
        .add(`${head}A${tail.slice(1)}`);
      for (const name of names) forged.add(`${head}@${name}`).add(`${tail}@${name}`);
      for (const other of tokens) {
        if (other !== token) forged.add(`${head}${other.slice(at)}`);
      }
    }
    forged.add(token.toLowerCase()).add(token.toUpperCase()).add(`${token},`).add(`"${token}"`);
    for (const other of tokens) forged.add(`${token}${other}`).add(`${token}@${other}`);
  }
  for (const token of [...tokens, ""]) forged.delete(token);
  return forged;
}

scenario("no token can be made from those that `env` has issued", async (lab) => {
  const { machine, issued } = await threeRemotes(lab);
  const { url, all, byRemote } = issued;
  for (const token of [all, ...Object.values(byRemote)]) {
    expect((await ask(`${url}/v1/memories`, token)).status).toBe(200);
  }
  const forged = [...forgedFrom(issued)];
  expect(forged.length).toBeGreaterThan(1000);
  const letIn: string[] = [];
  for (let at = 0; at < forged.length; at += 50) {
    const some = forged.slice(at, at + 50);
    const statuses = some.map(async (token) => (await ask(`${url}/v1/memories`, token)).status);
    for (const [index, status] of (await Promise.all(statuses)).entries()) {
      if (status !== 401) letIn.push(`${some[index]}: ${status}`);
    }
  }
  expect(letIn).toEqual([]);
  // What once was a token for one remote, and what only the socket takes, on every route.
  const refused = Object.keys(byRemote).flatMap((name) => [
    `Bearer ${all}@${name}`,
    `Bearer ${byRemote[name]}@embedded`,
    `Remote ${name}`,
    `Basic ${byRemote[name]}`,
  ]);
  const operations = await operationsOf(url);
  expect(operations.length).toBeGreaterThan(15);
  for (const [method, path] of operations) {
    for (const authorization of refused) {
      const { status } = await fetch(`${url}${path.replace(/\{\w+\}/g, "proj_x")}`, {
        method,
        headers: { authorization },
        ...(method === "POST" && { body: "{}" }),
      });
      expect([method, path, authorization, status]).toEqual([method, path, authorization, 401]);
    }
  }
  for (const name of Object.keys(byRemote)) {
    expect((await shakeHands(url, `${all}@${name}`)).status).toBe(401);
    expect((await shakeHands(url, byRemote[name] ?? "")).status).toBe(101);
  }
  expect(machine.logs()).not.toContain(all);
});

scenario(
  "a token for one remote tells and changes nothing of another, on any route",
  async (lab) => {
    const { machine, pb, idA, idB, nameA, issued } = await threeRemotes(lab);
    const { url, byRemote } = issued;
    const [tokenA = "", tokenB = ""] = [byRemote[nameA], byRemote["client-b"]];
    const stateOfA = async () => {
      const memories = await (await ask(`${url}/v1/memories?project_id=${idA}`, tokenA)).text();
      return memories + (await (await ask(`${url}/api/projects/${idA}`, tokenA)).text());
    };
    const crdt = { encoding: "yjs-v1", documents: { project: {}, user: {}, global: {} } };
    const projects = { [idA]: { name: "x", documents: {} }, [idB]: { documents: crdt.documents } };
    const both = { project_id: idA, target_project_id: idB };
    const session = { id: "sess_of_b", source: "t", message_count: 1 };
    const times = { started_at: "2026-01-01T10:00:00Z", last_activity_at: "2026-01-01T12:00:00Z" };
    // Each operation, with the other remote's ids wherever it takes one, and without any.
    const table: readonly [route: string, path: string, body?: unknown, status?: number][] = [
      ["GET /v1/memories", "/v1/memories"],
      ["GET /v1/memories", "/v1/memories?q=value"],
      ["GET /v1/memories", `/v1/memories?project_id=${idA}`, undefined, 404],
      ["POST /v1/memories", "/v1/memories", { content: "x", layer: "user", key: "same" }],
      ["POST /v1/memories", "/v1/memories", { content: "x", project_id: idA, key: "new" }, 404],
      [
        "DELETE /v1/memories/{id}",
        `/v1/memories/${memoryIdOf(idA, "of-a-project")}`,
        undefined,
        404,
      ],
      [
        "DELETE /v1/memories/{id}",
        `/v1/memories/${memoryIdOf("user", "of-a-user")}`,
        undefined,
        404,
      ],
      [
        "DELETE /v1/memories/{id}",
        `/v1/memories/${memoryIdOf("global", "of-a-global")}`,
        undefined,
        404,
      ],
      ["GET /v1/projects", "/v1/projects"],
      ["GET /v1/projects/{id}", `/v1/projects/${idA}`, undefined, 404],
      ["POST /v1/projects/{id}/sync", `/v1/projects/${idA}/sync`, {}, 404],
      ["POST /v1/projects/{id}/sync", `/v1/projects/${idA}/sync`, { crdt }, 404],
      ["POST /v1/projects/{id}/sync", `/v1/projects/${idB}/sync`, { crdt }],
      ["GET /v1/sessions", "/v1/sessions"],
      ["GET /v1/sessions", `/v1/sessions?project_id=${idA}`, undefined, 404],
      ["GET /v1/sessions/{id}", "/v1/sessions/sess_of_a", undefined, 404],
      ["GET /api/projects", "/api/projects"],
      ["POST /api/projects", "/api/projects", { id: idA, name: "taken" }, 404],
      ["GET /api/projects/{id}", `/api/projects/${idA}`, undefined, 404],
      ["DELETE /api/projects/{id}", `/api/projects/${idA}`, undefined, 404],
      ["POST /api/projects/{id}/sync", `/api/projects/${idA}/sync`, { metadata: { x: 1 } }, 404],
      ["POST /api/projects/{id}/sync", `/api/projects/${idA}/sync`, { crdt }, 404],
      ["POST /api/projects/connect", "/api/projects/connect", both, 404],
      [
        "DELETE /api/projects/connect",
        `/api/projects/connect?${new URLSearchParams(both)}`,
        undefined,
        404,
      ],
      ["GET /api/projects/stats", "/api/projects/stats"],
      ["GET /api/account", "/api/account"],
      ["POST /api/sync", "/api/sync", { crdt: { ...crdt, documents: { user: {}, global: {} } } }],
      ["POST /api/sync", "/api/sync", { crdt: { ...crdt, documents: {}, projects } }],
    ];
    // The two remotes know a session each; its id is the account's.
    const sync = (token: string, id: string, sessions: unknown) =>
      ask(`${url}/api/projects/${id}/sync`, token, {
        method: "POST",
        body: JSON.stringify({ sessions }),
      });
    const own = [{ ...session, ...times, id: "sess_of_a", title: "session of a" }];
    expect((await sync(tokenA, idA, own)).status).toBe(200);
    expect((await sync(tokenB, idB, [{ ...session, ...times }])).status).toBe(200);
    const before = await stateOfA();
    expect(before).toContain("value of of-a-project");
    for (const [route, path, body, wanted = 200] of table) {
      const method = route.split(" ")[0] ?? "";
      for (const extra of [{}, { "x-project-id": idA }]) {
        const answer = await ask(`${url}${path}`, tokenB, {
          method,
          headers: extra,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await answer.text();
        // What names the project in a header alone is about it, too.
        const mayBe = extra["x-project-id"] === undefined ? [wanted] : [wanted, 404];
        expect([route, path, mayBe.includes(answer.status)]).toEqual([route, path, true]);
        expect([route, OF_A.test(text)]).toEqual([route, false]);
      }
    }
    const together = await ask(`${url}/api/sync`, tokenB, {
      method: "POST",
      body: JSON.stringify({ crdt: { ...crdt, documents: {}, projects } }),
    });
    const answered = (await together.json()) as { crdt: { projects: Record<string, unknown> } };
    expect(answered.crdt.projects).toMatchObject({
      [idA]: { error: { code: "not_found" } },
      [idB]: { documents: { project: {} } },
    });
    const undone = (await operationsOf(url)).filter(
      ([method, path]) => !table.some(([route]) => route === `${method} ${path}`),
    );
    expect(undone).toEqual([["GET", "/api/live"]]);
    expect(await stateOfA()).toBe(before);
    await liveTellsOfOneRemote(machine, { url, tokenB, idA, idB, pb });
  },
);

/** A socket hears of its own remote's changes alone, whatever it subscribes to. */
async function liveTellsOfOneRemote(
  machine: Machine,
  of: { url: string; tokenB: string; idA: string; idB: string; pb: string },
): Promise<void> {
  const { url, tokenB, idA, idB, pb } = of;
  await machine.untilSynced();
  using live = await connectLive(url, tokenB);
  live.send(JSON.stringify({ type: "subscribe", project_ids: [idA, idB] }));
  const { positions } = (await live.next()) as { positions: Record<string, unknown> };
  expect(Object.keys(positions).sort()).toEqual([idB, "global", "user"].sort());
  await set(machine, machine.folder, "later-a", "--layer", "user");
  await set(machine, machine.folder, "later-a");
  await set(machine, pb, "later-b");
  const frame = (await live.next()) as { project_id: string; update: string };
  expect([frame.project_id, frame.update.length > 0]).toEqual([idB, true]);
}

scenario(
  "the token for all remotes finds any project by its id, and lists those of the default remote",
  async (lab) => {
    const { idA, idB, nameA, issued } = await threeRemotes(lab);
    const { url, all, byRemote } = issued;
    const read = async (token: string, path: string) => await (await ask(url + path, token)).json();
    const listed = async (token: string, base: string) => {
      const { projects } = (await read(token, `${base}/projects`)) as {
        projects: { id: string }[];
      };
      return projects.map(({ id }) => id);
    };
    for (const base of ["/v1", "/api"]) {
      for (const id of [idA, idB]) {
        expect(await read(all, `${base}/projects/${id}`)).toMatchObject({ id });
      }
      expect(await listed(all, base)).toEqual([idA]);
      expect(await listed(byRemote[nameA] ?? "", base)).toEqual([idA]);
      expect(await listed(byRemote["client-b"] ?? "", base)).toEqual([idB]);
    }
    expect(await read(all, "/api/projects/stats")).toMatchObject({ projects: 1 });
    const memories = async (query: string) => {
      const found = (await read(all, `/v1/memories${query}`)) as { memories: { key: string }[] };
      return found.memories.map(({ key }) => key).sort();
    };
    expect(await memories("?layer=user")).toEqual(["of-a-user"]);
    expect(await memories(`?layer=project&project_id=${idB}`)).toEqual(["of-b-project"]);
  },
);

scenario("a remote's token ends with its remote, and with the daemon", async (lab) => {
  const { machine, pb, nameA, issued } = await threeRemotes(lab);
  const { url, all, byRemote } = issued;
  const tokenB = byRemote["client-b"] ?? "";
  const status = async (token: string) => (await ask(`${url}/v1/memories`, token)).status;
  // Beside a token from `env` the socket needs none, narrows by name, and is not fooled.
  const unix = join(machine.home, "daemon.sock");
  const onSocket = async (authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization };
    const path = "http://localhost/v1/memories?layer=user";
    const response = await fetch(path, { unix, headers });
    if (response.status !== 200) return response.status;
    const { memories } = (await response.json()) as { memories: { key: string }[] };
    return memories.map(({ key }) => key);
  };
  expect(await onSocket()).toEqual(["of-a-user"]);
  expect(await onSocket(`Bearer ${all}`)).toEqual(["of-a-user"]);
  expect(await onSocket("Remote client-b")).toEqual(["of-b-user"]);
  expect(await onSocket(`Bearer ${tokenB}`)).toEqual(["of-b-user"]);
  for (const other of [`Bearer ${all}@client-b`, "Remote nobody", "Bearer x", "Bearer @client-b"]) {
    expect([other, await onSocket(other)]).toEqual([other, 401]);
  }
  await machine.untilSynced();
  await machine.memsync("link", pb, "--remote", nameA);
  expect(await status(tokenB)).toBe(200);
  await machine.untilSynced();
  await machine.memsync("remote", "rm", "client-b");
  expect(await status(tokenB)).toBe(401);
  const gone = await machine.run(["env", "--remote", "client-b"]);
  expect([gone.status, gone.stdout]).toEqual([1, ""]);
  expect(gone.stderr).toContain("there is no remote client-b");
  await machine.memsync("remote", "add", "client-b", "http://127.0.0.1:9");
  expect(await status(tokenB)).toBe(401);
  const later = await issuedBy(machine, ["client-b", nameA]);
  expect([later.all, later.byRemote[nameA]]).toEqual([all, byRemote[nameA]]);
  expect(await status(later.byRemote["client-b"] ?? "")).toBe(200);
  await machine.down();
  await machine.up();
  const anew = await issuedBy(machine, [nameA]);
  for (const token of [all, ...Object.values(byRemote)]) {
    expect((await ask(`${anew.url}/v1/memories`, token)).status).toBe(401);
  }
  expect((await ask(`${anew.url}/v1/memories`, anew.byRemote[nameA] ?? "")).status).toBe(200);
});
