import type { Command } from "commander";
import { keepHeard } from "../../daemon/home/audience-store.ts";
import {
  EMBEDDED,
  isSameAddress,
  noSuchRemote,
  parseRemoteName,
  parseServiceUrl,
  type Remote,
  type TokenPlace,
} from "../../daemon/home/remote.ts";
import { checkToken, type TokenRights } from "../../daemon/remotes/check-token.ts";
import { openKeyring } from "../../daemon/remotes/keyring.ts";
import { parseToken } from "../../daemon/remotes/parse-token.ts";
import { describeRemotes } from "../../daemon/remotes/remote-change.ts";
import { TokenStore } from "../../daemon/remotes/token-store.ts";
import { digestOfToken } from "../../daemon/service/token-digest.ts";
import { AppError } from "../../shared/errors.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { ask, askSecret, confirm, isTerminal } from "../screen/ask.ts";
import { CommandFailed, typed, UsageError } from "../screen/errors.ts";
import { count, sayAside, sayJson, saySentence } from "../screen/output.ts";
import { shownWhile } from "../screen/shown-while.ts";
import { expirySentence } from "../views/token-expiry.ts";
import { agreeToAddress } from "../writes/agree-to-address.ts";
import { readOfAnother } from "../writes/agree-to-another.ts";
import { findToken } from "../writes/find-token.ts";
import { changeHome } from "../writes/inbox-write.ts";
import {
  findEmbedded,
  type Moved,
  moveEmbedded,
  moveHint,
  NOTHING_MOVED,
  stayLine,
} from "../writes/move-embedded.ts";
import { changeRemotes, listRemotesOf } from "../writes/remote-changes.ts";
import { staysElsewhere } from "../writes/stays-elsewhere.ts";

interface LoginFlags {
  readonly url?: string;
  readonly remote?: string;
  readonly tokenStdin?: boolean;
  readonly default?: boolean;
  readonly move?: boolean;
  readonly ofAnother?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface LogoutFlags {
  readonly remote?: string;
  readonly json?: boolean;
}

const LOGIN_HELP = `
The token is asked for without showing it, or read from standard input; never from the command line.
With --move one that was given before does.
It is tried first, then kept in the system's keyring where that works, else in a file of the home
that only you may read. The first login's service becomes the default: what is linked from then on
is bound to it. What is in the embedded service stays there unless you agree to move it: projects,
and the memories of the layers user and global. What is moved is not there any more. What would be
seen by others in the account's global is moved after a yes, or with --yes.
A service that is at another address now keeps its name: with both, everything that is bound to it
goes there, after a yes, or with --yes.

Examples:
  memsync login --url https://memory.example.com
  memsync login --url https://memory.example.com --token-stdin < token.txt
  memsync login --remote acme --url https://acme.example.com     a second service, by a name
  memsync login --remote acme --url https://new.example.com      the same one, elsewhere
  memsync login --move                                           moves there what was here before`;

/** `login` and `logout`. */
export function addLoginCommands(program: Command, env: Environment): void {
  program
    .command("login")
    .description("keep a service's token, and let projects be bound to it")
    .option("--url <url>", "the service's address, without /v1 or /api")
    .option("--remote <name>", "the name to know it by (the host's when left out)")
    .option("--token-stdin", "read the token from standard input")
    .option("--default", "bind new projects to it, even if another service is the default")
    .option("--move", "move everything out of the embedded service into it")
    .option("--no-move", "move nothing, and do not ask")
    .option("--of-another", "with --move: move also what is another account's or user's")
    .option("--yes", "do not ask whether all in the account may see global, or a remote moves")
    .option("--json", "print what was done as JSON")
    .addHelpText("after", LOGIN_HELP)
    .action((flags: LoginFlags) => login(env, flags));
  program
    .command("logout")
    .description("forget a service's token; what is saved here stays")
    .option("--remote <name>", "the remote, instead of the default one")
    .option("--json", "print what was done as JSON")
    .action((flags: LogoutFlags) => logout(env, flags));
}

/** The result of a login. */
interface LoggedIn {
  readonly remote: Remote;
  readonly rights: TokenRights;
  /** The home did not have it before. */
  readonly isNew: boolean;
}

async function login(env: Environment, flags: LoginFlags): Promise<void> {
  const { remote: named } = flags;
  if (named !== undefined) typed(() => parseRemoteName(named));
  const url = await urlMeant(env, flags);
  warnOfPlainHttp(url);
  const { token, rights } = await tokenMeant(env, flags, url);
  const before = await listRemotesOf(env);
  const meant = { name: named, url, told: rights.account };
  const movedFrom = await agreeToAddress(env, { ...meant, yes: flags.yes === true });
  const { remote, becameDefault = false } = await changeRemotes(env, {
    op: "login",
    ...meant,
    makeDefault: flags.default,
    movedFrom,
  });
  const isNew = !before.some(({ name }) => name === remote.name);
  const place = await tokensOf(env).put(remote, token);
  await changeRemotes(env, { op: "token", name: remote.name, place });
  const { account } = rights;
  if (account) {
    const heard = { heard: account, now: realWorld.now(), token: digestOfToken(token) };
    await changeHome(env.home, (db) => keepHeard(db, remote, heard));
  }
  if (!flags.json) {
    saySentence(`logged in to ${remote.name} (${url}): ${rightsLine(rights)}`);
    if (rights.boundTo) saySentence(reachLine(rights.boundTo));
    saySentence(`the token is ${placeLine(env, place)}`);
    const end = account?.token_expires_at;
    if (end !== undefined) saySentence(expirySentence(end, realWorld.now()));
    if (becameDefault) saySentence("what is linked from now on is bound to it");
    if (movedFrom !== undefined) saySentence(`it was at ${movedFrom}, where nothing goes any more`);
    for (const line of await boundLines(env, remote.name)) saySentence(line);
    const others = isNew ? await staysElsewhere(env, { remote, told: account }) : [];
    for (const line of others) saySentence(line);
  }
  warnOfFormer(env, movedFrom);
  const moved = await offerToMove(env, flags, { remote, rights, isNew });
  if (!flags.json) return;
  const { plan = null, canWrite = null, boundTo = null } = rights;
  const { name = null, users = null, token_expires_at: ends = null } = account ?? {};
  const reach = { plan, can_write: canWrite, account: name, users, bound_to: boundTo };
  const told = { ...reach, token_expires_at: ends };
  sayJson({ remote: remote.name, url, ...told, token: place, moved });
}

/**
 * At a terminal: asks for the default service's token where there is none, because nothing is
 * synced without it. Without a yes everything is only kept here.
 */
export async function offerLogin(env: Environment): Promise<void> {
  if (!isTerminal() || env.serviceToken !== undefined) return;
  const environment = remoteEnvironment(env);
  const { url } = environment;
  // Only reads. A home that is damaged or missing is left to the daemon, which repairs or makes it.
  const remotes = await withLocal(env, async (db) => {
    return db ? await describeRemotes(db, environment) : [];
  }).catch(() => []);
  const meant = remotes.find((each) => (url === undefined ? each.default : each.url === url));
  const address = meant?.url ?? url;
  if (!address || meant?.token) return;
  const name = meant ? `${meant.name} (${address})` : address;
  if (!(await confirm(`There is no token of ${name} here. Log in now?`))) return;
  await login(env, { url: address, ...(meant && { remote: meant.name }) });
}

const NAMED_MAX = 8;

/** What is synced with this service from now on. */
async function boundLines(env: Environment, name: string): Promise<string[]> {
  const listed = (await listRemotesOf(env)).find((each) => each.name === name);
  const { projects = [] } = listed ?? {};
  if (projects.length === 0) return [];
  const bound = count(projects.length, "project is", "projects are");
  return [`${bound} bound to it: ${someOf(projects.map(({ name: each }) => each))}`];
}

function someOf(names: readonly string[]): string {
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : "";
  return `${names.slice(0, NAMED_MAX).join(", ")}${more}`;
}

/** A token that the service accepts. */
interface GoodToken {
  readonly token: string;
  readonly rights: TokenRights;
}

/** With `--move`, the stored token while the service accepts it; else one that is asked for. */
async function tokenMeant(env: Environment, flags: LoginFlags, url: string): Promise<GoodToken> {
  const known = flags.move && !flags.tokenStdin ? await knownToken(env, flags, url) : undefined;
  const tried = known === undefined ? undefined : await tryKnown(url, known);
  if (tried) return tried;
  const token = parseToken(await readToken(flags));
  return { token, rights: await tryToken(url, token) };
}

async function tryToken(url: string, token: string): Promise<TokenRights> {
  return await shownWhile(`asking ${url}`, checkToken(url, token, realWorld));
}

/** Undefined if the service refuses it and somebody can be asked for another. */
async function tryKnown(url: string, token: string): Promise<GoodToken | undefined> {
  try {
    return { token, rights: await tryToken(url, token) };
  } catch (thrown) {
    const isRefused = thrown instanceof AppError && thrown.code === "unauthorized";
    if (!isRefused || !isTerminal()) throw thrown;
    sayAside(`${url} does not know the token that is kept here any more`);
    return undefined;
  }
}

/** The environment's token for this service, else the one that a login stored. */
async function knownToken(
  env: Environment,
  { remote }: LoginFlags,
  url: string,
): Promise<string | undefined> {
  const environment = remoteEnvironment(env);
  if (environment.token !== undefined && environment.url === url) return environment.token;
  const listed = (await listRemotesOf(env)).find((each) => {
    return each.url === url && (remote === undefined || each.name === remote);
  });
  return listed && (await findToken(env, listed));
}

/** The address to log in to: the named one, that of the named remote, or the usual one here. */
async function urlMeant(env: Environment, { url, remote }: LoginFlags): Promise<string> {
  if (url !== undefined) return typed(() => parseServiceUrl(url, "--url"));
  const known = await listRemotesOf(env);
  if (remote !== undefined) {
    const found = known.find(({ name }) => name === remote);
    if (!found) throw noSuchRemote(remote);
    if (found.url === null) throw new CommandFailed("the embedded service needs no login");
    return found.url;
  }
  const usual = remoteEnvironment(env).url ?? known.find((each) => each.default)?.url;
  if (usual) return usual;
  if (!isTerminal()) throw new UsageError("say which service: --url https://…");
  return parseServiceUrl(await ask("The service's address: "), "that");
}

async function readToken({ tokenStdin }: LoginFlags): Promise<string> {
  if (tokenStdin) return await new Response(Bun.stdin.stream()).text();
  if (isTerminal()) return await askSecret("The token (it is not shown): ");
  throw new UsageError("there is no terminal to ask for the token: give it by --token-stdin");
}

function warnOfPlainHttp(url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || /^(localhost|127\.|\[::1\]$)/.test(hostname)) return;
  process.stderr.write("memsync: this address is not https: the token goes unencrypted\n");
}

/** As long as the variable names the former address, what is written by default is meant for it. */
function warnOfFormer(env: Environment, movedFrom: string | undefined): void {
  const { url } = remoteEnvironment(env);
  if (movedFrom === undefined || url === undefined || !isSameAddress(url, movedFrom)) return;
  sayAside(`MEMSYNC_URL is still ${url}: unset it, also where the daemon is started`);
}

function tokensOf(env: Environment): TokenStore {
  const keyring = openKeyring({ env: env.variables });
  return new TokenStore({ home: env.home, world: realWorld, keyring });
}

function rightsLine({ plan, canWrite, account }: TokenRights): string {
  const { name = null, users = null } = account ?? {};
  const inAccount = name === null ? "" : `account ${name}, `;
  const shared = users === null ? "" : `${count(users, "user", "users")}, `;
  const onPlan = `${inAccount}${plan === undefined ? "" : `plan ${plan}, `}${shared}`;
  if (canWrite === false) {
    return `${onPlan}the token may only read, so nothing that is saved here reaches the service`;
  }
  return `${onPlan}the token ${canWrite ? "may read and write" : "is good"}`;
}

function reachLine(projects: readonly string[]): string {
  const which = projects.length === 0 ? "" : ` (${someOf(projects)})`;
  return (
    `it is bound to projects${which}: memories of the layers user and global stay on this ` +
    "machine, and those of others do not come"
  );
}

function placeLine(env: Environment, place: TokenPlace): string {
  if (place === "keyring") return "in the system's keyring";
  const isOff = openKeyring({ env: env.variables }) === undefined;
  const why = isOff ? "MEMSYNC_KEYRING is off" : "the system has no keyring that works";
  return `in ${env.home.credentials}, which only you may read; ${why}`;
}

async function offerToMove(
  env: Environment,
  { move, ofAnother = false, yes = false, json }: LoginFlags,
  { remote, rights, isNew }: LoggedIn,
): Promise<Moved> {
  const tell = (line: string) => {
    if (!json) saySentence(line);
  };
  const listed = (await listRemotesOf(env)).find(({ name }) => name === remote.name);
  const embedded = await findEmbedded(env);
  if (!embedded && move) tell("nothing is in the embedded service");
  if (!embedded || move === false) return NOTHING_MOVED;
  if (!move && !listed?.default) {
    if (isNew) tell(stayLine(embedded));
    return NOTHING_MOVED;
  }
  const another = ofAnother
    ? undefined
    : await readOfAnother(env, { from: EMBEDDED, to: remote.name });
  if (another && !(move && isTerminal())) {
    const nevertheless = move ? `, and --of-another moves it to ${remote.name}` : "";
    const line = `${stayLine(embedded)}: ${another.whose}; ${another.way} moves it${nevertheless}`;
    if (move) sayAside(line);
    else tell(line);
    return NOTHING_MOVED;
  }
  const question = `${another?.whose}. Move it to ${remote.name} nevertheless?`;
  if (another && !(await confirm(question))) {
    tell(`${stayLine(embedded)}; ${another.way} moves it`);
    return NOTHING_MOVED;
  }
  if (rights.canWrite === false) {
    tell("nothing is moved out of the embedded service: this token may not write");
  } else if (move || isTerminal()) {
    return await moveEmbedded(env, embedded, {
      ...{ remote, all: move === true, yes, tell },
      ofAnother: ofAnother || another !== undefined,
    });
  } else {
    tell(`${stayLine(embedded)}; ${await moveHint(env, embedded, remote)}`);
  }
  return NOTHING_MOVED;
}

async function logout(env: Environment, { remote: named, json }: LogoutFlags): Promise<void> {
  const remotes = await listRemotesOf(env);
  const listed = remotes.find((each) => (named === undefined ? each.default : each.name === named));
  if (!listed) throw noSuchRemote(named ?? "by default");
  if (listed.url === null) throw new CommandFailed("the embedded service has no token");
  const had = listed.logged_in;
  if (had) {
    const { remote } = await changeRemotes(env, { op: "find", name: listed.name });
    await tokensOf(env).remove(remote);
    await changeRemotes(env, { op: "token", name: listed.name, place: null });
  }
  if (json) sayJson({ remote: listed.name, removed: had });
  else if (had) saySentence(`logged out of ${listed.name}; what is saved here stays`);
  else saySentence(`there is no token of ${listed.name}`);
  if (listed.token === "environment") {
    process.stderr.write("memsync: MEMSYNC_TOKEN is set, and goes on to be used\n");
  }
}
