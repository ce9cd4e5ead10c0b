import { expect, test } from "bun:test";
import { barLine, Progress } from "../../cli/screen/progress.ts";

function makeStage(isTerminal: boolean, columns = 80) {
  const stage = { written: "", time: 0 };
  return {
    stage,
    given: {
      isTerminal,
      columns: () => columns,
      write: (text: string) => {
        stage.written += text;
      },
      now: () => stage.time,
    },
  };
}

/** What is on the screen's line after all that was written. */
const lastLine = (written: string) => written.slice(written.lastIndexOf("\x1b[K") + 3);

test("what takes over a second is shown with its rate and the time left, then taken away", () => {
  const { stage, given } = makeStage(true);
  const progress = new Progress("importing", "memories", given);
  stage.time = 900;
  progress.update(100, 1000);
  expect(stage.written).toBe("");
  stage.time = 2000;
  progress.update(500, 1000);
  expect(lastLine(stage.written)).toBe(
    "importing ━━━━━━━━━━━━──────────── 500 of 1000 memories, 250/s, 2 s left",
  );
  stage.time = 2010;
  progress.update(505, 1000);
  expect(lastLine(stage.written)).toContain("500 of 1000");
  progress.end();
  expect(lastLine(stage.written)).toBe("");
});

test("where nothing can be counted, it is shown how long it goes on", () => {
  const { stage, given } = makeStage(true);
  const progress = new Progress("starting the daemon", "", given);
  stage.time = 900;
  progress.update(0, 0);
  expect(stage.written).toBe("");
  stage.time = 3000;
  progress.update(0, 0);
  expect(lastLine(stage.written)).toBe("starting the daemon 3 s");
});

test("nothing is drawn where there is no terminal, and nothing taken away", () => {
  const { stage, given } = makeStage(false);
  const progress = new Progress("importing", "memories", given);
  stage.time = 5000;
  progress.update(1, 2);
  progress.end();
  expect(stage.written).toBe("");
});

test("a narrow terminal is never left", () => {
  const { stage, given } = makeStage(true, 30);
  const progress = new Progress("importing", "memories", given);
  stage.time = 5000;
  progress.update(1, 2);
  expect(lastLine(stage.written).length).toBe(29);
});

test("rates and times are told in their units", () => {
  const line = (done: number, total: number, elapsedMs: number, unit = "rows") =>
    barLine({ done, total, unit, elapsedMs }).replace(/^[━─]+ /, "");
  expect(line(0, 10, 5000)).toBe("0 of 10 rows");
  expect(line(1, 601, 2000)).toBe("1 of 601 rows, 0.5/s, 20 min 0 s left");
  expect(line(10, 10, 1000)).toBe("10 of 10 rows, 10/s, 0 s left");
  expect(line(2 ** 20, 2 ** 21, 1000, "bytes")).toBe("1.0 MiB of 2.0 MiB, 1.0 MiB/s, 1 s left");
});
