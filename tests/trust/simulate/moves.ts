import type { ProjectId } from "../../../shared/ids.ts";
import type { Cluster } from "./cluster.ts";
import type { Machine } from "./machine.ts";
import { OTHER_SERVER, type ServerNode } from "./server-node.ts";

/** A project, a folder or a home gets another place, where the run has that. */
export function moveSomething(cluster: Cluster, machine: Machine): void {
  const { dice, cast, hosts } = cluster;
  const project = dice.pick(cluster.projects);
  if (cast.services > 1 && dice.chance(0.4)) {
    hosts.move(project);
    for (const each of cluster.machines) {
      cluster.scheduler.after(dice.between(0, BIND_MS_MAX), { alive: true }, () => {
        bindAnew(cluster, each, project);
      });
    }
  } else if (cast.moves) moveOne(cluster, machine, project);
}

const BIND_MS_MAX = 6000;

function moveOne(cluster: Cluster, machine: Machine, project: ProjectId): void {
  const { dice } = cluster;
  if (cluster.isDown(machine)) {
    if (dice.chance(0.5)) moveHome(cluster, machine);
    else cluster.homes.restore(machine);
  } else if (machine.running && dice.chance(0.5)) cluster.homes.copy(machine);
  else if (!mayMoveFolder(cluster, machine, project)) return;
  else {
    cluster.note(`${machine.name}'s folder of ${project} is renamed`);
    machine.moveFolder(project);
  }
}

/** A folder that was never looked at is not known by its inode, and not found again. */
function mayMoveFolder({ editor, clones }: Cluster, machine: Machine, project: ProjectId): boolean {
  if (editor.isOpen(machine, project) || clones.running > 0) return false;
  return machine.shadow.documents.get(project)?.everHadText() === true;
}

function moveHome(cluster: Cluster, machine: Machine): void {
  cluster.note(`${machine.name}'s home is moved`);
  machine.moveHome();
}

/** Binds a project on a machine to the service where it is to be, as `link --remote` does. */
export function bindAnew(cluster: Cluster, machine: Machine, project: ProjectId): void {
  const { running } = machine;
  const server = cluster.hosts.of(project);
  if (!running || isBound(machine, project, server)) return;
  cluster.note(`${machine.name} binds ${project} to ${server.name}`);
  bind(machine, project, server).then(
    () => cluster.note(`${machine.name} has bound ${project}`),
    (thrown) => cluster.note(`${machine.name} could not bind ${project}: ${String(thrown)}`),
  );
}

async function bind(machine: Machine, project: ProjectId, server: ServerNode): Promise<void> {
  const { running } = machine;
  if (!running) return;
  const { folders, remotes } = running;
  const remoteAt = () => remotes.view.remotes.find(({ url }) => url === server.url);
  if (!remoteAt()) {
    const name = server.name === OTHER_SERVER ? "other" : "service";
    await folders.changeRemotes({ op: "add", name, url: server.url });
  }
  const name = remoteAt()?.name;
  const dir = machine.folderOf(project);
  if (name !== undefined) await folders.link(dir, { id: project, remote: name });
}

/** Whether a machine syncs a project with this service. */
export function isBound(machine: Machine, project: ProjectId, server: ServerNode): boolean {
  const { running } = machine;
  const account = running?.remotes.bindingOf(project);
  return account !== undefined && running?.remotes.remoteOf(account)?.url === server.url;
}
