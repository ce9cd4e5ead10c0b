import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { fileFailure } from "../../shared/file-failures.ts";
import { isObject } from "../../shared/json.ts";
import { nearWords } from "../../shared/near-words.ts";
import { isPostgresAddress } from "../../shared/sqlite/dialects.ts";
import {
  flagOf,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type Settings,
  VARIABLE_PREFIX,
  variableOf,
} from "./setting.ts";

/** The source of a value, strongest first. */
export type Source = "flag" | "environment" | "file" | "default";

/** Values as they were written, by setting. Missing ones were not given. */
export type GivenSettings = { readonly [name in SettingName]?: string };

/** A server's settings, and the source of each. */
export interface ReadSettings {
  readonly settings: Settings;
  readonly sources: Readonly<Record<SettingName, Source>>;
}

/** All problems of a configuration, one line each. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";

  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

/** A variable that is no setting. */
const CONFIG_VARIABLE = `${VARIABLE_PREFIX}CONFIG`;

/**
 * Reads a server's configuration: flags override the environment, which overrides the file, which
 * overrides defaults. `configPath`: the argument of `--config`. Relative paths start at `dir`;
 * those in the file, at its folder. Throws a `SettingsError` with all problems, including unknown
 * names.
 *
 * ```
 * const { settings } = readSettings({ port: "8080" }, undefined, { env, dir });
 * ```
 */
export function readSettings(
  flags: GivenSettings,
  configPath: string | undefined,
  {
    env,
    dir,
  }: { readonly env: Readonly<Record<string, string | undefined>>; readonly dir: string },
): ReadSettings {
  const problems: string[] = [];
  const path = configPath ?? (env[CONFIG_VARIABLE] || undefined);
  const file = path === undefined ? {} : readFile(resolve(dir, path), problems);
  const variables = readVariables(env, problems);
  const values: Partial<Record<SettingName, unknown>> = {};
  const sources: Partial<Record<SettingName, Source>> = {};
  for (const name of SETTING_NAMES) {
    const candidates: readonly (readonly [Source, string, string | undefined])[] = [
      ["flag", flagOf(name), flags[name]],
      ["environment", variableOf(name), variables[name]],
      ["file", `${name} in the file`, file[name]],
    ];
    sources[name] = "default";
    values[name] = SETTINGS[name].initial;
    for (const [source, where, text] of candidates.toReversed()) {
      if (text === undefined) continue;
      sources[name] = source;
      // Every source is checked, because a mistake that a flag overrides is still a mistake.
      values[name] = parsed(name, where, { text, problems });
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);
  // The loop has set both for every name.
  return { settings: values as Settings, sources: sources as ReadSettings["sources"] };
}

/** The file that a database's address names, or a PostgreSQL's address as it is. */
export function databasePath({ database_url: url }: Settings, dir: string): string {
  return isPostgresAddress(url) ? url : resolve(dir, url.slice("sqlite:".length));
}

/** A database's path or address as it may be shown: without its password. */
export function shownDatabase(place: string): string {
  if (!isPostgresAddress(place)) return place;
  const url = new URL(place);
  if (url.password !== "") url.password = "***";
  // Other parameters may be secrets, too.
  url.search = "";
  return url.href;
}

function parsed(
  name: SettingName,
  where: string,
  { text, problems }: { readonly text: string; readonly problems: string[] },
): unknown {
  try {
    return SETTINGS[name].parse(text);
  } catch (thrown) {
    problems.push(`${where} ${messageOf(thrown)}`);
    return undefined;
  }
}

function readVariables(
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): GivenSettings {
  const written: Partial<Record<SettingName, string>> = {};
  const known = new Map(SETTING_NAMES.map((name) => [variableOf(name), name]));
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(VARIABLE_PREFIX) || variable === CONFIG_VARIABLE || !text) continue;
    const name = known.get(variable);
    if (name === undefined) problems.push(unknown(variable, [...known.keys(), CONFIG_VARIABLE]));
    else written[name] = text;
  }
  return written;
}

function readFile(path: string, problems: string[]): GivenSettings {
  const written: Partial<Record<SettingName, string>> = {};
  for (const [name, value] of Object.entries(objectIn(path, problems))) {
    const known = SETTING_NAMES.find((each) => each === name);
    if (known === undefined) problems.push(unknown(`${name} in the file`, SETTING_NAMES, name));
    else if (isScalar(value)) written[known] = `${value}`;
    else if (isListOfText(value)) written[known] = value.join(",");
    else problems.push(`${name} in the file is neither text, a number, true nor false`);
  }
  const { database_url: url } = written;
  // Relative to the file, wherever the server is started.
  if (url?.startsWith("sqlite:") && url !== "sqlite:") {
    written.database_url = `sqlite:${resolve(dirname(path), url.slice("sqlite:".length))}`;
  }
  return written;
}

function objectIn(path: string, problems: string[]): object {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (thrown) {
    problems.push(`the file ${path} can't be read: ${fileFailure(thrown)}`);
    return {};
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // The runtime's message quotes the file, which may contain a secret.
  }
  problems.push(`the file ${path} is not one JSON object`);
  return {};
}

function isScalar(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function isListOfText(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string")
  );
}

function unknown(what: string, names: readonly string[], name = what): string {
  const [near] = nearWords(name, names);
  return `${what} is no setting${near === undefined ? "" : `: did you mean ${near}?`}`;
}
