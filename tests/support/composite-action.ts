import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A step of a composite action, in what of GitHub's language our own uses. */
export interface ActionStep {
  readonly name: string;
  readonly id?: string;
  readonly if?: string;
  readonly shell: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run: string;
}

export interface CompositeAction {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, { readonly description: string; default: string }>>;
  readonly outputs: Readonly<Record<string, { readonly description: string; value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly ActionStep[] };
}

export interface StepEnded {
  readonly status: number;
  readonly printed: string;
}

const UNKNOWN = /\$\{\{/;

/**
 * Runs a composite action's steps as GitHub's runner does on one machine: each as a script of bash,
 * what one writes to `GITHUB_ENV` in the environment of the next, and what a step has left running
 * ended with the job.
 */
export class ActionJob implements AsyncDisposable {
  readonly #folder: string;
  readonly #groups: number[] = [];
  #env: Record<string, string>;
  #outputs: Readonly<Record<string, string>> = {};

  /** `folder`: a new one, for the runner's files. `env`: what the machine has. */
  constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    this.#env = { ...env, RUNNER_TEMP: folder };
  }

  /** The outputs of the action that ran last. */
  get outputs(): Readonly<Record<string, string>> {
    return this.#outputs;
  }

  /** Runs an action. Resolves to how its last step ended, or the one that failed. */
  async use(action: CompositeAction, given: Readonly<Record<string, string>>): Promise<StepEnded> {
    const named: Record<string, string> = {};
    for (const [name, input] of Object.entries(action.inputs)) {
      named[`inputs.${name}`] = given[name] ?? input.default;
    }
    let ended: StepEnded = { status: 0, printed: "" };
    for (const step of action.runs.steps) {
      if (step.if !== undefined && !holds(step.if, named)) continue;
      ended = await this.run(step.run, filled(step.env ?? {}, named));
      for (const [name, value] of Object.entries(this.#assigned("GITHUB_OUTPUT"))) {
        if (step.id !== undefined) named[`steps.${step.id}.outputs.${name}`] = value;
      }
      if (ended.status !== 0) return ended;
    }
    const values = Object.entries(action.outputs).map(([name, { value }]) => [name, value]);
    this.#outputs = filled(Object.fromEntries(values), named);
    return ended;
  }

  /** Runs a step of the job's own, after those that ran before. */
  async run(script: string, env: Readonly<Record<string, string>> = {}): Promise<StepEnded> {
    const path = join(this.#folder, "step.sh");
    const files = {
      GITHUB_ENV: this.#file("GITHUB_ENV"),
      GITHUB_OUTPUT: this.#file("GITHUB_OUTPUT"),
    };
    for (const file of Object.values(files)) writeFileSync(file, "");
    writeFileSync(path, script);
    const child = Bun.spawn(["bash", "--noprofile", "--norc", "-eo", "pipefail", path], {
      cwd: this.#env.HOME ?? this.#folder,
      env: { ...this.#env, ...files, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.#groups.push(child.pid);
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    this.#env = { ...this.#env, ...this.#assigned("GITHUB_ENV") };
    return { status: await child.exited, printed: stdout + stderr };
  }

  #file(name: string): string {
    return join(this.#folder, name.toLowerCase());
  }

  #assigned(name: string): Record<string, string> {
    const lines = readFileSync(this.#file(name), "utf8").split("\n").filter(Boolean);
    return Object.fromEntries(
      lines.map((line) => {
        const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
        if (key === undefined || value === undefined) throw new Error(`${name} has ${line}`);
        return [key, value];
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const group of this.#groups) {
      try {
        process.kill(-group, "SIGKILL");
      } catch (thrown) {
        const isGone = thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH";
        if (!isGone) throw thrown;
      }
    }
  }
}

/** `inputs.NAME == ''` and `!= ''`, the only conditions that we use. */
function holds(condition: string, named: Readonly<Record<string, string>>): boolean {
  const [, name = "", operator] = /^([\w.]+) (==|!=) ''$/.exec(condition) ?? [];
  const value = named[name];
  if (value === undefined) throw new Error(`${condition} is not known here`);
  return (value === "") === (operator === "==");
}

function filled(
  texts: Readonly<Record<string, string>>,
  named: Readonly<Record<string, string>>,
): Record<string, string> {
  const filledIn = Object.entries(texts).map(([key, text]) => {
    const value = text.replaceAll(/\$\{\{ ([\w.]+) \}\}/g, (_, name) => named[name] ?? "");
    if (UNKNOWN.test(value)) throw new Error(`${text} is not known here`);
    return [key, value] as const;
  });
  return Object.fromEntries(filledIn);
}
