import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { standingVersions } from "../../daemon/assistants/personal/personal-document.ts";
import { PersonalKeeper } from "../../daemon/assistants/personal/personal-keeper.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/home/local-account.ts";
import {
  forgetPersonalFile,
  type PersonalDecision,
  type PersonalFile,
  type PersonalQuestion,
  putPersonalFile,
  settlePersonalFile,
} from "../../daemon/home/personal-files.ts";
import { PERSONAL_KEY } from "../../daemon/home/personal-mark.ts";
import type { Whose } from "../../daemon/home/whose.ts";
import { putItem } from "../../daemon/plain/plain-store.ts";
import { silentLog } from "../../shared/log.ts";
import { userDocument } from "../../shared/replica/document/address.ts";
import { createDrivenWorld, type DrivenWorld } from "./driven-world.ts";
import { openTestReplica } from "./empty-home.ts";
import { KeeperMachine, settleKept } from "./keeper-machine.ts";
import { remembering } from "./remembered-git.ts";

const ADDRESS = userDocument(LOCAL_ACCOUNT, LOCAL_USER);
/** Long after the files of any test are written. */
const LATER = Date.parse("2030-01-01T00:00:00Z");

/** A machine of one user with files of assistants and a replica, without a daemon. */
export class PersonalMachine extends KeeperMachine {
  readonly folder: string;
  keeper!: PersonalKeeper;
  /** For whom its daemon is known to run. */
  whose: Whose = "home";
  readonly world: DrivenWorld;
  readonly #heard = new Set<(name: string, cameOrWent: boolean) => void>();

  private constructor(readonly name: string) {
    super(ADDRESS);
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), "memsync-personal-")));
    this.world = createDrivenWorld(name);
    this.world.setClockBy(LATER - this.world.now());
  }

  static async start(name: string): Promise<PersonalMachine> {
    // The worlds of a test begin anew.
    PersonalMachine.#clock = 0;
    const machine = new PersonalMachine(name);
    await machine.begin();
    return machine;
  }

  /** As a daemon does that starts. */
  async begin(): Promise<void> {
    const path = join(this.folder, "memsync.db");
    this.store = await openTestReplica(path, this.world, { machine: this.name, homeId: this.name });
    this.keeper = new PersonalKeeper({
      store: this.store,
      world: this.world,
      log: silentLog,
      git: remembering(createGit()),
      account: () => LOCAL_ACCOUNT,
      whose: async () => this.whose,
      events: (_, { heard }) => {
        this.#heard.add(heard);
        return { close: async () => void this.#heard.delete(heard) };
      },
    });
    this.keeper.start();
    await this.keeper.look();
  }

  async end(): Promise<void> {
    await this.keeper.stop();
    await this.store.close();
  }

  async remove(): Promise<void> {
    await this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** An assistant's file is called `<assistant>.md` here. */
  pathOf(assistant: string): string {
    return join(this.folder, `${assistant}.md`);
  }

  /** As `memsync personal on` does. */
  async on(
    assistant: string,
    {
      header = "",
      writes = false,
      settled,
    }: { header?: string; writes?: boolean; settled?: PersonalDecision } = {},
  ): Promise<void> {
    await this.store.write(async ({ db, now }) => {
      await forgetPersonalFile(db, assistant);
      const path = this.pathOf(assistant);
      const asked: PersonalQuestion | undefined = settled === "adopt" ? undefined : "found";
      const file = { assistant, path, header, writes, isMade: false, settled, asked, undone: [] };
      await putPersonalFile(db, file, now);
    });
    await this.keeper.lookAnew();
  }

  async putFile(file: PersonalFile): Promise<void> {
    await this.store.write(({ db, now }) => putPersonalFile(db, file, now));
  }

  async settle(assistant: string, as: PersonalDecision, takes?: string): Promise<void> {
    await this.store.write(({ db }) => settlePersonalFile(db, assistant, { settled: as, takes }));
    await this.keeper.lookAnew();
  }

  /** The same, and the system tells of it. */
  async saveHeard(assistant: string, text: string): Promise<void> {
    this.save(assistant, text);
    for (const heard of this.#heard) heard(`${assistant}.md`, false);
    await this.keeper.glimpsed();
  }

  static #clock = 0;

  /** Saves a file as an editor does: later than all saves before, on any machine. */
  save(assistant: string, text: string | Uint8Array): void {
    const path = this.pathOf(assistant);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    PersonalMachine.#clock = Math.max(
      PersonalMachine.#clock + 0.001,
      this.world.now() / 1000 - 0.5,
    );
    utimesSync(path, PersonalMachine.#clock, PersonalMachine.#clock);
  }

  /** Saves the file with other text in its block. */
  edit(assistant: string, change: (text: string) => string): void {
    this.save(
      assistant,
      this.file(assistant).replace(BODY, (_, begin, text, end) => begin + change(text) + end),
    );
  }

  file(assistant: string): string {
    const path = this.pathOf(assistant);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /** What stands in the block; undefined without one. */
  block(assistant: string): string | undefined {
    return BODY.exec(this.file(assistant))?.[2];
  }

  /** Two looks, and time between them for what has to last. */
  async look(): Promise<void> {
    await this.keeper.look();
    this.world.advance(11_000);
    await this.keeper.look();
  }

  stateOf(assistant: string): string {
    const file = this.keeper.status.files.find((each) => each.assistant === assistant);
    return file ? [file.state, file.why?.code].filter(Boolean).join(" ") : "none";
  }

  /** All versions of the text that stand in the document. */
  async standing(): Promise<string[]> {
    return await this.store.write(async (context) => {
      const standing = await standingVersions(context.db, await context.open(ADDRESS));
      return standing.map(({ version }) => version.text);
    });
  }

  /** The value of each key that stands. */
  async memories(): Promise<Map<string, unknown>> {
    return await this.store.write(async (context) => {
      const { memories } = (await context.open(ADDRESS)).document;
      return new Map([...memories.keys()].map((key) => [key, memories.get(key)[0]?.value]));
    });
  }

  async writeMemory(value: string | undefined, key = PERSONAL_KEY): Promise<void> {
    await this.store.write(async (context) => {
      const { document } = await context.open(ADDRESS);
      if (value === undefined) document.deleteEntry("memories", key);
      else document.setEntry("memories", key, { value, now: context.now });
    });
  }

  /** As where a service that keeps no keys has told of a memory: its key is the service's id. */
  async keyFromService(key: string): Promise<void> {
    await this.store.write(async (context) => {
      const { id } = await context.open(ADDRESS);
      const item = { value: "", id: key, createdAt: null, seen: true };
      await putItem(context.db, id, { kind: "memories", key, item });
    });
  }

  /** Every former value that the history keeps. */
  async history(): Promise<string[]> {
    return await this.pastValues(PERSONAL_KEY);
  }
}

const BODY = /(<!-- memsync:personal begin[^\n]*\n)([\s\S]*?)(<!-- memsync:personal end -->)/;

/** Exchanges and looks until nothing is left to do. */
export async function settlePersonal(...machines: readonly PersonalMachine[]): Promise<void> {
  await settleKept(machines, 4);
}
