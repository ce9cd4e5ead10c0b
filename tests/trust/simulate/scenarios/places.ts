import { writeSecret } from "../memory-actions.ts";
import { lines, type Stage } from "../stage.ts";
import type { Scenario } from "./scenario.ts";

/** Homes, folders and services that change their place. */
export const PLACES: readonly Scenario[] = [
  {
    name: "what came from a second service is told to the first one when a project comes back",
    cast: { services: 2 },
    play(stage) {
      stage.begin(lines("one"));
      // So that both have something acknowledged there.
      stage.remember(1, "alpha");
      stage.pass();
      stage.remember(2, "gamma");
      stage.pass();
      stage.bindAnew();
      stage.pass();
      const write = stage.cluster.memories.ask("the other service", stage.project, {
        key: "beta",
        deletes: false,
      });
      writeAt(stage, write.key, write.value ?? "");
      write.state = "acknowledged";
      stage.pass();
      stage.expect("the memory on the second machine", stage.valuesOf(2, "beta"), [write.value]);
      stage.bindAnew();
      // It was written at a service that has it still.
      const shown = stage.cluster.hosts.main.shadow.documents.get(stage.project);
      stage.pass();
      stage.expect("at the first service", shown?.memories.get("beta").length, 1);
    },
  },
  {
    name: "a held write goes along when its project is bound anew",
    cast: { services: 2 },
    play(stage) {
      stage.begin(lines("one"));
      writeSecret(stage.cluster, stage.machine(1));
      stage.pass();
      stage.bindAnew();
    },
  },
  {
    name: "what waits while no daemon runs goes to where its project is bound",
    cast: { services: 2 },
    play(stage) {
      stage.begin(lines("one"));
      stage.bindAnew();
      stage.stop(1);
      writeSecret(stage.cluster, stage.machine(1));
      stage.pass();
      stage.start(1);
    },
  },
  {
    name: "nothing of a project goes to its former service",
    cast: { services: 2 },
    play(stage) {
      stage.begin(lines("one"));
      stage.pass();
      stage.bindAnew();
      stage.remember(1, "alpha");
      stage.save(1, lines("one", "for the new one alone"));
      stage.pass();
      stage.syncNow(1);
      stage.pass();
      const document = stage.cluster.hosts.main.shadow.documents.get(stage.project);
      stage.expect("the text at the former service", document?.content(), lines("one"));
    },
  },
  {
    name: "a folder that was renamed while no daemon ran keeps its base",
    play(stage) {
      stage.begin(lines("one", "two", "three"));
      stage.pass();
      stage.stop(1);
      stage.save(1, lines("one", "three"));
      stage.machine(1).moveFolder(stage.project);
      stage.start(1);
      stage.pass(10_000);
      stage.expect("the text", stage.textOf(2), lines("one", "three"));
    },
  },
  {
    name: "a folder that is renamed is followed where it is",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.machine(1).moveFolder(stage.project);
      stage.pass(10_000);
      stage.save(1, lines("one", "two", "in the new folder"));
      stage.pass();
      stage.expect("the other's file", stage.fileOf(2), stage.fileOf(1));
      stage.save(2, `${stage.fileOf(2)}and back\n`);
      stage.pass();
      stage.expect("the first one's file", stage.fileOf(1), stage.fileOf(2));
    },
  },
  {
    name: "a home that goes back to a copy loses nothing that others have",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.cluster.homes.copy(stage.machine(1));
      stage.save(2, lines("one", "two", "since the copy"));
      stage.pass();
      stage.save(1, `${stage.fileOf(1)}by the one that goes back\n`);
      stage.pass();
      stage.stop(1);
      stage.cluster.homes.restore(stage.machine(1));
      stage.start(1);
      stage.pass(20_000);
      const expected = lines("one", "two", "since the copy", "by the one that goes back");
      stage.expect("the text", stage.textOf(2), expected);
    },
  },
  {
    name: "a home that was moved goes on",
    play(stage) {
      stage.begin(lines("one"));
      stage.stop(1);
      stage.machine(1).moveHome();
      stage.save(1, lines("one", "while it was moved"));
      stage.start(1);
      stage.expect("the other's file", stage.fileOf(2), lines("one", "while it was moved"));
    },
  },
];

/** By a client of the service where the project is now. */
function writeAt(stage: Stage, key: string, content: string): void {
  const body = { content, key, layer: "project", project_id: stage.project };
  const request = new Request("http://localhost/v1/memories", {
    method: "POST",
    headers: { authorization: "Bearer mst_dev_simulation", "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  stage.wait(stage.cluster.hosts.of(stage.project).fetch(request));
}
