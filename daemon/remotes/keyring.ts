import { execFile } from "node:child_process";
import type { World } from "../../shared/world.ts";

/** A keyring that asks somebody who is not there is given up after this long. */
const KEYRING_DEADLINE_MS = 5000;

const PROBE_BYTES = 16;

/** Everything of this program lies under one name in the system's keyring. */
const SERVICE = "memsync";

/** What came of a call: `value` is what was read; null when there is none of that name. */
export type KeyringResult =
  | { readonly kind: "done"; readonly value: string | null }
  | { readonly kind: "failed" };

/** The system's keyring. No outcome is a rejection, and none repeats a secret. */
export interface Keyring {
  get(name: string): Promise<KeyringResult>;
  set(name: string, value: string): Promise<KeyringResult>;
  delete(name: string): Promise<KeyringResult>;
}

/** How the keyring is reached; everything is as usual when left out. */
export interface KeyringOptions {
  /** Runs what its standard input says, as `PROGRAM` does. */
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly deadlineMs?: number;
}

/**
 * Bun knows the keyrings of macOS, of Windows and, through libsecret, of Linux; but a call may wait
 * for a person without end. So it is made by a process of its own, which can be ended. Secrets go
 * through its standard input and output.
 */
const PROGRAM = `
const { call, name, value } = await Bun.stdin.json();
const at = { service: "${SERVICE}", name };
const found = call === "set" ? await Bun.secrets.set({ ...at, value })
  : call === "delete" ? await Bun.secrets.delete(at) : await Bun.secrets.get(at);
console.log(JSON.stringify({ value: typeof found === "string" ? found : null }));
`;

/** The keyring of this machine; undefined where `MEMSYNC_KEYRING=off` says to leave it alone. */
export function openKeyring(options: KeyringOptions = {}): Keyring | undefined {
  const env = options.env ?? process.env;
  if (env.MEMSYNC_KEYRING === "off") return undefined;
  const command = options.command ?? [process.execPath, "-e", PROGRAM];
  const deadlineMs = options.deadlineMs ?? KEYRING_DEADLINE_MS;
  const call = (request: object) =>
    callOnce(command, childEnvironment(env), { deadlineMs, request });
  return {
    get: (name) => call({ call: "get", name }),
    set: (name, value) => call({ call: "set", name, value }),
    delete: (name) => call({ call: "delete", name }),
  };
}

/** Whether the keyring really keeps a secret, gives it back and forgets it again. */
export async function keyringWorks(keyring: Keyring, world: World): Promise<boolean> {
  const random = Buffer.from(world.randomBytes(PROBE_BYTES)).toString("hex");
  const name = `probe ${random}`;
  if ((await keyring.set(name, random)).kind === "failed") return false;
  const read = await keyring.get(name);
  const deleted = await keyring.delete(name);
  const after = await keyring.get(name);
  return (
    read.kind === "done" &&
    read.value === random &&
    deleted.kind === "done" &&
    after.kind === "done" &&
    after.value === null
  );
}

function callOnce(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  { deadlineMs, request }: { readonly deadlineMs: number; readonly request: object },
): Promise<KeyringResult> {
  const [program = "", ...args] = command;
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      // Not where the user stands: a folder may hold settings that this program would obey.
      { env, cwd: "/", timeout: deadlineMs, killSignal: "SIGKILL", windowsHide: true },
      (error, stdout) => resolve(error === null ? resultOf(stdout) : { kind: "failed" }),
    );
    child.stdin?.on("error", () => {});
    child.stdin?.end(JSON.stringify(request));
  });
}

function resultOf(stdout: string): KeyringResult {
  try {
    const { value } = JSON.parse(stdout) as { value?: unknown };
    if (value === null || typeof value === "string") return { kind: "done", value };
  } catch {
    // What it printed may hold a secret, so it is not repeated.
  }
  return { kind: "failed" };
}

/** What is ours is not the child's to know, but for being this same program. */
function childEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !name.startsWith("MEMSYNC_")) kept[name] = value;
  }
  return { ...kept, BUN_BE_BUN: "1" };
}
