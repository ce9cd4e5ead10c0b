import { expect, test } from "bun:test";
import { listTextConflicts } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { manualTimers } from "../support/manual-timers.ts";
import { engineOf, settle, startPlain, write } from "../support/plain-cluster.ts";
import { PROJECT } from "../support/sync-cluster.ts";
import { waitFor } from "../support/wait-for.ts";

const TEXT = "# Project\n\nRules.\n";

test("the text of a file goes by the call that makes its project, and is taken once", async () => {
  const [cluster, machine] = await startPlain();
  const { world } = manualTimers();
  const projects = () => new Map([[PROJECT, "one"]]);
  const taken: string[] = [];
  const lookAtFiles = async (project: string) => {
    taken.push(`${project} after ${calls.length} calls`);
    await write(machine, TEXT);
  };
  const { engine, calls } = engineOf(cluster, machine, { world, projects, lookAtFiles });
  engine.start();
  const path = `/api/projects/${PROJECT}`;
  await waitFor("the text to be sent", () => calls.filter((each) => each.endsWith("/sync"))[3]);
  // A call about several, one with an exchange, and the project is made.
  expect(calls.slice(0, 3)).toEqual(["POST /api/sync", `POST ${path}/sync`, "POST /api/projects"]);
  expect(calls.slice(3, 6)).toEqual([`POST ${path}/sync`, `GET ${path}`, `POST ${path}/sync`]);
  expect(taken).toEqual([`${PROJECT} after 2 calls`]);
  await engine.stop();
  await cluster.stop();
});

test("what another machine sends while the files are taken is merged, not written over", async () => {
  const [cluster, machine, other] = await startPlain();
  const { world } = manualTimers();
  const projects = () => new Map([[PROJECT, "one"]]);
  const lookAtFiles = async () => {
    await write(machine, `${TEXT}\nOne.\n`);
    await write(other, `${TEXT}\nOther.\n`);
    await settle(other);
  };
  const { engine } = engineOf(cluster, machine, { world, projects, lookAtFiles });
  engine.start();
  const textOf = (each: typeof machine) => each.read(({ document }) => document.content());
  const hasBoth = (text: string) => text.includes("One.") && text.includes("Other.");
  await waitFor("both texts on both", async () => {
    await engine.syncNow();
    await settle(other);
    return hasBoth(await textOf(machine)) && hasBoth(await textOf(other));
  });
  await engine.stop();
  await cluster.stop();
});

test("what only a service's text has when it is met is told: it may have been deleted here", async () => {
  const [cluster, machine, other] = await startPlain();
  await write(other, `${TEXT}\nA wrong one.\n`);
  await settle(other);
  await write(machine, `${TEXT}\nA wrong one.\n`);
  await write(machine, TEXT);
  await settle(machine);
  const text = await machine.read(({ document }) => document.content());
  expect(text).toBe(`${TEXT}\nA wrong one.\n`);
  const told = await machine.read(({ document }) => listTextConflicts(document));
  const versions = told.map((each) => each.versions.map((version) => version.text.trim()));
  expect(versions).toEqual([["", "A wrong one."]]);
  await cluster.stop();
});
