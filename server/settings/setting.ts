import { messageOf } from "../../shared/errors.ts";
import { isPostgresAddress } from "../../shared/sqlite/dialects.ts";
import { Networks } from "../http/networks.ts";
import { LOG_LEVELS } from "../operations/open-log.ts";

/** One setting of a server, from a flag, the environment or a file. */
export interface Setting<Value = unknown> {
  /** What `--help` and the documentation say. */
  readonly help: string;
  /** The form of its value, for `--help`; a flag without a value has none. */
  readonly form?: string;
  readonly initial: Value;
  /** Never shown. */
  readonly secret?: boolean;
  /** Parses the value of a flag, a variable or a file's string or number. Throws what is wrong. */
  parse(text: string): Value;
}

const PORT_MAX = 65_535;
const SECONDS_MAX = 3600;

/** All settings of `memsync server`, by their names in a file; flags have hyphens. */
export const SETTINGS = {
  database_url: {
    help: "where the data is kept",
    form: "sqlite:PATH|postgres://…",
    initial: "sqlite:memsync-server.db",
    parse: databaseAddress,
  },
  host: {
    help: "address to listen on; on a loopback address only this machine's names are served",
    form: "host",
    initial: "127.0.0.1",
    parse: matching(/^[^\s/]+$/, "is an address or a name of this machine"),
  },
  port: {
    help: "port to listen on; 0 takes any free one",
    form: "port",
    initial: 4777,
    parse: wholeNumber(0, PORT_MAX),
  },
  allowed_hosts: {
    help: "names that a proxy on this machine serves it under, with commas between",
    form: "names",
    initial: [],
    parse: hostNames,
  },
  trusted_proxies: {
    help: "addresses and networks of proxies that tell the client's address (X-Forwarded-For)",
    form: "addresses",
    initial: [],
    parse: proxyNetworks,
  },
  log_level: {
    help: `how much is logged to standard error: ${LOG_LEVELS.join(", ")}`,
    form: "level",
    initial: "info",
    parse: oneOf(LOG_LEVELS),
  },
  metrics_token: {
    help: "the bearer token that reads /metrics from anywhere; without one, this machine may",
    form: "token",
    initial: undefined,
    secret: true,
    parse: matching(/^[^\s]{16,}$/, "is at least 16 characters without white space"),
  },
  limits: {
    help: "whether requests are held to the accounts' plans: on or off",
    form: "on|off",
    initial: "on",
    parse: oneOf(["on", "off"] as const),
  },
  published_only: {
    help: "serve the published specification and nothing else",
    initial: false,
    parse: trueOrFalse,
  },
  live_sockets_max: {
    help: "live sockets that may be open at once",
    form: "count",
    initial: 10_000,
    parse: wholeNumber(1, 1_000_000),
  },
  live_sockets_per_account_max: {
    help: "live sockets that one account may have open at once",
    form: "count",
    initial: 1000,
    parse: wholeNumber(1, 1_000_000),
  },
  shutdown_delay: {
    help: "seconds for which a server that was told to end still serves, /readyz saying 503",
    form: "seconds",
    initial: 0,
    parse: wholeNumber(0, SECONDS_MAX),
  },
  shutdown_timeout: {
    help: "seconds that requests under way are then given to be answered",
    form: "seconds",
    initial: 8,
    parse: wholeNumber(0, SECONDS_MAX),
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** A setting's name, as a file has it. */
export type SettingName = keyof typeof SETTINGS;

/** All names, in the order in which they are documented. */
// `SETTINGS` is written out above, so that it has no other names.
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** A value for every setting. */
export type Settings = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name]["initial"] | ParsedBy<Name>;
};

type ParsedBy<Name extends SettingName> = ReturnType<(typeof SETTINGS)[Name]["parse"]>;

/** `--log-level` */
export function flagOf(name: SettingName): string {
  return `--${name.replaceAll("_", "-")}`;
}

/** The prefix of every setting's variable. An unknown name with this prefix is a mistake. */
export const VARIABLE_PREFIX = "MEMSYNC_SERVER_";

/** `MEMSYNC_SERVER_LOG_LEVEL` */
export function variableOf(name: SettingName): string {
  return `${VARIABLE_PREFIX}${name.toUpperCase()}`;
}

function matching(pattern: RegExp, otherwise: string): (text: string) => string {
  return (text) => {
    if (pattern.test(text)) return text;
    throw new Error(otherwise);
  };
}

const POSTGRES_FORM = "postgres://USER:PASSWORD@HOST/DATABASE";

function databaseAddress(text: string): string {
  if (isPostgresAddress(text)) {
    const url = URL.parse(text);
    if (url === null) throw new Error(`is no address, as by a port over 65535: ${POSTGRES_FORM}`);
    if (url.pathname.length > 1) return text;
    throw new Error(`names no database: ${POSTGRES_FORM}`);
  }
  if (/^sqlite:.+$/.test(text)) return text;
  throw new Error(`is sqlite:PATH or ${POSTGRES_FORM}`);
}

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d{1,15}$/.test(text) && number >= min && number <= max) return number;
    throw new Error(`is a number from ${min} to ${max}`);
  };
}

function trueOrFalse(text: string): boolean {
  return oneOf(["true", "false"])(text) === "true";
}

function oneOf<Value extends string>(values: readonly Value[]): (text: string) => Value {
  return (text) => {
    const value = values.find((each) => each === text);
    if (value !== undefined) return value;
    throw new Error(`is one of ${values.join(", ")}`);
  };
}

function hostNames(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim().toLowerCase());
  if (names.every((name) => /^[a-z0-9.-]+$/.test(name))) return names;
  throw new Error("is names such as memory.example.com, with commas between, without ports");
}

function proxyNetworks(text: string): readonly string[] {
  const networks = text.split(",").map((network) => network.trim());
  try {
    new Networks(networks);
  } catch (thrown) {
    throw new Error(`is addresses and networks with commas between: ${messageOf(thrown)}`);
  }
  return networks;
}
