import { expect } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Lab } from "./lab.ts";
import type { Machine } from "./machine.ts";
import { holdsText } from "./service-data.ts";

/** A service in a process of its own, and the folder of its data. */
export interface ServiceFolder {
  readonly url: string;
  readonly data: string;
  end(): Promise<unknown>;
}

/** A service whose data can be looked through. */
export async function service(lab: Lab, name: string): Promise<ServiceFolder> {
  const data = lab.git.path(`service-${name}`);
  mkdirSync(data);
  const emulator = await lab.emulator(data);
  return { url: emulator.url, data, end: () => emulator.end() };
}

/** A folder that is a project of its own, with a followed text. */
export async function project(lab: Lab, name: string): Promise<string> {
  const folder = lab.git.path(name);
  await lab.git.write(join(folder, "CLAUDE.md"), `# Text of ${name}\n`);
  return folder;
}

/** Logs a machine in, by its own account, and agrees to whoever may see `global` there. */
export async function login(machine: Machine, { url }: ServiceFolder, ...args: readonly string[]) {
  const stdin = `mst_dev_${machine.name}\n`;
  const words = ["login", "--url", url, "--token-stdin", "--yes", ...args];
  return await machine.memsyncWith({ stdin }, ...words);
}

/** Saves a memory from a folder. */
export async function set(machine: Machine, cwd: string, key: string, ...args: readonly string[]) {
  await machine.memsyncWith({ cwd }, "set", key, `value of ${key}`, ...args);
}

/** What each of two services may hold, and the other never. */
export function expectApart(
  a: ServiceFolder,
  b: ServiceFolder,
  ofA: readonly string[],
  ofB: readonly string[],
): void {
  const found = [...ofA, ...ofB].map((text) => [
    text,
    holdsText(a.data, text),
    holdsText(b.data, text),
  ]);
  const wanted = [
    ...ofA.map((text) => [text, true, false]),
    ...ofB.map((text) => [text, false, true]),
  ];
  expect(found).toEqual(wanted);
}

/** A machine with two services: A is the default, `pb` is bound to B. */
export async function bothBound(lab: Lab) {
  const [a, b] = [await service(lab, "a"), await service(lab, "b")];
  const [pa, pb] = [await project(lab, "pa"), await project(lab, "pb")];
  const machine = lab.machine("me", pa);
  await login(machine, a);
  await login(machine, b, "--remote", "client-b");
  await machine.up();
  await machine.memsync("link", pb, "--remote", "client-b");
  return { a, b, pa, pb, machine };
}
