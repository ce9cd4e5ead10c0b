import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { type ProjectId, parseProjectId } from "../../../shared/ids.ts";
import { parseTimestamp, timestampOf } from "../../../shared/timestamps.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { HostAdmin, openHostDatabase, type TokenRecord } from "../../embedded-service.ts";
import type { Environment } from "../environment.ts";
import { CommandFailed, UsageError } from "../errors.ts";
import { say, sayJson, table } from "../output.ts";
import { databasePathOf, type SettingFlags, withDatabase } from "../server-settings.ts";

interface DatabaseFlag {
  readonly databaseUrl?: string;
  readonly config?: string;
}

interface JsonFlag {
  readonly json?: boolean;
}

interface TokenFlags extends DatabaseFlag, JsonFlag {
  readonly account: string;
  readonly user: string;
  readonly name: string;
  readonly scope: "read" | "write";
  readonly project: readonly string[];
  readonly expires?: string;
}

/** `server account …` and `server token …`. */
export function addHostCommands(server: Command, env: Environment): void {
  const accounts = server.command("account").description("who may use the server: create, list");
  const tokens = server.command("token").description("how they prove it: create, list, revoke");
  addAccountCommands(accounts, env);
  addTokenCommands(tokens, env);
}

function addAccountCommands(account: Command, env: Environment): void {
  withDatabase(account.command("create <name>"))
    .description("make an account")
    .addOption(new Option("--plan <plan>").choices(["pro", "team"]).default("pro"))
    .option("--json", "print it as JSON")
    .action(async (name: string, flags: DatabaseFlag & JsonFlag & { plan: "pro" | "team" }) => {
      const path = databasePathOf(env, placeOf(flags));
      const made = await administer(path, (admin) => admin.createAccount(name, flags.plan));
      if (flags.json) sayJson({ id: made.id, name: made.name, plan: made.plan });
      else say(`made account ${made.name} (${made.id}) on the plan ${made.plan}`);
    });
  withDatabase(account.command("list"))
    .description("list the accounts")
    .option("--json", "print them as JSON")
    .action(async (flags: DatabaseFlag & JsonFlag) => {
      const accounts = await administer(presentDatabase(env, flags), (admin) =>
        admin.listAccounts(),
      );
      const shown = accounts.map(({ id, name, plan, createdAt }) => {
        return { id, name, plan, created_at: timestampOf(createdAt) };
      });
      if (flags.json) sayJson(shown);
      else if (shown.length === 0)
        say("no accounts; `memsync server account create NAME` makes one");
      else for (const line of table(shown.map((each) => Object.values(each)))) say(line);
    });
}

function addTokenCommands(token: Command, env: Environment): void {
  withDatabase(token.command("create"))
    .description("mint a token; it is shown this once")
    .requiredOption("--account <account>", "an account's name or id")
    .option("--user <name>", "whose token; the user is made when new", "owner")
    .option("--name <name>", "what the token is for", "token")
    .addOption(new Option("--scope <scope>").choices(["read", "write"]).default("write"))
    .option("--project <id...>", "bind the token to these projects", [])
    .option("--expires <when>", "a timestamp, or days from now: 90d")
    .option("--json", "print it as JSON")
    .action((flags: TokenFlags) => createToken(env, flags));
  withDatabase(token.command("list"))
    .description("list what there is of tokens: ids, names and rights, never what was shown once")
    .option("--account <account>", "of this account alone")
    .option("--json", "print them as JSON")
    .action(async (flags: DatabaseFlag & JsonFlag & { account?: string }) => {
      const tokens = await administer(presentDatabase(env, flags), (admin) =>
        admin.listTokens(flags.account),
      );
      if (flags.json) sayJson(tokens.map(shownToken));
      else if (tokens.length === 0) say("no tokens; `memsync server token create` makes one");
      else for (const line of table(tokens.map(tokenRow))) say(line);
    });
  withDatabase(token.command("revoke <id>"))
    .description("end a token, by the id that the list shows")
    .option("--json", "print the id as JSON")
    .action(async (id: string, flags: DatabaseFlag & { readonly json?: boolean }) => {
      await administer(presentDatabase(env, flags), (admin) => admin.revokeToken(id));
      if (flags.json) sayJson({ id, revoked: true });
      else say(`revoked ${id}`);
    });
}

async function createToken(env: Environment, flags: TokenFlags): Promise<void> {
  const { account, user, name, scope } = flags;
  const projects = flags.project.length === 0 ? null : flags.project.map(parseProject);
  const expiresAt = flags.expires === undefined ? null : parseExpiry(flags.expires);
  const made = await administer(presentDatabase(env, flags), (admin) =>
    admin.createToken({ account, user, name, scope, projects, expiresAt }),
  );
  if (flags.json) sayJson(made);
  else say(made.token);
}

function placeOf({ databaseUrl, config }: DatabaseFlag): SettingFlags {
  return { databaseUrl, config };
}

/** The path of the server's database; whoever stands elsewhere is not given a new one. */
function presentDatabase(env: Environment, flags: DatabaseFlag): string {
  const path = databasePathOf(env, placeOf(flags));
  if (existsSync(path)) return path;
  throw new CommandFailed(
    `there is no database at ${path}: name the server's by --database-url, or make an account`,
  );
}

/** Opens the server's database for one piece of work. */
async function administer<Result>(
  path: string,
  work: (admin: HostAdmin) => Promise<Result>,
): Promise<Result> {
  const database = await openHostDatabase(path);
  try {
    return await work(new HostAdmin(database, realWorld));
  } finally {
    await database.close();
  }
}

function parseProject(text: string): ProjectId {
  const id = parseProjectId(text);
  if (id !== undefined) return id;
  throw new UsageError("--project is proj_ and 1 to 64 of [0-9A-Za-z_-]");
}

const DAY_MS = 24 * 60 * 60 * 1000;

function parseExpiry(text: string): number {
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1];
  if (days !== undefined) return realWorld.now() + Number(days) * DAY_MS;
  const at = parseTimestamp(text);
  if (at !== undefined) return at;
  throw new UsageError(
    "--expires is a timestamp such as 2027-01-31T00:00:00Z, or days such as 90d",
  );
}

function shownToken(token: TokenRecord) {
  const at = (time: number | null) => (time === null ? null : timestampOf(time));
  return {
    id: token.id,
    name: token.name,
    account: token.account.name,
    user: token.user.name,
    scope: token.scope,
    projects: token.projects,
    created_at: at(token.createdAt),
    expires_at: at(token.expiresAt),
    last_used_at: at(token.lastUsedAt),
    revoked_at: at(token.revokedAt),
  };
}

function tokenRow(token: TokenRecord): string[] {
  const { id, name, account, user, scope, revoked_at, expires_at, last_used_at } =
    shownToken(token);
  const used = last_used_at === null ? "never used" : `last used ${last_used_at}`;
  const ends = expires_at === null ? "" : `expires ${expires_at}`;
  const state = revoked_at === null ? ends : `revoked ${revoked_at}`;
  return [id, name, `${account}/${user}`, scope, used, state];
}
