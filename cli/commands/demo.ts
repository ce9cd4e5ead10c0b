import { join } from "node:path";
import type { Command } from "commander";
import { type Emulator, startEmulator } from "../../daemon/embedded/emulator-program.ts";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { makeScratchFolder } from "../contact/scratch-folder.ts";
import { DemoMachine } from "../demo/demo-machine.ts";
import { tellStory } from "../demo/story.ts";
import { say, sayAside, saySentence } from "../screen/output.ts";
import { hasTerminal } from "../screen/terminal.ts";

const MS_PER_S = 1000;

interface DemoFlags {
  readonly fast?: boolean;
}

/** `demo`: what memsync does, in twenty seconds. */
export function addDemoCommand(program: Command): void {
  program
    .command("demo")
    .description("see two machines edit offline and come together; touches nothing of yours")
    .option("--fast", "do not wait for anybody to read")
    .action((flags: DemoFlags) => demo(flags));
}

async function demo({ fast = !hasTerminal() }: DemoFlags): Promise<void> {
  const scratch = await makeScratchFolder("demo");
  const stage = new Stage(scratch.dir);
  const stopped = stage.stopOnSignal();
  try {
    saySentence("Two machines and a service, real ones, in a temporary folder.", "remark");
    await Promise.race([play(stage, fast), stopped]);
  } finally {
    await stage.clear();
    const remains = await scratch.clear();
    if (remains) sayAside(remains.why);
  }
}

async function play(stage: Stage, fast: boolean): Promise<void> {
  await stage.networkUp();
  await tellStory({
    laptop: await stage.machine("laptop"),
    desktop: await stage.machine("desktop"),
    network: { down: () => stage.networkDown(), up: () => stage.networkUp() },
    pause: (seconds) => delay(realWorld, fast ? 0 : seconds * MS_PER_S),
  });
  say("");
  saySentence("That was all. In a project of yours: `memsync up`.");
}

/** Everything that the demonstration starts, so that it ends together. */
class Stage {
  readonly #machines: DemoMachine[] = [];
  #service: Emulator | undefined;
  #port = 0;

  constructor(readonly root: string) {}

  async machine(name: string): Promise<DemoMachine> {
    const url = `http://127.0.0.1:${this.#port}`;
    const machine = await DemoMachine.start(this.root, name, { url, token: "mst_dev_pro" });
    this.#machines.push(machine);
    return machine;
  }

  async networkUp(): Promise<void> {
    const dataDir = join(this.root, "service");
    this.#service = await startEmulator({ port: this.#port, dataDir, limits: "off" });
    this.#port = this.#service.port;
  }

  async networkDown(): Promise<void> {
    await this.#service?.close();
    this.#service = undefined;
  }

  /** Resolves when somebody ends the demonstration early. */
  async stopOnSignal(): Promise<void> {
    await new Promise<void>((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => resolve());
    });
  }

  async clear(): Promise<void> {
    await Promise.all(this.#machines.map((machine) => machine.stop()));
    await this.networkDown();
  }
}
