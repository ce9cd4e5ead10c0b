import { dirname, join } from "node:path";
import type { Volume } from "../disk/volume.ts";
import type { ObjectStore } from "./objects.ts";

const HEADS = "refs/heads/";
const MS_PER_S = 1000;

/** The object stores of a run's projects, by what stands in their clones' `config`. */
export type ObjectStores = ReadonlyMap<string, ObjectStore>;

/** A clone in a folder of a volume. Its refs, logs and index are files there, as git has them. */
export class Repository {
  readonly volume: Volume;
  readonly root: string;
  readonly objects: ObjectStore;

  constructor(volume: Volume, root: string, objects: ObjectStore) {
    this.volume = volume;
    this.root = root;
    this.objects = objects;
  }

  get gitDir(): string {
    return join(this.root, ".git");
  }

  /** The short name of the branch that is checked out, or the commit where it is none. */
  get head(): { readonly branch: string | undefined; readonly commit: string | undefined } {
    const text = this.read("HEAD")?.trim() ?? "";
    if (!text.startsWith("ref: ")) return { branch: undefined, commit: text };
    const ref = text.slice("ref: ".length);
    return { branch: ref.slice(HEADS.length), commit: this.read(ref) };
  }

  /** A file in the git folder; undefined where there is none. */
  read(name: string): string | undefined {
    return this.volume.find(join(this.gitDir, name))?.bytes.toString();
  }

  write(name: string, text: string): void {
    const path = join(this.gitDir, name);
    for (let at = dirname(path); this.volume.holds(at); at = dirname(at)) {
      this.volume.makeFolder(at);
    }
    this.volume.putByPerson(path, Buffer.from(text));
    for (let at = dirname(path); this.volume.holds(at); at = dirname(at)) {
      this.volume.flushFolder(at);
    }
  }

  remove(name: string): void {
    const path = join(this.gitDir, name);
    if (this.volume.find(path)) this.volume.remove(path);
    this.volume.flushFolder(this.gitDir);
  }

  get index(): Map<string, string> {
    return new Map(JSON.parse(this.read("index") ?? "[]") as [string, string][]);
  }

  set index(entries: ReadonlyMap<string, string>) {
    this.write("index", JSON.stringify([...entries]));
  }

  /** Full names and commits of all refs; what `origin/HEAD` points to, too. */
  get refs(): ReadonlyMap<string, string> {
    const prefix = `${this.gitDir}/`;
    const found = this.volume
      .pathsIn(join(this.gitDir, "refs"))
      .map((path): [string, string] => [
        path.slice(prefix.length),
        this.read(path.slice(prefix.length)) ?? "",
      ]);
    return new Map(found.sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  /** Gives a branch another commit, with an entry in its log, and in HEAD's where it is that. */
  setBranch(name: string, commit: string, why: string): void {
    this.write(HEADS + name, commit);
    this.#log(HEADS + name, commit, why);
    if (this.head.branch === name) this.#log("HEAD", commit, why);
  }

  /** Notes where a branch of the remote is, with an entry in its log. */
  setRemote(ref: string, commit: string, why: string): void {
    if (this.read(ref) === commit) return;
    this.write(ref, commit);
    this.#log(ref, commit, why);
  }

  /** The references that have a log. */
  get logged(): readonly string[] {
    const prefix = join(this.gitDir, "logs/");
    const found = this.volume.pathsIn(join(this.gitDir, "logs"));
    return found.map((path) => path.slice(prefix.length)).sort();
  }

  /** Moves HEAD to a branch. */
  setHead(branch: string, why: string): void {
    this.write("HEAD", `ref: ${HEADS}${branch}\n`);
    const commit = this.read(HEADS + branch);
    if (commit !== undefined) this.#log("HEAD", commit, why);
  }

  #log(ref: string, commit: string, why: string): void {
    const name = `logs/${ref}`;
    const at = Math.floor(this.volume.now / MS_PER_S);
    this.write(name, `${this.read(name) ?? ""}${commit}\t${at}\t${why}\n`);
  }
}

/** The clone that a folder of a volume lies in. */
export function repositoryAt(
  volume: Volume,
  folder: string,
  stores: ObjectStores,
): Repository | undefined {
  for (let at = folder; volume.holds(at); at = dirname(at)) {
    const config = volume.find(join(at, ".git", "config"))?.bytes.toString();
    const objects = config === undefined ? undefined : stores.get(config);
    if (objects) return new Repository(volume, at, objects);
  }
  return undefined;
}
