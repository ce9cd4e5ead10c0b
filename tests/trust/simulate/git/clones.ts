import type { ProjectId } from "../../../../shared/ids.ts";
import type { Cast } from "../cast.ts";
import type { Dice } from "../dice.ts";
import { FILE, type Files } from "../files.ts";
import type { Machine } from "../machine.ts";
import type { Scheduler } from "../scheduler.ts";
import { linesOf } from "../text-ledger.ts";
import { BEFORE, beginOrigin, cloneOrigin } from "./clone.ts";
import { GitUser, MAIN } from "./git-user.ts";
import type { ObjectStore } from "./objects.ts";
import { Repository } from "./repository.ts";

const STEP_MS_MAX = 60;
const BRANCH = "topic";

/** The clones of a run, and who works with git in them. */
export interface ClonesOptions {
  readonly cast: Cast;
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  readonly stores: ReadonlyMap<string, ObjectStore>;
  readonly files: Files;
  readonly note: (line: string) => void;
}

type Command = (user: GitUser, dice: Dice) => boolean | Promise<boolean>;

/** What people do with git, and how often beside the rest. */
const COMMANDS: readonly (readonly [string, number, Command])[] = [
  ["commit", 5, (user) => user.commit("work")],
  ["checkout -b", 2, (user) => user.checkout(BRANCH, true)],
  ["checkout the topic", 2, (user) => user.checkout(BRANCH)],
  ["checkout what was before", 1, (user) => user.checkout(BEFORE)],
  ["checkout main", 5, (user) => user.checkout(MAIN)],
  ["commit --amend", 1, (user) => user.amend()],
  ["merge", 2, (user) => user.merge(BRANCH)],
  ["stash -u", 2, (user) => user.stash([FILE])],
  ["stash pop", 3, (user) => user.pop()],
  ["pull", 4, (user) => user.pull()],
  ["push", 4, (user) => user.push()],
  ["reset --hard HEAD^", 1, (user) => resetToParent(user)],
];

const WEIGHT = COMMANDS.reduce((sum, [, weight]) => sum + weight, 0);

function drawCommand(dice: Dice): readonly [string, Command] {
  let rest = dice.between(0, WEIGHT);
  for (const [name, weight, command] of COMMANDS) {
    rest -= weight;
    if (rest < 0) return [name, command];
  }
  throw new Error("the weights of git's commands are out of step");
}

/** People at the machines' clones. In a run without git there are none. */
export class Clones {
  readonly #options: ClonesOptions;
  readonly #users = new Map<string, GitUser>();
  /** How long each step of a command takes; otherwise as it comes. */
  stepMs: number | undefined;
  /** Where a command is under way. */
  #running = 0;

  constructor(options: ClonesOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  /** Clones a project on every machine. `text`: what the followed file begins with. */
  begin(machines: readonly Machine[], project: ProjectId, text: string): void {
    const { cast, stores, files } = this.#options;
    const objects = stores.get(project);
    if (!cast.git || !objects) return;
    beginOrigin(objects, FILE, cast.git === "tracked" ? text : undefined);
    for (const machine of machines) {
      const clone = () => new Repository(machine.volume, machine.folderOf(project), objects);
      cloneOrigin(clone(), project, cast.git === "ignored" ? [FILE] : []);
      if (cast.git === "tracked") files.exchanged(machine, project, "", text);
      this.#users.set(nameOf(machine, project), this.#user(machine, project, clone));
    }
  }

  userOf(machine: Machine, project: ProjectId): GitUser | undefined {
    return this.#users.get(nameOf(machine, project));
  }

  #user(machine: Machine, project: ProjectId, repository: () => Repository): GitUser {
    const { scheduler, dice, files } = this.#options;
    return new GitUser({
      repository,
      scheduler,
      stepMs: () => this.stepMs ?? dice.between(0, STEP_MS_MAX),
      onTouched: (path, before, after) => {
        if (path === files.pathOf(machine, project))
          files.exchanged(machine, project, before, after);
      },
      onChanged: () => machine.saved(project),
    });
  }

  /** Whether what is saved into the file is taken: not on another branch, nor while git works. */
  isFollowed(machine: Machine, project: ProjectId): boolean {
    const user = this.userOf(machine, project);
    if (!user) return true;
    const { repository } = user;
    if (repository.read("index.lock") !== undefined) return false;
    return this.#options.cast.git !== "tracked" || repository.head.branch === MAIN;
  }

  /** Somebody runs one of git's commands. */
  act(machine: Machine, project: ProjectId): void {
    const { dice, note } = this.#options;
    const user = this.userOf(machine, project);
    if (!user || this.#options.files.isSaving(machine, project)) return;
    const [name, command] = drawCommand(dice);
    this.#giveUp(machine, project);
    note(`${machine.name} begins git ${name} in ${project}`);
    void this.run(async () => {
      const went = await command(user, dice);
      note(`${machine.name}'s git ${name} ${went ? "is done" : "was refused"}`);
    });
  }

  /** Runs commands that are waited for before a run may come to rest. */
  async run(commands: () => Promise<void>): Promise<void> {
    this.#running += 1;
    await commands().finally(() => {
      this.#running -= 1;
    });
  }

  /** What the daemon has not taken by now, git may take away before it does. */
  #giveUp(machine: Machine, project: ProjectId): void {
    const { cast, files } = this.#options;
    if (cast.git !== "tracked") return;
    const text = files.textOf(machine, project);
    const taken = new Set(linesOf(machine.shadow.documents.get(project)?.content() ?? ""));
    if (linesOf(text).some((line) => !taken.has(line))) {
      files.exchanged(machine, project, text, "");
      files.exchanged(machine, project, "", text);
    }
  }

  /** Everybody goes back to the default branch, as far as git lets them. */
  async settle(machines: readonly Machine[], projects: readonly ProjectId[]): Promise<void> {
    for (const machine of machines) {
      for (const project of projects) {
        const user = this.userOf(machine, project);
        await user?.checkout(MAIN);
        await user?.pop();
      }
    }
  }
}

function nameOf(machine: Machine, project: ProjectId): string {
  return `${machine.name} ${project}`;
}

async function resetToParent(user: GitUser): Promise<boolean> {
  const { objects, head } = user.repository;
  const [parent] = head.commit === undefined ? [] : objects.get(head.commit).parents;
  return parent !== undefined && objects.get(parent).tree.has(FILE)
    ? await user.resetHard(parent)
    : false;
}
