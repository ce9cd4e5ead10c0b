import { type Command, Option } from "commander";
import type { TokenRecord } from "../../daemon/embedded/embedded-service.ts";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { parseTimestamp, timestampOf } from "../../shared/timestamps.ts";
import type { Environment } from "../place/environment.ts";
import { UsageError } from "../screen/errors.ts";
import { say, sayAside, sayJson, sayRows, saySentence, table } from "../screen/output.ts";
import { administer, type DatabaseFlag, presentDatabase } from "../server/host-database.ts";
import { withDatabase } from "../server/server-settings.ts";

interface JsonFlag {
  readonly json?: boolean;
}

interface TokenFlags extends DatabaseFlag, JsonFlag {
  readonly account: string;
  readonly user?: string;
  readonly name: string;
  readonly scope: "read" | "write";
  readonly project: readonly string[];
  readonly expires?: string;
}

/** `server token …`. */
export function addTokenCommands(server: Command, env: Environment): void {
  const token = server
    .command("token")
    .description("how users prove that they may: create, list, revoke");
  withDatabase(token.command("create"))
    .description("mint a token; it is shown this once")
    .requiredOption("--account <account>", "an account's name or id")
    .option("--user <name>", "whose token, a new user's too (without it: the owner's)")
    .option("--name <name>", "what the token is for", "token")
    .addOption(new Option("--scope <scope>").choices(["read", "write"]).default("write"))
    .option("--project <id...>", "bind the token to these projects", [])
    .option("--expires <when>", "a timestamp, a day (its end, UTC), or days from now: 90d")
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
      else if (tokens.length === 0)
        saySentence("no tokens; `memsync server token create --account NAME` makes one");
      else sayRows(table(tokens.map(tokenRow), SPARE));
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
  const expiry = flags.expires === undefined ? () => null : parseExpiry(flags.expires);
  const { made, missing } = await administer(presentDatabase(env, flags), async (admin) => {
    const expiresAt = expiry(admin.world.now());
    return {
      made: await admin.createToken({ account, user, name, scope, projects, expiresAt }),
      missing: await admin.missingProjects(account, projects ?? []),
    };
  });
  const { user: owner, isNewUser, ...shown } = made;
  if (isNewUser) sayAside(`${account} has a new user, ${owner}, whose token it is`);
  // A client may choose a project's id, so the token may be there before its project.
  if (missing.length > 0) {
    const which = missing.join(", ");
    sayAside(`${account} has no ${which} yet: where it is mistyped, revoke ${made.id}`);
  }
  if (flags.json) sayJson(shown);
  else say(shown.token);
}

function parseProject(text: string): ProjectId {
  const id = parseProjectId(text);
  if (id !== undefined) return id;
  throw new UsageError("--project is proj_ and 1 to 64 of [0-9A-Za-z_-]");
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The end of a day that is given without a time, in UTC; undefined for any other text. */
function endOfDay(text: string): number | undefined {
  const begin = /^\d{4}-\d\d-\d\d$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined;
  return begin === undefined ? undefined : begin + DAY_MS;
}

/** When it expires, by what the clock of the database's servers shows. */
function parseExpiry(text: string): (now: number) => number {
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1];
  if (days !== undefined) return (now) => now + Number(days) * DAY_MS;
  const end = endOfDay(text);
  const at = end ?? parseTimestamp(text);
  if (at === undefined) {
    throw new UsageError(
      "--expires is a day such as 2027-01-31, a timestamp such as 2027-01-31T09:00:00Z, or a " +
        "number of days such as 90d",
    );
  }
  return (now) => {
    if (at <= now) {
      throw new UsageError(`--expires ${text} is in the past: nobody could use the token`);
    }
    if (end !== undefined) sayAside(`the token expires at the end of ${text}, ${timestampOf(end)}`);
    return at;
  };
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

/** The columns to leave out first: last use, name and owner. */
const SPARE = [4, 1, 2];

function tokenRow(token: TokenRecord): string[] {
  const { id, name, account, user, scope, revoked_at, expires_at, last_used_at } =
    shownToken(token);
  const used = last_used_at === null ? "never used" : `last used ${last_used_at}`;
  const ends = expires_at === null ? "" : `expires ${expires_at}`;
  const state = revoked_at === null ? ends : `revoked ${revoked_at}`;
  return [id, name, `${account}/${user}`, scope, used, state];
}
