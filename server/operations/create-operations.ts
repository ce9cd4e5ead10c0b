import { delay, type World } from "../../shared/world.ts";
import type { AnswerBudget } from "../http/answer-budget.ts";
import type { BodyBudget } from "../http/body-budget.ts";
import type { LiveSockets } from "../live/live-sockets.ts";
import { countLogRows, readDatabaseBytes } from "../stores/host-figures.ts";
import type { HostStore } from "../stores/open-store.ts";
import type { Operations } from "./operations.ts";
import type { Readiness } from "./readiness.ts";
import { ServerMetrics } from "./server-metrics.ts";

/** Counting the rows of a large log takes a moment, so it is done at most this often. */
const LOG_ROWS_COUNTED_EVERY_MS = 60_000;

/** Prometheus waits for ten seconds at most. */
const READ_WITHIN_MS = 1000;

/** The sources of a host's metrics. */
export interface OperationsOptions {
  readonly host: HostStore;
  readonly sockets: LiveSockets;
  readonly bodies: BodyBudget;
  readonly answers: AnswerBudget;
  readonly world: World;
  readonly readiness: Readiness;
  readonly metricsToken?: string | undefined;
}

/** Creates the metrics of a host. They count the commits of its store from then on. */
export function createOperations(options: OperationsOptions): Operations {
  const { host, sockets, bodies, answers, world, readiness, metricsToken } = options;
  const { reader } = host.database;
  const { connections, problem } = host;
  if (problem) readiness.isOut = () => problem() !== undefined;
  const metrics = new ServerMetrics({
    isReady: () => readiness.told === "ready",
    sockets,
    bodies,
    answers,
    documentsOpen: () => host.store.inMemory.documents,
    documentBytesOpen: () => host.store.inMemory.bytes,
    logRows: soon(
      world,
      nowAndThen(world, LOG_ROWS_COUNTED_EVERY_MS, () => countLogRows(reader)),
    ),
    databaseBytes: soon(world, () => readDatabaseBytes(reader)),
    startedAt: world.now(),
  });
  if (connections) metrics.measureConnections(connections);
  host.store.timeCommits((durationMs, kept) => metrics.countCommit(durationMs / 1000, kept));
  return { readiness, metrics, metricsToken };
}

/** Rejects where the database has not answered when whoever scrapes wants to have the rest. */
function soon(world: World, read: () => Promise<number>): () => Promise<number> {
  const tooLate = async () => {
    await delay(world, READ_WITHIN_MS);
    throw new Error("the database has not answered in time");
  };
  return () => Promise.race([read(), tooLate()]);
}

/** Calls `read` only if its last result is at least `everyMs` old. */
function nowAndThen(
  world: World,
  everyMs: number,
  read: () => Promise<number>,
): () => Promise<number> {
  let readAt = Number.NEGATIVE_INFINITY;
  let last = Promise.resolve(0);
  return () => {
    if (world.monotonic() - readAt < everyMs) return last;
    readAt = world.monotonic();
    last = read();
    return last;
  };
}
