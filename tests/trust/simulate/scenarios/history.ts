import type { GitUser } from "../git/git-user.ts";
import { lines } from "../stage.ts";
import type { Scenario } from "./scenario.ts";

const MINUTE_MS = 66_000;

/** Every save stands in its machine's history, byte for byte. */
export const HISTORY: readonly Scenario[] = [
  {
    name: "a save that was not carried out as it is stands in the history",
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.save(2, lines("one", "two", "hers"));
      stage.pass();
      stage.save(1, lines("one", "two", "his"));
      stage.pass();
      stage.expectKept(1, lines("one", "two", "his"));
    },
  },
  {
    name: "a held save stands in the history",
    play(stage) {
      stage.begin(lines("one"));
      const held = lines("one", stage.cluster.phrases.secret);
      stage.save(1, held);
      stage.pass(MINUTE_MS);
      stage.expectKept(1, held);
      stage.save(1, lines("one"));
    },
  },
  {
    name: "a save that waited for the service stands in the history",
    play(stage) {
      stage.cutOff(2);
      stage.begin(lines("one"));
      stage.save(2, lines("while it waited"));
      stage.pass();
      stage.save(2, lines("and then this"));
      stage.pass();
      stage.connect(2);
      stage.expectKept(2, lines("while it waited"));
    },
  },
  {
    name: "a save into a file that has lost its name stands in the history",
    play(stage) {
      stage.begin(lines("one", "two"));
      const write = stage.open(1);
      stage.save(2, lines("one", "two", "hers"));
      stage.pass();
      write(lines("one", "two", "late"));
      stage.pass(MINUTE_MS);
      stage.expectKept(1, lines("one", "two", "late"));
    },
  },
  {
    name: "a version of git's that changed nothing stands in the history",
    cast: { git: "tracked", write: false },
    play(stage) {
      stage.begin(lines("one", "two"));
      stage.pass();
      stage.save(1, lines("one", "two", "three"));
      stage.wait(stage.git(1).commit("third"));
      stage.pass(10_000);
      stage.save(2, lines("one", "two", "of the second"));
      stage.pass(10_000);
      const [parent = ""] = parentsOf(stage.git(1));
      stage.wait(stage.git(1).resetHard(parent));
      stage.pass(10_000);
      stage.expectKept(1, lines("one", "two"));
      stage.expect("the text", stage.textOf(1).includes("three"), true);
    },
  },
];

function parentsOf({ repository }: GitUser): readonly string[] {
  return repository.objects.get(repository.head.commit ?? "").parents;
}
