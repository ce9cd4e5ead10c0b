import { gitRefusalIn } from "../../../../daemon/git/git-refusal.ts";
import type { Git, GitResult } from "../../../../daemon/git/run-git.ts";
import type { Volume } from "../disk/volume.ts";
import type { Commit } from "./objects.ts";
import { type ObjectStores, type Repository, repositoryAt } from "./repository.ts";

const NO_REPOSITORY = "fatal: not a git repository (or any of the parent directories): .git";
const BLOB_MODE = "100644";

type Command = (repository: Repository, args: readonly string[]) => GitResult;

/** What `daemon/files` asks of git, by the command's name. */
const COMMANDS: Readonly<Record<string, Command>> = {
  "rev-parse": revParse,
  "for-each-ref": forEachRef,
  "symbolic-ref": ({ head: { branch } }) =>
    branch === undefined ? refused(1) : done(`refs/heads/${branch}\n`),
  config: () => refused(1),
  remote: (repository) => done(`https://example.com/${repository.read("config")}.git\n`),
  "ls-files": listIndex,
  "ls-tree": listTree,
  "cat-file": catFile,
  "check-ignore": checkIgnore,
  "merge-base": mergeBase,
  "rev-list": listCommits,
  log: (repository, args) => (args.includes("-g") ? reflog : fileLog)(repository, args),
};

/** Answers as git does about the clones in a volume. */
export function createSimGit(volume: Volume, stores: ObjectStores): Git {
  return async (folder, given) => {
    await volume.pause();
    const repository = repositoryAt(volume, folder, stores);
    if (!repository) return refused(128, NO_REPOSITORY);
    const [name = "", ...args] = given.slice(given.findIndex((each) => !each.startsWith("--")));
    const command = COMMANDS[name];
    if (!command) throw new Error(`the simulated git knows no ${given.join(" ")}`);
    return command(repository, args);
  };
}

function done(text: string | Buffer): GitResult {
  return { kind: "done", stdout: Buffer.from(text) };
}

function refused(exitCode: number, message = ""): GitResult {
  return { kind: "refused", exitCode, code: gitRefusalIn(message), message };
}

function withBreak(text: string): string {
  return `${text}\n`;
}

/** What stands behind `--`, or nothing. */
function pathsOf(args: readonly string[]): readonly string[] {
  const at = args.indexOf("--");
  return at < 0 ? [] : args.slice(at + 1);
}

function namesOf(args: readonly string[]): readonly string[] {
  const at = args.indexOf("--");
  return (at < 0 ? args : args.slice(0, at)).filter((each) => !each.startsWith("-"));
}

/** The commit that a ref, or its own id, names. */
function commitOf(repository: Repository, name: string): string | undefined {
  if (name === "HEAD") return repository.head.commit;
  const { refs, objects } = repository;
  const places = [name, `refs/${name}`, `refs/heads/${name}`, `refs/remotes/${name}`];
  const found = places.map((each) => refs.get(each)).find((each) => each !== undefined);
  return found ?? objects.find(name)?.id;
}

/** What kind of repository it is; or `rev-parse --verify COMMIT:PATH`. */
function revParse(repository: Repository, args: readonly string[]): GitResult {
  const { root, gitDir, objects } = repository;
  if (!args.includes("--verify")) {
    return done([root, gitDir, gitDir, "false"].map(withBreak).join(""));
  }
  const [name = "", path = ""] = (namesOf(args)[0] ?? "").split(":");
  const commit = commitOf(repository, name);
  const blob = commit === undefined ? undefined : objects.get(commit).tree.get(path);
  return blob === undefined ? refused(128) : done(withBreak(blob));
}

function forEachRef(repository: Repository, args: readonly string[]): GitResult {
  const format = args.find((each) => each.startsWith("--format="))?.slice("--format=".length);
  const wanted = namesOf(args);
  const isWanted = (ref: string) =>
    wanted.length === 0 ||
    wanted.some((each) => ref === each || ref.startsWith(each.endsWith("/") ? each : `${each}/`));
  const lines = [...repository.refs]
    .filter(([ref]) => isWanted(ref))
    .map(([ref, text]) => {
      const symref = text.startsWith("ref: ") ? text.slice("ref: ".length).trim() : "";
      const commit = symref === "" ? text : (repository.refs.get(symref) ?? "");
      return (format ?? "%(objectname) commit\t%(refname)")
        .replaceAll("%(refname)", ref)
        .replaceAll("%(objectname)", commit)
        .replaceAll("%(symref)", symref);
    });
  return done(lines.map(withBreak).join(""));
}

function listIndex(repository: Repository, args: readonly string[]): GitResult {
  const paths = pathsOf(args).map((each) => each.replace(/^:\(.*?\)/, ""));
  const lines = [...repository.index]
    .filter(([path]) => paths.length === 0 || paths.includes(path))
    .map(([path, blob]) => `H ${BLOB_MODE} ${blob} 0\t${path}`);
  return done(lines.map((line) => line + endOf(args)).join(""));
}

function endOf(args: readonly string[]): string {
  return args.includes("-z") ? "\0" : "\n";
}

function listTree(repository: Repository, args: readonly string[]): GitResult {
  const [ref = ""] = namesOf(args);
  const commit = commitOf(repository, ref);
  if (commit === undefined) return refused(128, `fatal: Not a valid object name ${ref}`);
  const paths = pathsOf(args);
  const lines = [...repository.objects.get(commit).tree]
    .filter(([path]) => paths.length === 0 || paths.includes(path))
    .map(([path, blob]) => `${BLOB_MODE} blob ${blob}\t${path}`);
  return done(lines.map((line) => line + endOf(args)).join(""));
}

/** `cat-file -e COMMIT^{commit}`, or a text. */
function catFile(repository: Repository, args: readonly string[]): GitResult {
  const [what, id = ""] = args;
  if (what === "-e") {
    const commit = commitOf(repository, id.replace("^{commit}", ""));
    return commit === undefined ? refused(128, `fatal: Not a valid object name ${id}`) : done("");
  }
  const bytes = repository.objects.readBlob(id);
  return bytes ? done(bytes) : refused(128, `fatal: Not a valid object name ${id}`);
}

function checkIgnore(repository: Repository, args: readonly string[]): GitResult {
  const ignored = (repository.read("info/exclude") ?? "").split("\n");
  const isIgnored = pathsOf(args).some((path) => ignored.includes(path.replace(/^\.\//, "")));
  return isIgnored ? done("") : refused(1);
}

/** `merge-base --is-ancestor ONE OTHER`, or the newest commit that both have. */
function mergeBase(repository: Repository, args: readonly string[]): GitResult {
  const [one, other] = namesOf(args).map((each) => commitOf(repository, each));
  if (one === undefined || other === undefined) return refused(128, "fatal: Not a valid commit");
  const { objects } = repository;
  if (args.includes("--is-ancestor")) return objects.isAncestor(one, other) ? done("") : refused(1);
  const base = objects.history(one).find(({ id }) => objects.isAncestor(id, other));
  return base ? done(withBreak(base.id)) : refused(1);
}

/** Commits that are reached from some and not from others (`^C`, `A..B`), latest first. */
function revList(repository: Repository, args: readonly string[]): readonly Commit[] | undefined {
  const { objects } = repository;
  const remotes = [...repository.refs].flatMap(([ref, text]) => {
    return ref.startsWith("refs/remotes/") && !text.startsWith("ref: ") ? [ref] : [];
  });
  const names = [
    ...(args.includes("--remotes") ? remotes : []),
    ...namesOf(args).flatMap((name) => {
      const [from, to] = name.split("..");
      return to === undefined ? [name] : [`^${from}`, to];
    }),
  ];
  const commits = names.map((name) => commitOf(repository, name.replace(/^\^/, "")));
  if (commits.includes(undefined)) return undefined;
  const reach = (wanted: boolean) =>
    commits.flatMap((id, at) =>
      names[at]?.startsWith("^") === wanted ? objects.history(id ?? "") : [],
    );
  const known = new Set(reach(true));
  const paths = pathsOf(args);
  const rootsOnly = args.includes("--max-parents=0");
  const found = [...new Set(reach(false))].filter((commit) => {
    if (known.has(commit) || (rootsOnly && commit.parents.length > 0)) return false;
    return paths.length === 0 || paths.some((path) => isChangedBy(repository, commit, path));
  });
  return limited(args, found);
}

function listCommits(repository: Repository, args: readonly string[]): GitResult {
  const found = revList(repository, args);
  if (!found) return refused(128, `fatal: bad revision '${namesOf(args).join(" ")}'`);
  return done(found.map(({ id }) => withBreak(id)).join(""));
}

/** `log --raw` of a path, with the ids, the parents and the times of its commits. */
function fileLog(repository: Repository, args: readonly string[]): GitResult {
  const [path = ""] = pathsOf(args);
  const { objects } = repository;
  const entries = repository.logged.flatMap((ref) => logOf(repository, ref));
  const nothing = "0".repeat(40);
  const shown = (revList(repository, args) ?? []).map(({ id, parents, tree }) => {
    const at = Math.min(...entries.flatMap((entry) => (entry.commit === id ? [entry.at] : [])));
    const time = Number.isFinite(at) ? at : 0;
    const [parent] = parents;
    const before = parent === undefined ? undefined : objects.get(parent).tree.get(path);
    const blobs = [before, tree.get(path)].map((blob) => blob ?? nothing).join(" ");
    const head = [id, parents.join(" "), time, time].join("\t");
    return `\0${head}\n\n:${BLOB_MODE} ${BLOB_MODE} ${blobs} M\t${path}\n`;
  });
  return done(shown.join(""));
}

function isChangedBy({ objects }: Repository, { parents, tree }: Commit, path: string): boolean {
  const blobs = parents.map((parent) => objects.get(parent).tree.get(path));
  if (blobs.length === 0) return tree.has(path);
  return blobs.every((blob) => blob !== tree.get(path));
}

/** At most as many as `-n` or `--max-count` says. */
function limited<Item>(args: readonly string[], items: readonly Item[]): readonly Item[] {
  const [limit] = args.flatMap((each) => /^(?:-n|--max-count=)(\d+)$/.exec(each)?.[1] ?? []);
  return items.slice(0, limit === undefined ? undefined : Number(limit));
}

/** The entries of a reference's log, the newest first. */
function logOf(repository: Repository, ref: string) {
  const lines = (repository.read(`logs/${ref}`) ?? "").split("\n").filter((line) => line !== "");
  return lines.reverse().map((line) => {
    const [commit = "", at = "", why = ""] = line.split("\t");
    return { ref, commit, at: Number(at), why };
  });
}

/** `log -g --date=raw --format=%H%x09%gD%x09%gs REF`, or `--all`; the newest entry first. */
function reflog(repository: Repository, args: readonly string[]): GitResult {
  const [name = "HEAD"] = namesOf(args);
  const places = [name, `refs/${name}`, `refs/heads/${name}`, `refs/remotes/${name}`];
  const { logged } = repository;
  const refs = args.includes("--all") ? logged : places.filter((each) => logged.includes(each));
  const entries = refs.flatMap((ref) => logOf(repository, ref));
  const format = args.find((each) => each.startsWith("--format="))?.slice("--format=".length);
  const shown = limited(args, entries).map(({ ref, commit, at, why }) => {
    return (format ?? "%H%x09%gs")
      .replaceAll("%H", commit)
      .replaceAll("%x09", "\t")
      .replaceAll("%x00", "\0")
      .replaceAll(/%g[dD]/g, `${ref}@{${at} +0000}`)
      .replaceAll("%gs", why);
  });
  return done(shown.map(withBreak).join(""));
}
