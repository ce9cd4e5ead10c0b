import { moveWrites } from "../../../cli/writes/move-memory.ts";
import { LOCAL_USER } from "../../../daemon/gateway/mount.ts";
import { LOCAL_ACCOUNT } from "../../../daemon/home/local-account.ts";
import { openHomeDatabase } from "../../../daemon/home/open-home.ts";
import { appendToInbox } from "../../../daemon/inbox/inbox.ts";
import { readLocalMemories } from "../../../daemon/reading/local-memories.ts";
import { type MemoryId, memoryIdOf, type ProjectId } from "../../../shared/ids.ts";
import { LIMITS } from "../../../shared/limits.ts";
import { wireDocumentId } from "../../../shared/replica/document/address.ts";
import { writeTransaction } from "../../../shared/sqlite/transaction.ts";
import { wholeLines } from "./changes.ts";
import type { Cluster } from "./cluster.ts";
import type { Machine } from "./machine.ts";
import type { MemoryWrite } from "./memory-ledger.ts";
import type { ServerNode } from "./server-node.ts";
import { TOKEN } from "./wiring.ts";

const KEYS = ["alpha", "beta", "gamma", "delta"];
const DELETIONS = 0.25;
const TOO_LONG = 0.1;
const TOO_LONG_BYTES = LIMITS.memoryValueBytes + 1;
const BASE = "http://localhost";

/** Where a write of a memory goes, as the interface says it. */
interface Place {
  readonly document: string;
  readonly layer: "project" | "user" | "global";
  readonly project: ProjectId | undefined;
}

function drawPlace({ dice, projects }: Cluster): Place {
  const layer = dice.pick(["project", "project", "project", "user", "global"] as const);
  const project = layer === "project" ? dice.pick(projects) : undefined;
  return { document: project ?? layer, layer, project };
}

function ask(cluster: Cluster, node: string, place: Place): MemoryWrite {
  const { dice, memories } = cluster;
  const [key, deletes] = [dice.pick(KEYS), dice.chance(DELETIONS)];
  const write = memories.ask(node, place.document, { key, deletes });
  const what = write.value === undefined ? `deletes ${write.key}` : `writes "${write.value}"`;
  cluster.note(`${node} ${what} in ${place.document}`);
  return write;
}

function idOf({ document, key }: MemoryWrite): MemoryId {
  return memoryIdOf(wireDocumentId(document === "user" ? "user/any" : document), key);
}

/** Someone on a machine writes or deletes a memory, through the daemon or while it is down. */
export function writeMemory(cluster: Cluster, machine: Machine): void {
  const { running } = machine;
  if (running) writeThroughDaemon(cluster, machine, running);
  else if (!machine.process) cluster.whileDown(machine, () => writeOffline(cluster, machine));
}

function writeThroughDaemon(
  cluster: Cluster,
  machine: Machine,
  { process, services, caller }: NonNullable<Machine["running"]>,
): void {
  const place = drawPlace(cluster);
  const write = ask(cluster, machine.name, place);
  const { layer, project } = place;
  const { key, value } = write;
  const created = { content: value ?? "", layer, key, ...(project && { project_id: project }) };
  const done =
    value === undefined
      ? services.memories.remove(caller, idOf(write))
      : services.memories.create(caller, created);
  void Promise.resolve(done).then(
    () => settle(write, "acknowledged", process.alive),
    () => settle(write, "failed", process.alive),
  );
}

function settle(write: MemoryWrite, state: "acknowledged" | "failed", alive: boolean): void {
  if (alive && write.state === "asked") write.state = state;
}

/** As the command line does without a daemon. */
async function writeOffline(cluster: Cluster, machine: Machine): Promise<void> {
  const place = drawPlace(cluster);
  const to = otherPlace(cluster, place);
  // Chance decides nothing of this, so that each seed's other draws stay as they were.
  if (cluster.memories.count % 3 === 0 && (await moveOffline(cluster, machine, { place, to }))) {
    return;
  }
  const write = ask(cluster, machine.name, place);
  const document = localName(place.document);
  const writtenAt = Math.floor(machine.clock.at(cluster.scheduler.now));
  try {
    const database = await openHomeDatabase(machine.databasePath);
    try {
      await writeTransaction(database.writer, async (db) => {
        const memories = await readLocalMemories(db, document);
        const known = memories.find(({ key }) => key === write.key);
        const { key, value } = write;
        const seen = known?.seen ?? [];
        await appendToInbox(db, { kind: "memory", document, key, value, seen, writtenAt });
      });
      cluster.memories.waitInInbox(write);
    } finally {
      await database.close();
    }
  } catch {
    write.state = machine.isStopped ? "in doubt" : "failed";
    write.waits = machine.isStopped;
  }
}

function localName(document: string): string {
  return document === "user" ? `user/${LOCAL_USER}` : document;
}

function otherPlace({ memories, projects }: Cluster, { layer }: Place): string {
  if (layer !== "project") return projects[0] ?? "global";
  return memories.count % 2 === 0 ? "user" : "global";
}

/**
 * As `memsync move` does without a daemon. What it writes is not quite what was there, since the
 * ledger knows a write by its value. False: there was nothing to move, or something in its way.
 */
export async function moveOffline(
  cluster: Cluster,
  machine: Machine,
  { place, to, key }: { readonly place: Pick<Place, "document">; to: string; key?: string },
): Promise<boolean> {
  const { memories } = cluster;
  const writtenAt = Math.floor(machine.clock.at(cluster.scheduler.now));
  const account = LOCAL_ACCOUNT;
  let writes: MemoryWrite[] = [];
  try {
    const database = await openHomeDatabase(machine.databasePath);
    try {
      await writeTransaction(database.writer, async (db) => {
        const there = new Set((await readLocalMemories(db, localName(to))).map((each) => each.key));
        const wanted = key === undefined ? KEYS : [key];
        const memory = (await readLocalMemories(db, localName(place.document))).find((each) => {
          return each.held === undefined && wanted.includes(each.key) && !there.has(each.key);
        });
        if (!memory) return;
        const asked = { key: memory.key, deletes: false };
        const moved = memories.ask(machine.name, to, asked);
        const left = { ...asked, deletes: true, moved };
        writes = [moved, memories.ask(machine.name, place.document, left)];
        cluster.note(`${machine.name} moves ${memory.key} from ${place.document} to ${to}`);
        const waiting = moveWrites(
          {
            memory: { ...memory, value: moved.value ?? "" },
            place: { document: localName(place.document), account },
            target: { document: localName(to), account },
          },
          writtenAt,
        );
        for (const write of waiting) await appendToInbox(db, write);
      });
      for (const write of writes) memories.waitInInbox(write);
    } finally {
      await database.close();
    }
  } catch {
    for (const write of writes) {
      write.state = machine.isStopped ? "in doubt" : "failed";
      write.waits = machine.isStopped;
    }
  }
  return writes.length > 0;
}

/** A client of the published interface writes or deletes a memory on the service. */
export function writeOnService(cluster: Cluster): void {
  const place = drawPlace(cluster);
  const server = serverOf(cluster, place.project);
  const write = ask(cluster, server.name, place);
  const { key, value } = write;
  const { layer, project } = place;
  // Over the limit it must be refused: what is sent then is no value that the ledger knows.
  const content = cluster.dice.chance(TOO_LONG) ? value?.padEnd(TOO_LONG_BYTES, ".") : value;
  const request =
    content === undefined
      ? requestOf("DELETE", `/v1/memories/${idOf(write)}`)
      : requestOf("POST", "/v1/memories", { content, key, layer, project_id: project });
  const { process } = server;
  server.fetch(request).then(
    (response) => settle(write, response.ok ? "acknowledged" : "failed", process?.alive ?? false),
    () => {
      if (write.state === "asked") write.state = process ? "in doubt" : "failed";
    },
  );
}

/** A client of the published interface replaces the text, from what it read a moment before. */
export async function writeTextOnService(cluster: Cluster): Promise<void> {
  const project = cluster.dice.pick(cluster.projects);
  const path = `/api/projects/${project}`;
  const server = cluster.hosts.of(project);
  const read = await server.fetch(requestOf("GET", path));
  if (!read.ok) return;
  const { claude_md_content: before } = (await read.json()) as { claude_md_content: string };
  const line = cluster.phrases.own("service");
  cluster.note(`${server.name} gets ${line}`);
  const lines = wholeLines(before);
  lines.splice(cluster.dice.below(lines.length + 1), 0, `${line}\n`);
  const after = lines.join("");
  cluster.ledgerOf(project).proposed(after);
  const sent = cluster.hosts.sendText(project, line);
  const body = { claude_md_content: after };
  const answer = await server.fetch(requestOf("POST", `${path}/sync`, body));
  sent.answered = true;
  if (answer.ok) cluster.ledgerOf(project).saved("", line);
}

function serverOf({ hosts }: Cluster, project: ProjectId | undefined): ServerNode {
  return project === undefined ? hosts.main : hosts.of(project);
}

/** Someone writes a memory that looks like a secret, through the daemon or while it is down. */
export function writeSecret(cluster: Cluster, machine: Machine): void {
  const { dice, phrases, secrets, projects } = cluster;
  const { running } = machine;
  if (!running && machine.process) return;
  const write = secrets.ask(machine, dice.pick(projects), phrases.secret);
  const { project, key, value } = write;
  cluster.note(`${machine.name} writes ${key} in ${project}`);
  const settled = () => {
    write.acknowledged = true;
  };
  if (running) {
    const { process, services, caller } = running;
    const created = { content: value, layer: "project", key, project_id: project } as const;
    void Promise.resolve(services.memories.create(caller, created)).then(
      () => process.alive && settled(),
      () => undefined,
    );
    return;
  }
  const writtenAt = Math.floor(machine.clock.at(cluster.scheduler.now));
  const waiting = { kind: "memory", document: project, key, value, seen: [], writtenAt } as const;
  cluster.whileDown(machine, () => appendOffline(machine, waiting).then(settled, () => undefined));
}

async function appendOffline(
  machine: Machine,
  write: Parameters<typeof appendToInbox>[1],
): Promise<void> {
  const database = await openHomeDatabase(machine.databasePath);
  try {
    await writeTransaction(database.writer, (db) => appendToInbox(db, write));
  } finally {
    await database.close();
  }
}

function requestOf(method: string, path: string, body?: unknown): Request {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Request(BASE + path, { method, headers, ...(text !== undefined && { body: text }) });
}
