import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slugOf } from "../../daemon/assistants/claude-code/memory-folders.ts";
import { MemoryMachine } from "../support/memory-machines.ts";
import { projectId } from "../support/project-id.ts";

let a: MemoryMachine;

beforeEach(async () => {
  a = await MemoryMachine.start("anna");
});
afterEach(async () => {
  await a.remove();
});

test("a folder that two paths may have is left alone, until one is gone", async () => {
  const twin = join(a.folder, "my", "app");
  a.links = [a.linkTo(join(a.folder, "my-app")), a.linkTo(twin, projectId("other"))];
  mkdirSync(join(a.folder, "my-app"));
  mkdirSync(twin, { recursive: true });
  const slug = slugOf(twin) ?? "";
  const folder = join(a.config, "projects", slug, "memory");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "one.md"), "one\n");
  await a.look();
  expect(a.keeper.status).toMatchObject([{ path: folder, why: { code: "memory-several" } }]);
  expect(await a.values("one.md")).toEqual([]);
  a.links = a.links.slice(0, 1);
  await a.look();
  expect(await a.values("one.md")).toEqual(["one\n"]);
  // A path that only the assistant knows counts, too.
  writeFileSync(join(a.folder, ".claude.json"), JSON.stringify({ projects: { [twin]: {} } }));
  writeFileSync(join(folder, "two.md"), "two\n");
  await a.look();
  expect(a.keeper.status).toMatchObject([{ why: { code: "memory-several" } }]);
  expect(await a.values("two.md")).toEqual([]);
});

test("while the assistant's list is half written, it is what it was, or nothing is read", async () => {
  const twin = join(a.folder, "my", "app");
  a.links = [a.linkTo(join(a.folder, "my-app"))];
  const slug = slugOf(twin) ?? "";
  const folder = join(a.config, "projects", slug, "memory");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "one.md"), "one\n");
  const list = join(a.folder, ".claude.json");
  for (const half of ['{"projects":{', ""]) {
    writeFileSync(list, half);
    await a.look();
    expect(await a.values("one.md")).toEqual([]);
  }
  writeFileSync(list, JSON.stringify({ projects: { [twin]: {} } }));
  await a.look();
  expect(a.keeper.status).toMatchObject([{ why: { code: "memory-several" } }]);
  writeFileSync(list, '{"projects":{');
  await a.look();
  expect(await a.values("one.md")).toEqual([]);
  writeFileSync(list, JSON.stringify({ projects: {} }));
  await a.look();
  expect(await a.values("one.md")).toEqual(["one\n"]);
});

test("a renamed project's folder is left alone where its path is another's, linked or not", async () => {
  a.save("one.md", "one\n");
  await a.look();
  const folder = a.memories;
  const renamed = join(a.folder, "shop-old");
  const list = join(a.folder, ".claude.json");
  writeFileSync(list, JSON.stringify({ projects: { [a.project]: {}, [renamed]: {} } }));
  renameSync(a.project, renamed);
  a.links = [a.linkTo(renamed)];
  writeFileSync(join(folder, "two.md"), "two\n");
  await a.look();
  // The path is nobody's, as long as it is not there.
  expect(await a.values("two.md")).toEqual(["two\n"]);
  mkdirSync(a.project);
  writeFileSync(join(folder, "secret.md"), "another client's\n");
  const left = { code: "memory-former", former: renamed, paths: [a.project] };
  const other = projectId("other");
  for (const links of [a.links, [...a.links, a.linkTo(a.project, other)]]) {
    a.links = links;
    await a.look();
    const told = a.keeper.status.find(({ path }) => path === folder);
    expect(told).toMatchObject({ owner: null, why: left });
    expect(await a.values("secret.md")).toEqual([]);
  }
  // Moved away, it is begun anew for the project that is there.
  renameSync(folder, join(a.folder, "away"));
  await a.look();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "three.md"), "three\n");
  await a.look();
  expect(a.keeper.status.find(({ path }) => path === folder)).toMatchObject({ owner: other });
  expect(await a.values("three.md")).toEqual([]);
});

test("of another project, all files of a folder are new", async () => {
  a.save("one.md", "one\n");
  await a.look();
  a.links = [a.linkTo(a.project, projectId("other"))];
  await a.look();
  expect(a.keeper.status).toMatchObject([{ owner: projectId("other"), files: 1, asked: [] }]);
  expect(await a.values("one.md")).toEqual(["one\n"]);
});
