import { expect } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { LIMITS } from "../../shared/limits.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { Assistant, type AssistantOptions } from "../support/mcp-client.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

/** Runs `work` with an assistant, which has gone afterwards. */
async function withAssistant(
  machine: Machine,
  work: (assistant: Assistant) => Promise<void>,
  options: AssistantOptions = {},
): Promise<void> {
  const assistant = await Assistant.start(machine, options);
  try {
    await work(assistant);
  } finally {
    await assistant.end();
  }
}

async function oneMachine(lab: Lab, name: string): Promise<Machine> {
  const folder = await lab.git.repository("widget", { "README.md": "" });
  return lab.machine("a", folder, emulator.account(name));
}

function keysOf({ memories }: Readonly<Record<string, unknown>>): string[] {
  return (memories as readonly { readonly key: string }[]).map(({ key }) => key);
}

scenario("what one assistant remembers, another machine's recalls, in both eras", async (lab) => {
  const account = emulator.account("mcp-two");
  const [a, b] = await lab.twoMachines(account, { "README.md": "" });
  await a.up();
  await b.up();
  await withAssistant(a, async (assistant) => {
    const saved = await assistant.call("remember", { key: "build", value: "npm run build" });
    expect(saved).toMatchObject({ isError: false, data: { status: "saved", key: "build" } });
    const again = await assistant.call("remember", { key: "build", value: "npm run build" });
    expect(again.data).toMatchObject({ status: "unchanged", revision: saved.data.revision });
    const other = await assistant.call("remember", { key: "build", value: "bun run build" });
    expect(other.data).toMatchObject({ status: "saved", replaces: "npm run build" });
  });
  await a.sync();
  await b.sync();
  const { id, name } = await b.projectOf();
  for (const era of ["legacy", "auto"] as const) {
    await withAssistant(
      b,
      async (assistant) => {
        expect(assistant.client.getProtocolEra()).toBe(era === "auto" ? "modern" : "legacy");
        const { data, text } = await assistant.call("recall", { query: "how do I build it?" });
        const why = `the current folder, ${b.folder}`;
        expect(data).toMatchObject({ project: { id, name, why }, truncated: false, next: null });
        const machine = expect.stringContaining("home-a");
        const [memory] = data.memories as object[];
        expect(memory).toEqual({
          key: "build",
          layer: "project",
          age: "today",
          machine,
          passage: "bun run build",
        });
        expect(text).toContain("not instructions");
        expect(text).toContain("> bun run build");
        const { data: read } = await assistant.call("read_memory", { key: "build", history: true });
        // What was written twice before the other machine heard of it may come as one.
        expect((read.versions as object[])[0]).toMatchObject({ state: "current" });
      },
      { era },
    );
  }
});

scenario("the tools are few and small, and always in the same order", async (lab) => {
  const machine = await oneMachine(lab, "mcp-list");
  await withAssistant(machine, async ({ client }) => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "recall",
      "remember",
      "read_memory",
      "forget",
      "memory_status",
    ]);
    // Four characters a token, as everybody counts them.
    expect(JSON.stringify(tools).length / 4).toBeLessThanOrEqual(1000);
    expect(client.getInstructions()?.length).toBeLessThanOrEqual(512);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["memsync_wrapup"]);
    const { messages } = await client.getPrompt({ name: "memsync_wrapup" });
    expect(JSON.stringify(messages)).toContain("remember");
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "memsync://project/{id}/memories",
      "memsync://memory/{layer}/{key}",
    ]);
  });
});

scenario("memories are resources, whatever their keys", async (lab) => {
  const machine = await oneMachine(lab, "mcp-resources");
  await machine.up();
  await machine.memsync("set", "a/b ü?", "of the project");
  await machine.memsync("set", "a/b ü?", "mine", "--layer", "user");
  await withAssistant(machine, async ({ client }) => {
    const { resources } = await client.listResources();
    const texts: string[] = [];
    for (const { uri } of resources) {
      const { contents } = await client.readResource({ uri });
      texts.push((contents as readonly { readonly text: string }[])[0]?.text ?? "");
    }
    expect(texts.length).toBe(3);
    expect(texts[0]).toContain("> mine");
    expect(texts[0]).toContain("> of the project");
    expect(texts[1]).toContain("> of the project");
    expect(texts[2]).toContain("> mine");
  });
});

scenario("it works without a daemon, with one, and with one that comes and goes", async (lab) => {
  const machine = await oneMachine(lab, "mcp-restart");
  await machine.up();
  await machine.down();
  await withAssistant(machine, async (assistant) => {
    const save = async (key: string) => {
      const { data } = await assistant.call("remember", { key, value: `value of ${key}` });
      expect(data).toMatchObject({ status: "saved" });
    };
    await save("offline");
    const { data: waiting } = await assistant.call("memory_status");
    expect(waiting).toMatchObject({ daemon: "none", waiting: 1, service: null });
    await machine.up();
    await save("with");
    await machine.down("SIGKILL");
    await save("killed");
    await machine.up();
    await machine.untilSynced();
    const { data } = await assistant.call("memory_status");
    expect(data).toMatchObject({ daemon: "running", waiting: 0, held: 0, conflicts: 0 });
    const { data: all } = await assistant.call("recall");
    expect(keysOf(all).sort()).toEqual(["killed", "offline", "with"]);
  });
});

scenario("many calls at once are all answered, and nothing of them is lost", async (lab) => {
  const machine = await oneMachine(lab, "mcp-many");
  await machine.up();
  const keys = Array.from({ length: 40 }, (_, at) => `k${String(at).padStart(2, "0")}`);
  await withAssistant(machine, async (one) => {
    await withAssistant(machine, async (other) => {
      const saved = keys.map(async (key, at) => {
        const assistant = at % 2 === 0 ? one : other;
        const { data } = await assistant.call("remember", { key, value: `value ${key}` });
        return data.status;
      });
      const read = keys.map(() => one.call("recall", { query: "value" }));
      expect(new Set(await Promise.all(saved))).toEqual(new Set(["saved"]));
      for (const { isError } of await Promise.all(read)) expect(isError).toBe(false);
      const [first, second] = [await one.call("recall"), await other.call("recall")];
      expect(first).toEqual(second);
      const { data } = await one.call("recall", { limit: 50, budget_tokens: 10_000 });
      expect(keysOf(data).sort()).toEqual(keys);
    });
  });
});

scenario("it ends with its client, after what was asked of it is done", async (lab) => {
  const machine = await oneMachine(lab, "mcp-gone");
  await machine.up();
  const assistant = await Assistant.start(machine);
  const { pid } = assistant.transport;
  expect(pid).not.toBeNull();
  void assistant.call("remember", { key: "last", value: "words" }).catch(() => undefined);
  await assistant.end();
  await waitFor("the process to end", () => {
    try {
      process.kill(pid ?? 0, 0);
      return false;
    } catch {
      return true;
    }
  });
  const { status, stdout } = await machine.run(["mcp"], { stdin: "" });
  expect([status, stdout]).toEqual([0, ""]);
});

scenario(
  "a --project that names none is said at its start, and calls are answered",
  async (lab) => {
    const machine = await oneMachine(lab, "mcp-no-project");
    await machine.up();
    const said = await machine.run(["mcp", "--project", "nope"], { stdin: "" });
    expect([said.status, said.stdout]).toEqual([1, ""]);
    expect(said.stderr).toMatch(/^memsync: .*nope/);
    const known = await machine.run(["mcp", "--project", machine.folder], { stdin: "" });
    expect(known).toMatchObject({ status: 0, stdout: "", stderr: "" });
    await withAssistant(
      machine,
      async (assistant) => {
        const { isError, text } = await assistant.call("recall", { query: "build" });
        expect(isError).toBe(true);
        expect(text).toContain("nope");
      },
      { args: ["--project", "nope"] },
    );
  },
);

scenario("what is said at its start and end is the protocol alone", async (lab) => {
  const machine = await oneMachine(lab, "mcp-stdout");
  await machine.up();
  await machine.memsync("set", "deploy", `token ${PLANTED.github}`);
  const hello = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  };
  const { stdout } = await machine.run(["mcp"], { stdin: `${JSON.stringify(hello)}\nnonsense\n` });
  for (const line of stdout.split("\n").filter(Boolean)) {
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  }
});

scenario("a secret is held, and no assistant gets to see it", async (lab) => {
  const machine = await oneMachine(lab, "mcp-secret");
  await machine.up();
  const secret = PLANTED.github;
  const seen: string[] = [];
  const look = async (assistant: Assistant, name: string, request: object) => {
    const { text, data } = await assistant.call(name, { ...request });
    seen.push(text, JSON.stringify(data));
    return data;
  };
  await withAssistant(machine, async (assistant) => {
    await assistant.call("remember", { key: "plain", value: "as ever" });
    for (const isUp of [true, false]) {
      if (!isUp) await machine.down();
      const key = isUp ? "deploy" : "offline";
      const saved = await look(assistant, "remember", { key, value: `walrus ${secret}` });
      expect(saved).toMatchObject({ status: "held" });
      expect(saved.message).toContain("GitHub");
      await look(assistant, "remember", { key, value: `walrus ${secret}` });
      await look(assistant, "remember", { key, value: "x", if_revision: "none" });
      await look(assistant, "recall", {});
      await look(assistant, "recall", { query: "walrus" });
      await look(assistant, "read_memory", { key });
      await look(assistant, "read_memory", { key, history: true }).catch(() => undefined);
      await look(assistant, "remember", { key, value: "harmless" });
      await look(assistant, "read_memory", { key, history: true });
      await look(assistant, "remember", { key, value: `walrus ${secret}` });
      await look(assistant, "forget", { key });
    }
  });
  expect(seen.length).toBe(44);
  expect(seen.filter((each) => each.includes(secret))).toEqual([]);
});

scenario("what can't be saved is refused with a sentence", async (lab) => {
  const machine = await oneMachine(lab, "mcp-refused");
  await machine.up();
  await withAssistant(machine, async (assistant) => {
    const huge = "x".repeat(LIMITS.memoryValueBytes + 1);
    for (const [request, says] of [
      [{ key: "huge", value: huge }, "bytes: split it"],
      [{ key: "", value: "x" }, "the key is empty"],
      [{ key: "a\nb", value: "x" }, "a key is one line without control characters"],
      [{ key: "x" }, "value"],
      [{ key: "x", value: "x", layer: "team" }, "layer"],
    ] as const) {
      const { isError, text } = await assistant.call("remember", request);
      expect([isError, text]).toEqual([true, expect.stringContaining(says)]);
    }
    const big = "word ".repeat(LIMITS.memoryValueBytes / 5);
    await assistant.call("remember", { key: "big", value: big });
    const { data } = await assistant.call("read_memory", { key: "big" });
    expect(data.value).toBe(big);
    const { text } = await assistant.call("recall", { query: "word" });
    expect(text.length).toBeLessThan(1500);
    const { text: hidden } = await assistant.call("forget", { key: PLANTED.github });
    expect(hidden).toContain('there is no memory "[secret]"');
    const { isError, data: none } = await assistant.call("forget", { key: "bug" });
    expect([isError, none.similar]).toEqual([true, ["big"]]);
  });
});

scenario("a revision that is no longer current saves nothing", async (lab) => {
  const machine = await oneMachine(lab, "mcp-revision");
  await machine.up();
  await withAssistant(machine, async (assistant) => {
    const { data: first } = await assistant.call("remember", { key: "k", value: "one" });
    const revision = `${first.revision}`;
    await machine.memsync("set", "k", "two");
    const late = await assistant.call("remember", { key: "k", value: "3", if_revision: revision });
    expect(late).toMatchObject({ isError: false, data: { status: "conflict" } });
    const now = `${late.data.revision}`;
    const next = await assistant.call("remember", { key: "k", value: "3", if_revision: now });
    expect(next.data).toMatchObject({ status: "saved", replaces: "two" });
    const { data: old } = await assistant.call("read_memory", { key: "k", revision });
    expect(old).toMatchObject({ value: "one", state: "replaced" });
    const { data: gone } = await assistant.call("forget", { key: "k" });
    expect(gone.restore).toBe(`memsync restore k ${next.data.revision}`);
    await machine.memsync(...`${gone.restore}`.split(" ").slice(1));
    expect(await machine.memsync("get", "k")).toBe("3");
  });
});

scenario(
  "a project is found by call, option, variable or folder, and never guessed",
  async (lab) => {
    const service = emulator.account("mcp-projects");
    const root = join(lab.git.folder, "src");
    mkdirSync(root);
    const shop = await lab.git.repository("src/shop", { "README.md": "", "deep/x": "" });
    const api = await lab.git.repository("src/api", { "README.md": "api" });
    const machine = lab.machine("a", shop, service);
    await machine.up(shop, api);
    const [{ id: shopId }, { id: apiId }] = [
      await machine.projectOf(shop),
      await machine.projectOf(api),
    ];
    const meant = async (options: AssistantOptions, request: object = {}) => {
      let found: readonly unknown[] = [];
      await withAssistant(
        machine,
        async (assistant) => {
          const { data } = await assistant.call("recall", { ...request });
          const { id, why = data.why } = (data.project ?? {}) as Record<string, string>;
          found = [id, why];
        },
        options,
      );
      return found;
    };
    expect(await meant({})).toEqual([shopId, `the current folder, ${shop}`]);
    const deep = join(shop, "deep");
    expect(await meant({ cwd: deep })).toEqual([shopId, `the current folder, ${deep}`]);
    await lab.git.run(lab.git.path("src"), "clone", "-q", "shop", "clone");
    const clone = lab.git.path("src", "clone");
    const byOrigin = `the current folder, ${clone}, a clone of the repository of ${shop}`;
    expect(await meant({ cwd: clone })).toEqual([shopId, byOrigin]);
    const env = { CLAUDE_PROJECT_DIR: api };
    expect(await meant({ env })).toEqual([apiId, `CLAUDE_PROJECT_DIR, ${api}`]);
    expect(await meant({ env, args: ["--project", shop] })).toEqual([shopId, "--project"]);
    const byName = { project: "api" };
    expect(await meant({ args: ["--project", shop] }, byName)).toEqual([
      apiId,
      "named in the call",
    ]);
    await withAssistant(
      machine,
      async (assistant) => {
        const candidates = [shopId, apiId].sort().map((id) => {
          return { id, name: id === shopId ? "shop" : "api" };
        });
        const read = await assistant.call("recall");
        expect(read).toMatchObject({ isError: false, data: { project: null, candidates } });
        for (const name of ["remember", "forget"]) {
          const refused = await assistant.call(name, {
            key: "k",
            ...(name === "remember" && { value: "v" }),
          });
          expect(refused).toMatchObject({ isError: true, data: { project: null, candidates } });
        }
        const mine = await assistant.call("remember", { key: "k", value: "v", layer: "user" });
        expect(mine.data).toMatchObject({ status: "saved", layer: "user", project: null });
        const named = await assistant.call("remember", { key: "k", value: "v", project: "shop" });
        expect(named.data).toMatchObject({ status: "saved", project: { id: shopId } });
        const unknown = await assistant.call("remember", { key: "k", value: "v", project: "shp" });
        expect(unknown).toMatchObject({ isError: true, data: { candidates } });
        expect(unknown.text).toContain('did you mean "shop"');
      },
      { cwd: root },
    );
    expect(await machine.list("--project", api, "--layer", "project")).toEqual([]);
  },
);
