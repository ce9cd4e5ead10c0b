import { writeFileSync } from "node:fs";
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Lab } from "../../support/lab.ts";
import type { Machine } from "../../support/machine.ts";
import { type RunningServer, ServerFolder } from "../../support/server-process.ts";
import { waitFor } from "../../support/wait-for.ts";
import { WriteLoad } from "../../support/write-load.ts";

const FILE = "CLAUDE.md";

/** What can be killed. */
export type Part = "a" | "b" | "server";

/** A machine under load: memories by command and gateway, and saves of its followed file. */
export class LoadedMachine {
  readonly load: WriteLoad;
  /** Every line that was saved into the file. */
  readonly lines = new Set<string>();

  constructor(
    readonly machine: Machine,
    project: string,
  ) {
    this.load = new WriteLoad(machine, project);
  }

  /** Adds a line as an editor does: reads the file, and saves all of it at once. */
  async save(): Promise<void> {
    const path = join(this.machine.folder, FILE);
    const line = `line ${this.lines.size} of ${this.machine.name}`;
    const text = await readFile(path, "utf8").catch(() => "");
    writeFileSync(`${path}.editor`, `${text}${line}\n`);
    await rename(`${path}.editor`, path);
    this.lines.add(line);
  }

  /** Resolves when the gateway answers. */
  async start(): Promise<void> {
    this.machine.begin();
    await waitFor(`${this.machine.name} to answer`, async () => {
      return (await this.machine.gateway("GET", "/healthz")).ok;
    });
  }

  async memories(project: string): Promise<Map<string, string>> {
    const found = (await this.machine.ask("GET", `/api/projects/${project}`)) as ProjectView;
    return new Map(found.memories.map(({ key, value }) => [key, value]));
  }
}

interface ProjectView {
  readonly memories: readonly { readonly key: string; readonly value: string }[];
}

/** Two loaded machines and a hosted server, all of them processes of their own. */
export class KillCluster implements AsyncDisposable {
  private constructor(
    readonly folder: ServerFolder,
    readonly token: string,
    readonly project: string,
    readonly machines: Readonly<Record<"a" | "b", LoadedMachine>>,
    private server: RunningServer,
  ) {}

  static async start(lab: Lab): Promise<KillCluster> {
    const folder = await ServerFolder.create();
    const token = await folder.token();
    const server = await folder.server();
    const service = { url: server.url, token };
    const [a, b] = await lab.twoMachines(service, { ".gitignore": `${FILE}*\n` });
    await Promise.all([a.up(), b.up()]);
    const { id } = await a.projectOf();
    const machines = { a: new LoadedMachine(a, id), b: new LoadedMachine(b, id) };
    return new KillCluster(folder, token, id, machines, server);
  }

  /** Kills the parts at the same moment, as far as that goes. */
  async kill(parts: readonly Part[]): Promise<void> {
    await Promise.all(
      parts.map((part) =>
        part === "server"
          ? this.server.process.end("SIGKILL")
          : this.machines[part].machine.down("SIGKILL"),
      ),
    );
  }

  /** Starts a part again. Resolves to how long that took, in milliseconds. */
  async restart(part: Part): Promise<number> {
    const startedAt = performance.now();
    if (part === "server") this.server = await this.folder.server("--port", `${this.server.port}`);
    else await this.machines[part].start();
    return performance.now() - startedAt;
  }

  /** What the server holds. */
  async held(): Promise<Map<string, string>> {
    const headers = { Authorization: `Bearer ${this.token}` };
    const response = await fetch(`${this.server.url}/api/projects/${this.project}`, { headers });
    const { memories } = (await response.json()) as ProjectView;
    return new Map(memories.map(({ key, value }) => [key, value]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.folder[Symbol.asyncDispose]();
  }
}
