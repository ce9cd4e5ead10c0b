import { keyOf, type LocalConflict, listConflicts } from "../../../cli/local/local-conflicts.ts";
import { LOCAL_ACCOUNT } from "../../../daemon/home/local-account.ts";
import type { ProjectId } from "../../../shared/ids.ts";
import { parseTextConflict } from "../../../shared/replica/conflicts/text-conflict-record.ts";
import type { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { disagree } from "../../../shared/replica/document/memory-deletion.ts";
import { TEXT_CONFLICT_PREFIX } from "../../../shared/replica/document/own-metadata.ts";
import { splitForm } from "../../../shared/replica/text/text-form.ts";
import type { Cluster } from "./cluster.ts";
import type { Machine } from "./machine.ts";
import { isBound } from "./moves.ts";
import type { ServerNode } from "./server-node.ts";
import { commonName, type Shadow, viewOf } from "./shadow.ts";
import { standingOf, valuesOf } from "./standing.ts";

/** What still differs, or waits, when nothing happens any more; empty when all is at rest. */
export function differences(cluster: Cluster): string[] {
  const { machines, hosts } = cluster;
  const found: string[] = [];
  for (const { isUp, name } of hosts.servers) if (!isUp) found.push(`${name} is down`);
  for (const machine of machines) {
    if (machine.running) found.push(...waiting(cluster, machine));
    else found.push(`${machine.name} is down`);
  }
  const nodes = [hosts.main, ...machines];
  const names = new Set(nodes.flatMap(({ shadow }) => [...shadow.documents.keys()]));
  for (const name of [...names].sort()) {
    const server = serverOf(cluster, name);
    const expected = viewOf(server.shadow.documents.get(name));
    for (const { name: node, shadow } of machines) {
      const view = viewOf(shadow.documents.get(name));
      if (view !== expected) found.push(`${name}: ${node} has ${view}, ${server.name} ${expected}`);
    }
  }
  for (const machine of machines) found.push(...filesThatDiffer(cluster, machine));
  return found;
}

/** The service that a document is at. */
function serverOf({ hosts, projects }: Cluster, name: string): ServerNode {
  const project = projects.find((id) => id === name);
  return project === undefined ? hosts.main : hosts.of(project);
}

function waiting(cluster: Cluster, machine: Machine): string[] {
  const { name, running } = machine;
  if (!running) return [];
  const { remotes, followers } = running;
  const found: string[] = [];
  for (const { engine, service } of remotes.list()) {
    const { online, socket, why } = engine.contact;
    // A service that is asked nothing any more tells nothing, either.
    const isAsked = cluster.projects.some((id) => cluster.hosts.of(id).url === service.name);
    if (!online && isAsked)
      found.push(`${name} has no contact with ${service.name}: ${why?.message}`);
    if (socket !== "live") found.push(`${name} has no live socket to ${service.name}`);
  }
  for (const project of cluster.projects) {
    const server = cluster.hosts.of(project);
    if (!isBound(machine, project, server)) found.push(`${name} has not bound ${project}`);
  }
  if (cluster.cast.git !== undefined) return found;
  for (const { link, status } of followers.files()) {
    if (status.state === "followed" || isWithoutText(cluster, machine, link.projectId)) continue;
    found.push(`${name}: ${status.path} ${status.note}`);
  }
  return found;
}

/** A tracked file may be another branch's, or be read and not written. */
function filesThatDiffer(cluster: Cluster, machine: Machine): string[] {
  if (cluster.cast.git === "tracked") return [];
  return cluster.projects.flatMap((project) => {
    if (isWithoutText(cluster, machine, project)) return [];
    const file = cluster.files.textOf(machine, project);
    const content = machine.shadow.documents.get(project)?.content() ?? "";
    if (file === content) return [];
    return [`${machine.name}'s file of ${project} is ${show(file)}, not ${show(content)}`];
  });
}

/**
 * A file that is missing, or was emptied by git or made anew without text, says nothing: nobody
 * puts the text there again but a person.
 */
function isWithoutText(cluster: Cluster, machine: Machine, project: ProjectId): boolean {
  if (!cluster.files.exists(machine, project)) return true;
  const files = machine.running?.followers.files() ?? [];
  const why = files.find(({ link }) => link.projectId === project)?.status.why;
  return why?.code === "emptied-by-git" && cluster.files.textOf(machine, project).trim() === "";
}

/** What the runs' ledgers say of a cluster that is at rest. Returns how many lines are double. */
export function checkLedgers(cluster: Cluster): number {
  const documentOf = (name: string) => serverOf(cluster, name).shadow.documents.get(name);
  cluster.memories.checkAtRest((document, key) => standingOf(documentOf(document), key));
  let doubled = 0;
  for (const [project, ledger] of cluster.texts) {
    const document = documentOf(project);
    const text = document?.content() ?? "";
    ledger.checkAtRest(text, toldBy(document));
    doubled += ledger.doubled(text);
  }
  return doubled;
}

/** All versions that a document's conflicts show. */
export function toldBy(document: ReplicaDocument | undefined): string {
  if (!document) return "";
  const keys = [...document.metadata.keys()].filter((key) => key.startsWith(TEXT_CONFLICT_PREFIX));
  return keys
    .flatMap((key) => document.metadata.get(key))
    .flatMap(({ value }) => parseTextConflict("", value)?.versions ?? [])
    .map(({ text }) => text)
    .join("\n");
}

/** Rows and files on the disks, against what was announced. */
export async function checkDisks(cluster: Cluster): Promise<void> {
  await cluster.secrets.checkAtRest();
  for (const lost of await cluster.files.saves.missing(cluster.scheduler.now)) cluster.report(lost);
  for (const machine of cluster.machines) {
    const { running, name, shadow } = machine;
    if (!running) continue;
    const rows = await running.store.reader
      .selectFrom("memories")
      .innerJoin("documents", "documents.id", "memories.document_id")
      .where((row) => row.or([row("owner", "=", LOCAL_ACCOUNT), row("name", "like", "proj%")]))
      .select(["documents.name", "memories.key", "memories.value", "memories.entry_ids"])
      .orderBy("memories.row_id")
      .execute();
    const shown = rows.map((row) => [row.name, row.key, row.value, row.entry_ids].join("\n"));
    compareRows(cluster, name, shown, shadow);
    checkMoves(cluster, machine, await listConflicts(running.store.reader));
  }
}

/**
 * Where a memory stands that somebody moved, while somebody else deleted it or moved it elsewhere,
 * each machine tells of that.
 */
function checkMoves(
  cluster: Cluster,
  { name, shadow }: Machine,
  conflicts: readonly LocalConflict[],
): void {
  for (const { document, key, deletion, moved } of cluster.memories.moves()) {
    const left = shadow.documents.get(document);
    const standing = standingOf(left, key);
    const isOpen = standing.includes(deletion) && disagree(left?.deletionsOf(key) ?? []);
    const isThere = valuesOf(shadow.documents.get(moved.document), key)[0] === moved.value;
    if (!isOpen || !isThere || valuesOf(left, key).length > 0) continue;
    const isTold = conflicts.some((each) => {
      return (
        each.kind === "move" && commonName(each.document.name) === document && keyOf(each) === key
      );
    });
    if (!isTold) cluster.report(`${name} does not tell that ${key} was moved, and not by all`);
  }
}

function compareRows(
  cluster: Cluster,
  node: string,
  shown: readonly string[],
  shadow: Shadow,
): void {
  const expected = [...shadow.documents].flatMap(([name, document]) => {
    return [...document.memories.keys()].map((key) => {
      const row = [name === "user" ? "user/local" : name, key, valuesOf(document, key)[0]];
      const entries = [...document.memories.get(key), ...document.deletionsOf(key)];
      const ids = entries.map(({ id }) => [id.client, id.clock]);
      return [...row, JSON.stringify(ids)].join("\n");
    });
  });
  if (shown.toSorted().join("\n\n") === expected.toSorted().join("\n\n")) return;
  cluster.report(`${node}'s rows are not what its documents hold`);
}

function show(text: string): string {
  return JSON.stringify(splitForm(text).lines);
}
