import { execFile } from "node:child_process";
import { AppError } from "../../shared/errors.ts";
import { isObject, parseJson } from "../../shared/json.ts";
import type { World } from "../../shared/world.ts";

/** A keyring that waits for an absent person is given up after this time. */
const KEYRING_DEADLINE_MS = 5000;

const PROBE_BYTES = 16;

/** In the system's keyring, everything is stored under this name. */
const SERVICE = "memsync";

/** The result of a call; `value`: what was read, or null where there is nothing. */
export type KeyringResult =
  | { readonly kind: "done"; readonly value: string | null }
  | { readonly kind: "failed" };

/** The system's keyring. No call rejects, and no message contains a secret. */
export interface Keyring {
  get(name: string): Promise<KeyringResult>;
  set(name: string, value: string): Promise<KeyringResult>;
  delete(name: string): Promise<KeyringResult>;
}

/** Options for tests; the usual keyring if left out. */
export interface KeyringOptions {
  /** Runs the program on its standard input, as it runs `PROGRAM`. */
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly deadlineMs?: number;
}

/**
 * Bun can use the keyrings of macOS, Windows and, through libsecret, Linux. But a call may wait for
 * a person for ever, so a process of its own makes it, which can be ended. Secrets go through its
 * standard input and output.
 */
const PROGRAM = `
const { call, name, value } = await Bun.stdin.json();
const at = { service: "${SERVICE}", name };
const found = call === "set" ? await Bun.secrets.set({ ...at, value })
  : call === "delete" ? await Bun.secrets.delete(at) : await Bun.secrets.get(at);
console.log(JSON.stringify({ value: typeof found === "string" ? found : null }));
`;

/**
 * This machine's keyring; undefined with `MEMSYNC_KEYRING=off`. Throws for another value than `on`
 * and `off`: whoever mistypes one of them would have tokens where they are not to be.
 */
export function openKeyring(options: KeyringOptions = {}): Keyring | undefined {
  const env = options.env ?? process.env;
  const wanted = env.MEMSYNC_KEYRING || "on";
  if (wanted === "off") return undefined;
  if (wanted !== "on") {
    const values = "is `on`, as without it, or `off`, which keeps tokens out of the keyring";
    throw new AppError("invalid_request", `MEMSYNC_KEYRING ${values}`);
  }
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

/** Whether the keyring stores a secret, returns it and removes it. */
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
      // Not in the user's folder, which may contain settings that Bun would obey.
      { env, cwd: "/", timeout: deadlineMs, killSignal: "SIGKILL", windowsHide: true },
      (error, stdout) => resolve(error === null ? resultOf(stdout) : { kind: "failed" }),
    );
    child.stdin?.on("error", () => {});
    child.stdin?.end(JSON.stringify(request));
  });
}

function resultOf(stdout: string): KeyringResult {
  try {
    const said = parseJson(stdout);
    const { value } = isObject(said) ? said : {};
    if (value === null || typeof value === "string") return { kind: "done", value };
  } catch {
    // Its output may contain a secret and is not quoted.
  }
  return { kind: "failed" };
}

/** The child needs nothing of our environment except what makes it this program. */
function childEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !name.startsWith("MEMSYNC_")) kept[name] = value;
  }
  return { ...kept, BUN_BE_BUN: "1" };
}
