import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Daemon } from "../../daemon/daemon.ts";
import { prepareHome } from "../../daemon/home/home.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { introduce } from "../../daemon/supervise/introduction.ts";
import { silentLog } from "../../shared/log.ts";
import { existingProjectId } from "../../shared/wire/project-id.ts";
import { realWorld } from "../../shared/world-real.ts";
import { listConflicts } from "../local/local-conflicts.ts";
import { type Environment, readEnvironment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { saveMemory } from "../writes/save.ts";

/** The project of which both machines of the demonstration have a copy. */
const DEMO_PROJECT = existingProjectId("proj_shop");

const FILE = "CLAUDE.md";

/** A machine of the demonstration: a daemon with a home and a project folder of its own. */
export class DemoMachine {
  private constructor(
    readonly name: string,
    readonly env: Environment,
    readonly daemon: Daemon,
  ) {}

  /** Starts it in a new folder below `root`, with the service at `url`. */
  static async start(root: string, name: string, service: Service): Promise<DemoMachine> {
    const dir = join(root, name, "shop");
    const env = { ...readEnvironment({ MEMSYNC_HOME: join(root, name, ".memsync") }), dir };
    await mkdir(dir, { recursive: true });
    prepareHome(env.home);
    await writeFile(env.home.machine, `${name}\n`);
    const daemon = await Daemon.start({
      home: env.home,
      world: realWorld,
      log: silentLog,
      openEmbedded: () => Promise.reject(new Error("the demonstration has a service of its own")),
      environment: service,
      keyring: undefined,
      onStopRequest: () => undefined,
      introduction: introduce("foreground", {}),
    });
    await daemon.link(dir, { id: DEMO_PROJECT, write: true });
    return new DemoMachine(name, env, daemon);
  }

  /** Saves the project's file, as an editor or an assistant would. */
  async save(text: string): Promise<void> {
    await writeFile(join(this.env.dir, FILE), text);
  }

  /** The lines of the project's file; none where there is no file yet. */
  async lines(): Promise<string[]> {
    try {
      const text = await readFile(join(this.env.dir, FILE), "utf8");
      return text.trimEnd().split("\n");
    } catch {
      return [];
    }
  }

  async set(key: string, value: string): Promise<void> {
    await saveMemory(
      this.env,
      { layer: "project", document: DEMO_PROJECT, account: LOCAL_ACCOUNT, remote: undefined },
      { key, value },
    );
  }

  async get(key: string): Promise<string | undefined> {
    return await withLocal(this.env, async (db) => {
      const memories = db ? await readLocalMemories(db, DEMO_PROJECT) : [];
      return memories.find((memory) => memory.key === key)?.value;
    });
  }

  /** The values of memories that lost against another machine's. */
  async losingValues(): Promise<string[]> {
    return await withLocal(this.env, async (db) => {
      const conflicts = db ? await listConflicts(db) : [];
      return conflicts.flatMap((each) => (each.kind === "memory" ? [each.losing.value] : []));
    });
  }

  /** Asks the service now. True: it has everything of this machine. */
  async sync(): Promise<boolean> {
    return (await this.daemon.sync(0)).synced;
  }

  /** Whether the project's file has been read in its current state. */
  async isSaved(): Promise<boolean> {
    const { projects } = await this.daemon.status();
    return projects.every(({ folders }) => folders.every(({ state }) => state !== "waiting"));
  }

  async stop(): Promise<void> {
    await this.daemon.stop();
    const { dir, socket } = this.env.home;
    // A path that is too long for a socket has it in a folder of its own.
    const place = dirname(socket);
    if (place !== dir) await rm(place, { recursive: true, force: true });
  }
}

interface Service {
  readonly url: string;
  readonly token: string;
}
