import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GitSandbox } from "../../support/git-sandbox.ts";
import type { Dice } from "../simulate/dice.ts";
import type { Person } from "./person.ts";
import { type ByGit, FILE, type Place, READ_MS } from "./place.ts";

/** How long a branch is left, or a stash kept. */
const AWAY_MS = 6000;
const COMMITS_BACK_MAX = 3;

/** Somebody who works with git at a place. */
export class GitPerson {
  readonly #place: Place;
  #count = 0;

  constructor(
    readonly person: Person,
    readonly sandbox: GitSandbox,
    readonly dice: Dice,
    /** Whether everybody is going home: then nobody waits for a tool. */
    readonly isLate: () => boolean,
  ) {
    this.#place = person.place;
  }

  /** One thing that people do with git. */
  async work(): Promise<void> {
    const { dice } = this;
    if (this.#place.kind === "tracked") await dice.pick(this.#tracked)();
    else await dice.pick(this.#besides)();
  }

  /** Commits, fetches what others have pushed, and pushes; gives way to who was faster. */
  async exchange(): Promise<void> {
    await this.#commit();
    for (let tries = 0; tries < 5; tries++) {
      const pull = () => this.#run("pull", "-q", "--no-rebase", "--no-edit");
      await this.#git("pulls", pull, "git brought");
      const pushed = this.#run("push", "-q", "origin", "main");
      if (
        await pushed.then(
          () => true,
          () => false,
        )
      )
        return;
    }
  }

  /** Waits until what git has brought must have been read. */
  async settle(): Promise<void> {
    await this.person.pause(READ_MS, READ_MS + 1000);
  }

  readonly #tracked = [
    () => this.#commit(),
    () => this.exchange(),
    () => this.exchange(),
    () => this.#stash(),
    () => this.#feature(),
    () => this.#visit(),
    () => this.#amend(),
    () => this.#goBack(),
    () => this.#discard(),
  ];

  readonly #besides = [
    () => this.#commitNote(),
    () => this.#exchangeNotes(),
    () => this.#stash(),
    () => this.#stash(),
    () => this.#visit(),
    () => this.#goBack(),
  ];

  async #commit(): Promise<void> {
    if (this.#place.kind !== "tracked") return await this.#commitNote();
    if ((await this.#run("status", "--porcelain", "--", FILE)) === "") return;
    await this.#git("commits", () => this.#run("commit", "-q", "-m", this.#name(), "--", FILE));
  }

  async #commitNote(): Promise<void> {
    const name = this.#name();
    writeFileSync(join(this.#place.dir, `${name}.txt`), name);
    await this.#git("commits a note", async () => {
      await this.#run("add", `${name}.txt`);
      await this.#run("commit", "-q", "-m", name);
    });
  }

  async #exchangeNotes(): Promise<void> {
    await this.#commitNote();
    await this.exchange();
  }

  /** Everything is put away for a while; what git ignores stays. */
  async #stash(): Promise<void> {
    writeFileSync(join(this.#place.dir, `${this.#name()}.txt`), "not committed\n");
    await this.#git("stashes", () => this.#run("stash", "push", "-q", "-u"));
    await this.person.pause(0, AWAY_MS);
    await this.#git("pops its stash", () => this.#run("stash", "pop", "-q"));
    await this.#commitNote();
    await this.#addAll();
  }

  /** Notes that a stash brought back are committed, so that nothing stands in a pull's way. */
  async #addAll(): Promise<void> {
    const notes = (await this.#run("ls-files", "-o", "--exclude-standard", "*.txt")).trim();
    if (notes === "") return;
    await this.#git("commits its notes", async () => {
      await this.#run("add", ...notes.split("\n"));
      await this.#run("commit", "-q", "-m", this.#name());
    });
  }

  /** Work on a branch, merged in the end. */
  async #feature(): Promise<void> {
    await this.#commit();
    const branch = this.#name();
    await this.#leave(() => this.#run("switch", "-q", "-c", branch), `makes branch ${branch}`);
    this.#place.onMain = false;
    for (let left = 1 + this.dice.below(2); left > 0; left--) {
      await this.person.pause(0, 3000);
      this.person.quickEdit();
    }
    await this.#commit();
    await this.#home();
    await this.person.pause(0, AWAY_MS);
    const merge = this.dice.chance(0.5) ? ["merge", "-q", "--no-ff"] : ["merge", "-q"];
    const run = () => this.#run(...merge, "--no-edit", branch);
    await this.#git(`merges ${branch}`, run, "git brought");
    await this.#read();
  }

  /** A look at an older branch. */
  async #visit(): Promise<void> {
    await this.#commit();
    const branch = this.#name();
    const back = await this.#back();
    await this.#run("branch", branch, back);
    await this.#leave(() => this.#run("switch", "-q", branch), `visits ${branch} at ${back}`);
    this.#place.onMain = false;
    await this.person.pause(0, AWAY_MS);
    await this.#home();
    await this.#read();
  }

  /** The first commit is left alone: clones have it in common. */
  async #amend(): Promise<void> {
    await this.#commit();
    if ((await this.#commits()) < 2) return;
    await this.#read();
    this.person.quickEdit();
    if (this.dice.chance(0.7)) await this.#read();
    const message = this.#name();
    this.#place.unsettle();
    await this.#git("amends", () => this.#run("commit", "-q", "-a", "--amend", "-m", message));
    await this.#read();
  }

  /** The text of an older commit is no edit, and what is pushed already comes back by a pull. */
  async #goBack(): Promise<void> {
    await this.#commit();
    if (this.dice.chance(0.6)) await this.exchange();
    await this.#read();
    const back = await this.#back();
    await this.#leave(() => this.#run("reset", "-q", "--hard", back), `resets to ${back}`);
    await this.#read();
  }

  /** An edit that is taken back: this one does count. */
  async #discard(): Promise<void> {
    await this.#commit();
    await this.#read();
    this.person.quickEdit();
    await this.person.pause(0, AWAY_MS);
    await this.#git("discards its edit", () => this.#run("checkout", "-q", "--", FILE));
  }

  async #home(): Promise<void> {
    await this.#leave(() => this.#run("switch", "-q", "main"), "goes back to main");
    this.#place.onMain = true;
  }

  async #leave(run: () => Promise<unknown>, what: string): Promise<void> {
    this.#place.unsettle();
    await this.#place.git(`${what} by git`, run, "git left");
  }

  /** Most people give a tool the seconds that it needs. */
  async #read(): Promise<void> {
    if (this.#place.kind === "tracked" && !this.isLate()) await this.settle();
  }

  async #back(): Promise<string> {
    const back = Math.min((await this.#commits()) - 1, this.dice.below(COMMITS_BACK_MAX) + 1);
    return `HEAD~${back}`;
  }

  async #commits(): Promise<number> {
    return Number(await this.#run("rev-list", "--count", "--first-parent", "HEAD"));
  }

  async #git(what: string, run: () => Promise<unknown>, more?: ByGit): Promise<void> {
    await this.#place.git(`git: ${what}`, run, more);
  }

  async #run(...args: readonly string[]): Promise<string> {
    return await this.sandbox.run(this.#place.dir, ...args);
  }

  #name(): string {
    return `${this.#place.name}-${this.#count++}`;
  }
}
