// A program for Node: serves the HTTP layer over fake services until its input ends.
import { createApp } from "../../server/app/app.ts";
import { AnswerBudget } from "../../server/http/answer-budget.ts";
import { listen } from "../../server/listen/listen.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { createFakeServices, fakeAuthenticate, MEMORY, PROJECT } from "./fake-services.ts";

const { services, commit } = createFakeServices();
/** A list that is longer than what the system keeps of a connection. */
const LONG = { ...MEMORY, content: "x".repeat(24 * 1024 * 1024) };
const slow = {
  ...services,
  memories: {
    ...services.memories,
    list: async (...given: Parameters<typeof services.memories.list>) => {
      const page = await services.memories.list(...given);
      return given[1].q === "long" ? { ...page, items: [LONG] } : page;
    },
  },
  sync: {
    ...services.sync,
    read: async (...given: Parameters<typeof services.sync.read>) => {
      const answer = await services.sync.read(...given);
      const position = { projectId: PROJECT, user: null, epoch: "e", seq: 8 };
      commit({ ...position, document: "project", update: new Uint8Array([1]) });
      return answer;
    },
  },
};
const app = createApp({
  services: slow,
  authenticate: fakeAuthenticate,
  world: realWorld,
  log: silentLog,
  answers: new AnswerBudget(realWorld, {
    total: 40 * 1024 * 1024,
    perAccount: 40 * 1024 * 1024,
    stalledMs: 60_000,
  }),
  loopbackOnly: true,
  guessed: async (client) => {
    process.stderr.write(`a guess from ${client}\n`);
  },
});
/** Whatever is to end by itself ends within a test, or not at all. */
const LONGER_THAN_A_TEST_MS = 600_000;
const [host = "127.0.0.1", port = "0", unix] = process.argv.slice(2);
try {
  const listener = await listen(app, unix ? { unix } : { host, port: Number(port) });
  process.stdout.write(`${listener.url}\n`);
  process.stdin.once("data", async () => {
    await listener.drain();
    process.stdout.write("drained\n");
  });
  process.stdin.once("end", async () => {
    await listener.close(LONGER_THAN_A_TEST_MS);
    process.exit(0);
  });
} catch (thrown) {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : thrown}\n`);
  process.exit(1);
}
