import { delay, type World } from "../../shared/world.ts";
import type { App } from "../app/app.ts";
import { portHolder } from "./port-holder.ts";

/** Where to listen. Port 0 takes any free one. The caller creates the folder of a unix socket. */
export type ListenAddress =
  | { readonly host: string; readonly port: number }
  | {
      /** Path of the socket; nothing may be there. At most 104 bytes on some systems. */
      readonly unix: string;
      /** Permissions of the socket's file; 0600 when left out. */
      readonly mode?: number;
    };

/** An open port or socket. */
export interface Listener {
  /** Base address, no path: `http://127.0.0.1:4777`; `http://localhost` over a unix socket. */
  readonly url: string;
  /** The port taken; undefined over a unix socket. */
  readonly port: number | undefined;
  /**
   * Asks clients to leave: from now on each answer ends its connection. Resolves after `DRAIN_MS`,
   * when a busy client has had such an answer, and has no request on its way when this is closed;
   * at once where nobody has asked for as long.
   */
  drain(): Promise<void>;
  /**
   * Accepts nothing new, closes the live sockets with 1001, and resolves when the requests under
   * way are answered, or after `graceMs`; `CLOSE_GRACE_MS` when left out.
   */
  close(graceMs?: number): Promise<void>;
}

/** Opens `app` at `address`. Rejects with one clear sentence when it can't. */
export type Listen = (app: App, address: ListenAddress) => Promise<Listener>;

/** How long clients have to be told that they are to leave. */
export const DRAIN_MS = 500;

/** Resolves when whoever asked at `askedAt`, of the monotonic clock, and asks again has left. */
export async function leaving(world: World, askedAt: number | undefined): Promise<void> {
  const isBusy = askedAt !== undefined && world.monotonic() - askedAt < DRAIN_MS;
  if (isBusy) await delay(world, DRAIN_MS);
}

/** How long `close` waits for the requests under way. */
export const CLOSE_GRACE_MS = 5_000;

/** How long a connection may be silent, in seconds. Longer than most clients keep an unused one. */
export const IDLE_TIMEOUT_S = 120;

/** How long the head of a request may take to arrive, in seconds; Bun's own is 12. */
export const HEADERS_TIMEOUT_S = 15;

/** Frames up to this size are read at all. The session accepts smaller ones only. */
export const LIVE_FRAME_BYTES_READ_MAX = 1024 * 1024;

/** The base address of what is open at `address`; an IPv6 host is in brackets. */
export function urlOf(address: ListenAddress, port: number | undefined): string {
  if ("unix" in address) return "http://localhost";
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  return `http://${host}:${port}`;
}

/** The message for a person if `address` can't be listened on. */
export function listenError(address: ListenAddress, thrown: unknown): Error {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown error";
  const place =
    "unix" in address ? `the socket ${address.unix}` : `port ${address.port} on ${address.host}`;
  const port = "unix" in address ? undefined : address.port;
  return new Error(`${place} ${problemOf(code, port)}`, { cause: thrown });
}

function problemOf(code: string, port: number | undefined): string {
  if (code === "EADDRINUSE") {
    const holder = port === undefined ? undefined : portHolder(port);
    if (!holder) return "is in use; stop what listens there, or choose another";
    const { command, pid } = holder;
    return `is in use by ${command} (process ${pid}); stop that, or choose another`;
  }
  if (code === "EACCES" || code === "EPERM")
    return "may not be opened by this user; choose another";
  if (["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"].includes(code))
    return "is not an address of this machine";
  return `can't be opened (${code})`;
}

/** Waits for `promise`, but no longer than `graceMs`. */
export async function settledWithin(
  world: World,
  promise: Promise<unknown>,
  graceMs: number,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = world.setTimer(graceMs, resolve);
    promise.then(() => resolve(), reject).finally(() => timer.cancel());
  });
}
