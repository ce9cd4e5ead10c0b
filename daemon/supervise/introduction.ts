import { isObject } from "../../shared/json.ts";
import { VERSION } from "../../shared/version.ts";

/** Incremented when the daemon's own calls change in a way that misleads an older command line. */
export const PROTOCOL = 1;

/** How a daemon was started, which decides who can start it again. */
export type Started = "foreground" | "background" | "service";

/**
 * What a daemon tells about itself. `GET /_memsync/daemon` returns it in every version, so fields
 * may only be added.
 */
export interface Introduction {
  readonly version: string;
  readonly protocol: number;
  readonly started: Started;
  readonly pid: number;
  /** The service that its environment names. Never includes a token. */
  readonly environment: ServiceVariables;
  /** What new projects are synced with; undefined where an older daemon does not tell. */
  readonly service?: ServiceInUse | undefined;
}

/** A service as a running daemon uses it. */
export interface ServiceInUse {
  /** Null for the embedded one. */
  readonly url: string | null;
  /** Distinguishes its token; see `digestOfToken`. Null where it has none. */
  readonly token: string | null;
  /** Undefined: it is not known to be another's than the home's user's. */
  readonly another?: AnotherToken | undefined;
}

/** That a daemon's token is another's than the home's user's. */
export interface AnotherToken {
  /** The account whose `user` and `global` are not that one's. */
  readonly account: string;
  readonly message: string;
}

/** The daemon's settings from variables. */
export interface ServiceVariables {
  readonly url: string | null;
  readonly has_token: boolean;
  /** The gateway's port, if it is fixed. */
  readonly gateway_port: string | null;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** What this process tells about itself when it runs as the daemon. */
export function introduce(started: Started, variables: Variables): Introduction {
  return {
    version: VERSION,
    protocol: PROTOCOL,
    started,
    pid: process.pid,
    environment: serviceVariables(variables),
  };
}

export function serviceVariables(variables: Variables): ServiceVariables {
  return {
    url: variables.MEMSYNC_URL || null,
    has_token: Boolean(variables.MEMSYNC_TOKEN),
    gateway_port: variables.MEMSYNC_GATEWAY_PORT || null,
  };
}

/** Reads an introduction. Fields that an older daemon leaves out get the most cautious value. */
export function parseIntroduction(value: unknown): Introduction {
  const fields = isObject(value) ? value : {};
  const environment = isObject(fields.environment) ? fields.environment : {};
  return {
    version: typeof fields.version === "string" ? fields.version : "0.0.0",
    protocol: typeof fields.protocol === "number" ? fields.protocol : 0,
    started: startedOf(fields.started),
    pid: typeof fields.pid === "number" ? fields.pid : 0,
    environment: {
      url: typeof environment.url === "string" ? environment.url : null,
      has_token: environment.has_token === true,
      gateway_port: typeof environment.gateway_port === "string" ? environment.gateway_port : null,
    },
    service: isObject(fields.service) ? serviceInUse(fields.service) : undefined,
  };
}

function serviceInUse({ url, token, another }: Readonly<Record<string, unknown>>): ServiceInUse {
  return {
    url: typeof url === "string" ? url : null,
    token: typeof token === "string" ? token : null,
    another: isObject(another) ? anotherToken(another) : undefined,
  };
}

function anotherToken({ account, message }: Readonly<Record<string, unknown>>) {
  return typeof account === "string" && typeof message === "string"
    ? { account, message }
    : undefined;
}

/** Anything unknown counts as started by hand: then nothing starts it again unasked. */
export function startedOf(value: unknown): Started {
  return value === "background" || value === "service" ? value : "foreground";
}

/** Whether a running daemon is of the same version as this command line. */
export type Age = "same" | "older" | "newer";

/**
 * The protocol counts more than the version, because a checkout may change without a new number.
 */
export function ageOf(daemon: Pick<Introduction, "version" | "protocol">): Age {
  const difference = daemon.protocol - PROTOCOL || compareVersions(daemon.version, VERSION);
  if (difference === 0) return "same";
  return difference < 0 ? "older" : "newer";
}

/** Order of semantic versions (https://semver.org/#spec-item-11): negative when `one` is older. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map(partsOf);
  if (!left || !right) return 0;
  for (let at = 0; at < 3; at++) {
    const difference = (left.numbers[at] ?? 0) - (right.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.before === undefined || right.before === undefined) {
    return Number(left.before === undefined) - Number(right.before === undefined);
  }
  return compareIdentifiers(left.before, right.before);
}

interface VersionParts {
  readonly numbers: readonly number[];
  /** The parts of a pre-release version, such as `beta` and `2`. */
  readonly before: readonly string[] | undefined;
}

function partsOf(version: string): VersionParts {
  const [, numbers = "", before] = /^v?([\d.]*)(?:-([^+]*))?/.exec(version) ?? [];
  return { numbers: numbers.split(".").map(Number), before: before?.split(".") };
}

function compareIdentifiers(one: readonly string[], other: readonly string[]): number {
  for (let at = 0; at < Math.min(one.length, other.length); at++) {
    const [left = "", right = ""] = [one[at], other[at]];
    if (left === right) continue;
    const [leftIsNumber, rightIsNumber] = [left, right].map((each) => /^\d+$/.test(each));
    if (leftIsNumber && rightIsNumber) return Number(left) - Number(right);
    if (leftIsNumber !== rightIsNumber) return leftIsNumber ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return one.length - other.length;
}
