import { join } from "node:path";
import { Assistant } from "../support/mcp-client.ts";
import { ROOT } from "../tidy/source-tree.ts";
import type { Reader } from "./reader.ts";
import type { Scene } from "./scene.ts";
import { cloneWidget } from "./widget.ts";

const LINES = 86;

/** A file of that many lines, of 40 characters each. */
function text(title: string): string {
  const rule = `- ${"what the widget needs".padEnd(38, ".")}\n`;
  return `# ${title.padEnd(38, ".")}\n${rule.repeat(LINES - 1)}`;
}

/** A server with an account acme of three users; the laptop's and the desktop's are one of them. */
async function serve({ shell }: Reader) {
  await shell.run("memsync server account create acme --plan team");
  const create = "memsync server token create --account acme --user";
  for (const user of ["bob", "eve"]) await shell.run(`${create} ${user}`);
  const { printed } = await shell.run(`${create} ann 2>/dev/null`);
  const server = await shell.start("memsync server --port 0", /ready at \S+/);
  return { url: /ready at (\S+)/.exec(server)?.[1] ?? "", token: printed.trim() };
}

async function stage(reader: Reader): Promise<void> {
  const { lab, laptop } = reader;
  const desktop = await cloneWidget(reader);
  await lab.git.write(join(laptop.folder, "CLAUDE.md"), text("Widget"));
  await lab.git.write(join(laptop.folder, "AGENTS.md"), "# Agents\n");
  const service = await serve(reader);
  await reader.use(service);
  desktop.service = service;
  reader.callsIt("https://memory.example.com", service.url);
  // What runs this test was installed by `npm ci`; a project's folder is none of the checkout's.
  reader.callsIt("npm ci && npm run", `npm --prefix ${ROOT} run`);
}

/** What was there before the picture was taken. */
async function fill({ laptop, shell }: Reader): Promise<void> {
  await laptop.sync();
  const { id } = await laptop.projectOf();
  const post = (path: string, body: unknown) => laptop.ask("POST", path, body);
  const memories = Array.from({ length: 11 }, (_, at) => ({ key: `rule-${at}`, value: "x" }));
  await post(`/v1/projects/${id}/sync`, { memories });
  for (const layer of ["user", "user", "user", "global", "global"]) {
    await post("/v1/memories", { content: "x", layer });
  }
  await laptop.sync();
  // Ends the `up` before the server, which the next one needs.
  await shell.endLatest();
}

/** README's picture: `up` at a terminal after a save here and a write on the other machine. */
export async function takePicture(reader: Reader): Promise<string> {
  const { lab, laptop } = reader;
  const up = reader.terminal("up");
  await up.untilOnScreen(/12 memories|11 memories saved, all synced[\s\S]*connected\n/);
  await lab.git.write(join(laptop.folder, "CLAUDE.md"), text("Widgets"));
  await up.untilOnScreen(/sent +widget +document/);
  const desktop = lab.machine("desktop", lab.git.path("desktop"), laptop.service);
  await desktop.up();
  await desktop.memsync("set", "build", "bun run build");
  await up.untilOnScreen(/received +widget +memory build[\s\S]*from desktop/);
  await up.untilOnScreen(/12 memories saved, all synced/);
  return up.screen.text.trimEnd();
}

/** What the laptop's assistant remembers, and what the desktop's next session is told. */
async function tellNextSession({ lab, laptop }: Reader): Promise<string> {
  const assistant = await Assistant.start(laptop);
  const value = "Tag first, then publish: CI reads the tag.";
  await assistant.call("remember", { key: "release", value });
  await assistant.end();
  await laptop.sync();
  const desktop = lab.machine("desktop", lab.git.path("desktop"), laptop.service);
  await desktop.sync();
  const stdin = JSON.stringify({ session_id: "1", cwd: desktop.folder, source: "startup" });
  const env = { MEMSYNC_HOOK_MS: "100000" };
  const { stdout } = await desktop.run(["hook", "session-start"], { stdin, env });
  return JSON.parse(stdout).hookSpecificOutput.additionalContext;
}

export const README: Scene = {
  document: "README.md",
  stage,
  acts: [
    { command: "npm ci && npm run -s memsync -- up", until: /memsync is up[\s\S]*\n/ },
    { command: "npm ci && npm test", notRun: "it is what runs this test" },
    { command: "npm run -s memsync -- demo", notRun: "tests/e2e/demo.test.ts runs it" },
    { command: "memsync up", before: fill, by: takePicture },
    { command: "memsync hook session-start", by: tellNextSession },
  ],
};
