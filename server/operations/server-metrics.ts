import { VERSION } from "../../shared/version.ts";
import type { AnswerBudget } from "../http/answer-budget.ts";
import type { BodyBudget } from "../http/body-budget.ts";
import type { LiveSockets } from "../live/live-sockets.ts";
import type { ConnectionFigures } from "../stores/open-store.ts";
import { MetricRegistry } from "./metric-registry.ts";

/** Upper ends of the buckets of durations, in seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The sources of figures that are read at each scrape. */
export interface MetricSources {
  /** As `/readyz` tells it. */
  readonly isReady: () => boolean;
  readonly sockets: LiveSockets;
  readonly bodies: Pick<BodyBudget, "bytes" | "refused">;
  readonly answers: Pick<AnswerBudget, "bytes" | "ended">;
  /** Documents kept in memory. */
  readonly documentsOpen: () => number;
  /** Size of the updates from which these were loaded. */
  readonly documentBytesOpen: () => number;
  readonly logRows: () => Promise<number>;
  readonly databaseBytes: () => Promise<number>;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
}

/** Everything that is measured of a server. Labels are routes, methods, statuses and reasons. */
export class ServerMetrics {
  readonly #registry = new MetricRegistry();

  readonly #requests = this.#registry.counter({
    name: "memsync_http_requests_total",
    help: "Requests answered, live handshakes included.",
    labels: ["route", "method", "status"],
  });
  readonly #durations = this.#registry.histogram(
    {
      name: "memsync_http_request_duration_seconds",
      help: "Time from a request's arrival to its answer, before that is sent.",
      labels: ["route", "method"],
    },
    SECONDS,
  );
  readonly #rateLimited = this.#registry.counter({
    name: "memsync_rate_limited_total",
    help: "Requests answered 429.",
  });
  readonly #updatesRefused = this.#registry.counter({
    name: "memsync_updates_refused_total",
    help: "Updates of replica exchanges that changed nothing, by reason.",
    labels: ["reason"],
  });
  readonly #commits = this.#registry.histogram(
    { name: "memsync_commit_duration_seconds", help: "Time of each commit that was made." },
    SECONDS,
  );
  readonly #commitsFailed = this.#registry.counter({
    name: "memsync_commits_failed_total",
    help: "Commits that were rolled back.",
  });

  constructor(sources: MetricSources) {
    const { sockets, bodies, answers } = sources;
    const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
      this.#registry.gauge({ name, help }, read);
    gauge("memsync_ready", "Whether the server wants requests: 1 if it does.", () =>
      sources.isReady() ? 1 : 0,
    );
    gauge("memsync_live_sockets", "Live sockets that are open.", () => sockets.open);
    gauge(
      "memsync_live_subscriptions",
      "Projects that live sockets have subscribed to.",
      () => sockets.subscriptions,
    );
    gauge("memsync_body_bytes", "Room that bodies under way take.", () => bodies.bytes);
    this.#registry.counted(
      { name: "memsync_bodies_refused_total", help: "Bodies refused for want of room." },
      () => bodies.refused,
    );
    gauge("memsync_answer_bytes", "Room that long answers under way take.", () => answers.bytes);
    this.#registry.counted(
      { name: "memsync_answers_ended_total", help: "Long answers ended, as nobody fetched them." },
      () => answers.ended,
    );
    gauge("memsync_documents_open", "Documents kept in memory.", sources.documentsOpen);
    gauge(
      "memsync_documents_open_bytes",
      "Encoded size of the documents kept in memory.",
      sources.documentBytesOpen,
    );
    gauge("memsync_log_rows", "Rows in the logs of all documents.", sources.logRows);
    gauge("memsync_database_bytes", "Size of the database.", sources.databaseBytes);
    gauge("process_resident_memory_bytes", "Resident memory size in bytes.", () =>
      process.memoryUsage.rss(),
    );
    gauge(
      "process_start_time_seconds",
      "Start time of the process since unix epoch in seconds.",
      () => sources.startedAt / 1000,
    );
    const build = {
      name: "memsync_build_info",
      help: "The version and its runtime; always 1.",
      labels: ["version", "runtime"],
    };
    this.#registry.info(build, [VERSION, process.versions.bun ? "bun" : "node"]);
  }

  /** Of a database that is reached by connections. */
  measureConnections(read: () => ConnectionFigures): void {
    const gauge = (name: string, help: string, value: keyof ConnectionFigures) =>
      this.#registry.gauge({ name, help }, () => read()[value]);
    gauge("memsync_database_connections", "Connections to the database.", "open");
    gauge("memsync_database_connections_used", "Connections to the database in use.", "used");
    gauge("memsync_database_waiting", "Statements that wait for a connection.", "waiting");
  }

  countRequest(
    route: string,
    method: string,
    { status, seconds }: { readonly status: number; readonly seconds: number },
  ): void {
    this.#requests.add([route, method, String(status)]);
    this.#durations.observe(seconds, [route, method]);
    if (status === 429) this.#rateLimited.add();
  }

  countRefusedUpdate(reason: "refused" | "missing" | "forbidden"): void {
    this.#updatesRefused.add([reason]);
  }

  countCommit(seconds: number, kept: boolean): void {
    if (kept) this.#commits.observe(seconds);
    else this.#commitsFailed.add();
  }

  /** Prometheus' text format. */
  render(): Promise<string> {
    return this.#registry.render();
  }
}
