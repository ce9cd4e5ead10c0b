/// <reference lib="esnext.disposable" preserve="true" />
import { join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { fileFailure } from "../../shared/file-failures.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { mintToken } from "../accounts/token.ts";
import { isLoopbackHost } from "../http/loopback.ts";
import { listen } from "../listen/listen.ts";
import { urlOf } from "../listen/listener.ts";
import { Readiness } from "../operations/readiness.ts";
import { callableHost } from "./callable-host.ts";
import { StartOptions } from "./control/control-bodies.ts";
import { parseStrict } from "./control/parse-strict.ts";
import { untilClosed } from "./control/until-closed.ts";
import { openControlled } from "./controlled-emulator.ts";
import type { EmulatorControls, EmulatorTime } from "./interface/emulator.ts";
import type { EmulatorSeed } from "./interface/state.ts";
import { makeFolder } from "./state/make-folder.ts";
import { readSeed } from "./state/read-seed.ts";
import { parseTime } from "./time/parse-time.ts";

export type * from "./interface/emulator.ts";
export type * from "./interface/faults.ts";
export type * from "./interface/of-token.ts";
export type * from "./interface/requests.ts";
export type * from "./interface/state.ts";
export { readSeed } from "./state/read-seed.ts";

const PRIVATE_FOLDER = 0o700;

/** Options of `startEmulator`, all optional. */
export interface EmulatorOptions {
  /** Address to listen on; `127.0.0.1` when left out. */
  readonly host?: string;
  /** Port to listen on; any free one when left out or 0. */
  readonly port?: number;
  /** Folder to keep the data in; in memory when left out. */
  readonly dataDir?: string;
  /** Plan of the accounts behind `mst_dev_NAME`; `pro` when left out. */
  readonly plan?: "pro" | "team";
  /** `off`: requests are not limited. The plans' limits apply when left out. */
  readonly limits?: "on" | "off";
  /** Behave like a service that implements only the published specification. */
  readonly publishedOnly?: boolean;
  /** Requests that use anything beyond the published specification are violations. */
  readonly strict?: boolean;
  /** What the account of `mst_dev_pro` has at the start, or the path of it as for `readSeed`. */
  readonly seed?: EmulatorSeed | string;
  /** The time at which the clock stands still, until it is moved; it runs when left out. */
  readonly clock?: EmulatorTime;
  /** Ids repeat for it; they are random when left out. */
  readonly random?: string | number;
  /** Further names that requests may use as their host. */
  readonly allowedHosts?: readonly string[];
  /**
   * What every control call over HTTP must carry. When left out, nothing; but if other machines
   * reach the port, a token is made.
   */
  readonly controlToken?: string;
}

/** An emulator that answers at `url` until it is closed. */
export interface Emulator extends EmulatorControls, AsyncDisposable {
  /** Base address without `/v1` or `/api`: `http://127.0.0.1:4777`. */
  readonly url: string;
  readonly port: number;
  /** A token that reads and writes the Pro account. */
  readonly token: string;
  /** What control calls over HTTP must carry, if anything. */
  readonly controlToken: string | undefined;
  /** The variables by which programs find it. */
  readonly env: { readonly MEMSYNC_URL: string; readonly MEMSYNC_TOKEN: string };
  /** Finishes requests under way, for a second at most, and closes the port and the database. */
  close(): Promise<void>;
}

/** What an emulator stands on. */
interface EmulatorDeps {
  readonly world: World;
  readonly log: Log;
  /** Called when every request is answered, before the database is closed. */
  readonly atEnd?: (controls: EmulatorControls) => Promise<void>;
  /** Whether clients that are busy when it is closed are given the time to leave: half a second. */
  readonly clientsLeave?: () => boolean;
}

/**
 * Starts the cloud service's emulator in this process: both variants of the interface on a port of
 * this machine, with the fixed tokens `mst_dev_pro`, `mst_dev_team`, `mst_dev_readonly` and
 * `mst_dev_NAME`. With `dataDir` an acknowledged write is on the disk. Resolves when it has
 * answered a request with a token. Rejects with one sentence if the port is taken, the folder can't
 * be used, or Node lacks `better-sqlite3`.
 *
 * ```
 * await using emulator = await startEmulator({ clock: "2026-01-01T00:00:00Z", random: 1 });
 * const client = createClient({ url: emulator.url, token: emulator.token });
 * await emulator.clock.advance("1m");
 * ```
 */
export async function startEmulator(
  options: EmulatorOptions = {},
  { atEnd, clientsLeave, ...deps }: EmulatorDeps = { world: realWorld, log: silentLog },
): Promise<Emulator> {
  const { world } = deps;
  // Without what is null.
  const asked = parseStrict(StartOptions, options) as EmulatorOptions;
  const { host = "127.0.0.1", port = 0, dataDir, plan = "pro", limits = "on" } = asked;
  const { publishedOnly = false, allowedHosts = [], random, clock, strict = false } = asked;
  const given = typeof asked.seed === "string" ? await readSeed(asked.seed) : asked.seed;
  const isLoopback = isLoopbackHost(host);
  // Not by the emulator's own chance, whose seed others may know.
  const { controlToken = isLoopback ? undefined : mintToken(world) } = asked;
  const readiness = new Readiness("ready");
  const emulator = await openControlled({
    path: dataDir === undefined ? ":memory:" : await databaseIn(dataDir),
    plan,
    limits,
    ...deps,
    loopbackOnly: isLoopback,
    allowedHosts: allowedHosts.map((name) => name.toLowerCase()),
    controlToken,
    publishedOnly,
    strict,
    readiness,
    frozenAt: clock === undefined ? undefined : parseTime(clock, "clock"),
    seed: random === undefined ? undefined : String(random),
  });
  try {
    if (given !== undefined) await emulator.controls.seed(given);
    const listener = await listen(emulator.app, { host, port });
    const close = once(async () => {
      readiness.state = "draining";
      if (clientsLeave?.()) await listener.drain();
      emulator.release();
      await listener.close(CLOSE_MS_MAX);
      try {
        await atEnd?.(emulator.controls);
      } finally {
        await emulator.close();
      }
    });
    const url = urlOf({ host: callableHost(host), port }, listener.port);
    return {
      ...untilClosed(emulator.controls, () => readiness.state === "draining"),
      url,
      port: listener.port ?? port,
      token: EMULATOR_TOKEN,
      controlToken,
      env: { MEMSYNC_URL: url, MEMSYNC_TOKEN: EMULATOR_TOKEN },
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (thrown) {
    await emulator.close();
    throw thrown;
  }
}

/**
 * How long a client that sent half a request, and never sends the rest, can delay the emulator's
 * end. Less than test runners give a hook.
 */
const CLOSE_MS_MAX = 1000;

const EMULATOR_TOKEN = "mst_dev_pro";

/** Every call is the first one. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

/** An existing folder keeps its permissions, because the files in it are private. */
async function databaseIn(dataDir: string): Promise<string> {
  try {
    await makeFolder(dataDir, PRIVATE_FOLDER);
  } catch (thrown) {
    const why = fileFailure(thrown);
    throw new AppError("invalid_request", `the folder ${dataDir} can't be used: ${why}`);
  }
  return join(dataDir, "emulator.db");
}
