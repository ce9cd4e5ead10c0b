import { splitForm } from "../../../shared/replica/text-form.ts";
import type { Cluster } from "./cluster.ts";
import type { Machine } from "./machine.ts";
import { SERVER } from "./server-node.ts";
import { type Shadow, valuesOf, viewOf } from "./shadow.ts";

/** What still differs, or waits, when nothing happens any more; empty when all is at rest. */
export function differences(cluster: Cluster): string[] {
  const { machines, server } = cluster;
  const found: string[] = [];
  if (!server.isUp) found.push("the service is down");
  for (const machine of machines) {
    if (machine.running) found.push(...waiting(machine));
    else found.push(`${machine.name} is down`);
  }
  const names = new Set(
    [server, ...machines].flatMap(({ shadow }) => [...shadow.documents.keys()]),
  );
  for (const name of [...names].sort()) {
    const expected = viewOf(server.shadow.documents.get(name));
    for (const { name: node, shadow } of machines) {
      const view = viewOf(shadow.documents.get(name));
      if (view !== expected) found.push(`${name}: ${node} has ${view}, ${SERVER} ${expected}`);
    }
  }
  for (const machine of machines) found.push(...filesThatDiffer(cluster, machine));
  return found;
}

function waiting(machine: Machine): string[] {
  const { name, running } = machine;
  if (!running) return [];
  const { engine, followers } = running;
  const found: string[] = [];
  if (!engine.contact.online) found.push(`${name} is offline: ${engine.contact.message}`);
  if (!engine.contact.live) found.push(`${name} has no live socket`);
  for (const { status } of followers.files()) {
    if (status.state !== "followed") found.push(`${name}: ${status.path} ${status.note}`);
  }
  return found;
}

function filesThatDiffer(cluster: Cluster, machine: Machine): string[] {
  return cluster.projects.flatMap((project) => {
    const file = cluster.editor.textOf(machine, project);
    const content = machine.shadow.documents.get(project)?.content() ?? "";
    if (file === content) return [];
    return [`${machine.name}'s file of ${project} is ${show(file)}, not ${show(content)}`];
  });
}

/** What the runs' ledgers say of a cluster that is at rest. */
export function checkLedgers(cluster: Cluster): void {
  const { documents } = cluster.server.shadow;
  cluster.memories.checkAtRest((document, key) => valuesOf(documents.get(document), key));
  for (const [project, ledger] of cluster.texts) {
    ledger.checkAtRest(documents.get(project)?.content() ?? "");
  }
}

/** Rows and files on the disks, against what was announced. */
export async function checkDisks(cluster: Cluster): Promise<void> {
  for (const machine of cluster.machines) {
    const { running, name, shadow } = machine;
    if (!running) continue;
    const rows = await running.store.reader
      .selectFrom("memories")
      .innerJoin("documents", "documents.id", "memories.document_id")
      .select(["documents.name", "memories.key", "memories.value"])
      .orderBy("memories.row_id")
      .execute();
    const shown = rows.map((row) => [row.name, row.key, row.value].join("\n"));
    compareRows(cluster, name, shown, shadow);
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
      return [name === "user" ? "user/local" : name, key, valuesOf(document, key)[0]].join("\n");
    });
  });
  if (shown.toSorted().join("\n\n") === expected.toSorted().join("\n\n")) return;
  cluster.report(`${node}'s rows are not what its documents hold`);
}

function show(text: string): string {
  return JSON.stringify(splitForm(text).lines);
}
