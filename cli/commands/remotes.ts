import { basename } from "node:path";
import type { Command } from "commander";
import { EMBEDDED, parseRemoteName, parseServiceUrl } from "../../daemon/home/remote.ts";
import { openKeyring } from "../../daemon/remotes/keyring.ts";
import type { ListedRemote } from "../../daemon/remotes/remote-change.ts";
import { TokenStore } from "../../daemon/remotes/token-store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { rightOf } from "../contact/token-right.ts";
import type { Environment } from "../place/environment.ts";
import { CommandFailed, typed, UsageError } from "../screen/errors.ts";
import { count, sayJson, sayRows, saySentence, table } from "../screen/output.ts";
import { agreeToAnother } from "../writes/agree-to-another.ts";
import { findToken } from "../writes/find-token.ts";
import { changeRemotes, listRemotesOf } from "../writes/remote-changes.ts";

interface JsonFlag {
  readonly json?: boolean;
}

const HELP = `
Each project is bound to one remote, and never goes to another by itself; user and global memories
are kept for each remote. The service named "embedded" is kept in the home. Until the first remote
is added or logged in to, everything follows MEMSYNC_URL.

Examples:
  memsync remote add acme https://acme.example.com
  memsync login --remote acme
  memsync link ~/src/acme-shop --remote acme`;

interface RemoveFlags extends JsonFlag {
  readonly gone?: boolean;
  readonly ofAnother?: boolean;
}

const GONE_HELP = `
In a home that was synced with a service by MEMSYNC_URL alone, and now runs without it, \`rm HOST\`
leaves that service for good: what is here stays in the embedded one, and no variable takes it away.

With --gone the memories of user and global that this machine has of it go into the embedded
service with their histories. What the service was not told of a project that is linked nowhere is
told to nobody: that it was deleted, or to which other project its folder went.`;

/** `remote add`, `remote list` and `remote rm`. */
export function addRemoteCommands(program: Command, env: Environment): void {
  const remote = program
    .command("remote")
    .description("the services that projects are bound to: add, list, rm")
    .addHelpText("after", HELP);
  remote
    .command("add <name> [url]")
    .description("know a service by a name")
    .option("--url <url>", "its address, without /v1 or /api")
    .option("--json", "print it as JSON")
    .action((name: string, url: string | undefined, flags: JsonFlag & { url?: string }) =>
      add(env, name, { given: url ?? flags.url, jsonFlag: flags }),
    );
  remote
    .command("list")
    .description("list the remotes, and where their tokens are")
    .option("--json", "print them as JSON")
    .action((flags: JsonFlag) => list(env, flags));
  remote
    .command("rm <name>")
    .description("forget a remote that nothing is bound to, and its token")
    .option("--gone", "its service will never be back: what waits for it is not sent")
    .option("--of-another", "with --gone: the embedded service may have another owner's")
    .option("--json", "print what was done as JSON")
    .addHelpText("after", GONE_HELP)
    .action((name: string, flags: RemoveFlags) => remove(env, name, flags));
}

async function add(
  env: Environment,
  name: string,
  {
    given,
    jsonFlag: { json },
  }: { readonly given: string | undefined; readonly jsonFlag: JsonFlag },
): Promise<void> {
  if (given === undefined)
    throw new UsageError(`say where it is: \`memsync remote add ${name} https://…\``);
  const url = typed(() => parseServiceUrl(given, "the address"));
  const change = { op: "add", name: typed(() => parseRemoteName(name)), url } as const;
  const { remote } = await changeRemotes(env, change);
  if (json) {
    sayJson({ name: remote.name, url });
    return;
  }
  const next = remote.tokenPlace ? "" : `; \`memsync login --remote ${name}\` gives it a token`;
  saySentence(`${name} is ${url}${next}`);
}

async function list(env: Environment, { json }: JsonFlag): Promise<void> {
  const listed = await listRemotesOf(env);
  // People who wonder why nothing is sent look here, so the services are asked.
  const remotes = await Promise.all(
    listed.map(async (each) => ({ ...each, can_write: await rightHere(env, each) })),
  );
  if (json) {
    sayJson(remotes);
    return;
  }
  const heading = ["NAME", "TOKEN", "HOLDS", "ADDRESS"];
  sayRows(table([heading, ...remotes.map((each) => rowOf(env, each))], SPARE));
}

/** A remote, and whether its service lets the token write; null where that is unknown. */
interface AskedRemote extends ListedRemote {
  readonly can_write: boolean | null;
}

async function rightHere(env: Environment, remote: ListedRemote): Promise<boolean | null> {
  const { url } = remote;
  const token = url === null ? undefined : await findToken(env, remote).catch(() => undefined);
  return url === null || token === undefined ? null : ((await rightOf(url, token)) ?? null);
}

/** The column to leave out first: the contents, which `projects` lists, too. */
const SPARE = [2];

function rowOf(env: Environment, remote: AskedRemote): string[] {
  const notes = [
    ...(remote.default ? ["default"] : []),
    ...(remote.can_write === false ? ["read-only"] : []),
  ];
  const name = notes.length > 0 ? `${remote.name} (${notes.join(", ")})` : remote.name;
  const { user, global } = remote.memories;
  const projects = count(remote.projects.length, "project", "projects");
  const address = remote.url ?? "in the home";
  const holds = `${projects}, user: ${user}, global: ${global}`;
  // An address may be longer than the screen, and is what can be cut.
  return [name, tokenShown(env, remote), holds, address];
}

function tokenShown({ home }: Environment, { url, token }: ListedRemote): string {
  if (url === null) return "needs none";
  if (token === "environment") return "MEMSYNC_TOKEN";
  if (token === "keyring") return "keyring";
  return token === "file" ? basename(home.credentials) : "none";
}

async function remove(
  env: Environment,
  name: string,
  { json, gone = false, ofAnother: given }: RemoveFlags,
): Promise<void> {
  if (name === EMBEDDED) {
    throw new CommandFailed("the embedded service is part of the home and can't be removed");
  }
  const asked = { ofAnother: given, undone: `${name} was not removed` };
  const moving = { from: name, to: EMBEDDED };
  const ofAnother = gone && (await agreeToAnother(env, moving, asked));
  const change = { op: "remove", name, isGone: gone, ofAnother } as const;
  const { remote, own = 0, isLeft } = await changeRemotes(env, change);
  const keyring = openKeyring({ env: env.variables });
  await new TokenStore({ home: env.home, world: realWorld, keyring }).remove(remote);
  if (json) return sayJson({ name, removed: true, memories: own });
  if (isLeft) {
    return saySentence(
      `removed ${name}; what this home has stays in the embedded service, and what ${name} lacks ` +
        `of it is not sent: \`memsync login --url ${remote.url} --move\` would bring all there`,
    );
  }
  const memories = `${count(own, "memory", "memories")} of user and global`;
  const became = gone
    ? `its ${memories} went to \`${EMBEDDED}\`, histories and all: ` +
      `\`memsync list --remote ${EMBEDDED}\``
    : `its ${memories} stay with that service, and are shown here no more`;
  saySentence(own === 0 ? `removed ${name}` : `removed ${name}; ${became}`);
}
