import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import type { Belongings } from "../../daemon/embedded/embedded-service.ts";
import { isPostgresAddress } from "../../shared/sqlite/dialects.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import type { Environment } from "../place/environment.ts";
import { agreeTo } from "../screen/agree.ts";
import { UsageError } from "../screen/errors.ts";
import { count, sayAside, sayJson, sayRows, saySentence, table } from "../screen/output.ts";
import {
  administer,
  type DatabaseFlag,
  databaseAt,
  presentDatabase,
} from "../server/host-database.ts";
import { withDatabase } from "../server/server-settings.ts";

interface Flags extends DatabaseFlag {
  readonly json?: boolean;
}

interface RemovalFlags extends Flags {
  readonly yes?: boolean;
}

type Plan = "pro" | "team";

const RM_HELP = `
Deletes the account with its projects, memories and histories, its users and tokens. A running
server refuses the tokens, and closes their live sockets, within two seconds. The machines that used
them keep what they have, and say that the token is not accepted. There is no way back but a backup.

Examples:
  memsync server account rm acme
  memsync server account rm acme --yes     asks nobody, as in a script`;

const USER_RM_HELP = `
Deletes the user's tokens and their own memories, those of the layer user. Projects and global
memories are the account's, and stay. A running server refuses the tokens, and closes their live
sockets, within two seconds. There is no way back but a backup.

Examples:
  memsync server user rm ann --account acme`;

/** `server account …` and `server user …`. */
export function addAccountCommands(server: Command, env: Environment): void {
  const account = server.command("account").description("who may use the server");
  withJson(account.command("create <name>"))
    .description("make an account")
    .addOption(new Option("--plan <plan>").choices(["pro", "team"]).default("pro"))
    .action((name: string, flags: Flags & { plan: Plan }) => create(env, name, flags));
  withJson(account.command("list"))
    .description("list the accounts")
    .action((flags: Flags) => list(env, flags));
  withJson(account.command("plan <account> <plan>"))
    .description("put an account on another plan, pro or team, whose limits hold from then on")
    .action((named: string, plan: string, flags: Flags) => setPlan(env, named, { plan, flags }));
  withYes(account.command("rm <account>"))
    .description("delete an account with all that is in it, after asking")
    .addHelpText("after", RM_HELP)
    .action((named: string, flags: RemovalFlags) => remove(env, named, flags));
  const user = server.command("user").description("the users of an account");
  withAccount(withJson(user.command("list")))
    .description("list the users of an account")
    .action((flags: Flags & { account: string }) => listUsers(env, flags));
  withAccount(withYes(user.command("rm <name>")))
    .description("delete a user with their own memories and tokens, after asking")
    .addHelpText("after", USER_RM_HELP)
    .action((name: string, flags: RemovalFlags & { account: string }) =>
      removeUser(env, name, flags),
    );
}

function withJson(command: Command): Command {
  return withDatabase(command).option("--json", "print it as JSON");
}

function withYes(command: Command): Command {
  return withJson(command).option("--yes", "do it without asking");
}

function withAccount(command: Command): Command {
  return command.requiredOption("--account <account>", "an account's name or id");
}

async function create(env: Environment, name: string, flags: Flags & { plan: Plan }) {
  const path = databaseAt(env, flags);
  const isNew = !isPostgresAddress(path) && !existsSync(path);
  const made = await administer(path, (admin) => admin.createAccount(name, flags.plan));
  if (isNew)
    sayAside(`made a new database, ${path}: a server that is to use it has to be given it`);
  if (flags.json) sayJson({ id: made.id, name: made.name, plan: made.plan });
  else saySentence(`made account ${made.name} (${made.id}) on the plan ${made.plan}`);
}

async function list(env: Environment, flags: Flags): Promise<void> {
  const accounts = await administer(presentDatabase(env, flags), (admin) => admin.listAccounts());
  const shown = accounts.map(({ id, name, plan, createdAt }) => {
    return { id, name, plan, created_at: timestampOf(createdAt) };
  });
  if (flags.json) sayJson(shown);
  else if (shown.length === 0)
    saySentence("no accounts; `memsync server account create NAME` makes one");
  else
    sayRows(
      table(
        shown.map((each) => Object.values(each)),
        [2, 0],
      ),
    );
}

async function setPlan(
  env: Environment,
  named: string,
  { plan, flags }: { readonly plan: string; readonly flags: Flags },
): Promise<void> {
  if (plan !== "pro" && plan !== "team") throw new UsageError("the plan is pro or team");
  const path = presentDatabase(env, flags);
  const { id, name } = await administer(path, (admin) => admin.setPlan(named, plan));
  if (flags.json) sayJson({ id, name, plan });
  else saySentence(`${name} is on the plan ${plan}`);
}

async function remove(env: Environment, named: string, flags: RemovalFlags): Promise<void> {
  await administer(presentDatabase(env, flags), async (_, removal) => {
    const account = await removal.getAccount(named);
    const { id, name } = account;
    const all = await removal.ofAccount(account);
    await agreeTo(`Delete the account ${name} with ${belongingsShown(all)}, for good?`, flags);
    await removal.removeAccount(account);
    if (flags.json) sayJson({ id, name, deleted: true });
    else saySentence(`deleted the account ${name} with ${belongingsShown(all)}`);
  });
}

async function listUsers(env: Environment, flags: Flags & { account: string }): Promise<void> {
  const path = presentDatabase(env, flags);
  const users = await administer(path, (admin) => admin.listUsers(flags.account));
  const shown = users.map(({ id, name, createdAt }) => {
    return { id, name, created_at: timestampOf(createdAt) };
  });
  if (flags.json) sayJson(shown);
  else if (shown.length === 0)
    saySentence("no users; `memsync server token create --account NAME --user NAME` makes one");
  else sayRows(table(shown.map((each) => Object.values(each))));
}

async function removeUser(
  env: Environment,
  name: string,
  flags: RemovalFlags & { account: string },
): Promise<void> {
  await administer(presentDatabase(env, flags), async (_, removal) => {
    const user = await removal.getUser(flags.account, name);
    const { tokens, memories } = await removal.ofUser(user);
    const own = `${count(tokens, "token", "tokens")} and ${memoriesShown(memories)} of their own`;
    await agreeTo(`Delete the user ${name} with ${own}, for good?`, flags);
    await removal.removeUser(user);
    if (flags.json) sayJson({ id: user.id, name, deleted: true });
    else saySentence(`deleted the user ${name} with ${own}; projects stay`);
  });
}

function belongingsShown({ users, tokens, projects, memories }: Belongings): string {
  return [
    count(users, "user", "users"),
    count(tokens, "token", "tokens"),
    count(projects, "project", "projects"),
  ]
    .join(", ")
    .concat(` and ${memoriesShown(memories)}`);
}

function memoriesShown(memories: number): string {
  return count(memories, "memory", "memories");
}
