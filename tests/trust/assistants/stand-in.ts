/** What the model does next: calls a tool, or says something and ends its turn. */
export type Step =
  | { readonly name: string; readonly input: Readonly<Record<string, unknown>> }
  | { readonly text: string };

/** Whether a tool is memsync's, which each assistant gives a name of its own. */
export function isOurs(name: string): boolean {
  return name === "remember" || name === "recall";
}

/** A request of an assistant, as its provider's interface has it. */
export interface Asked {
  /** False: a side question, as for a title. */
  readonly isMain: boolean;
  /** How many tools this conversation has called. */
  readonly called: number;
  /** What was told of tools that failed. */
  readonly refused: readonly string[];
  /** The answer that takes this step. */
  answer(step: Step): Response;
}

/** How the assistants of one provider ask their model. */
export interface Dialect {
  /** Of a request's path. */
  readonly path: RegExp;
  read(body: string, url: URL): Asked;
}

/**
 * Plays the model for a real assistant, by a script, at the address that the assistant is told to
 * ask. It speaks as much of the provider's interface as a session needs.
 *
 * ```
 * using model = new ModelStandIn(CLAUDE, [{ name: "Read", input: {} }, { text: "I see." }]);
 * // a session at model.url, then:
 * model.seen; // what the assistant sent, results of tools among it
 * ```
 */
export class ModelStandIn {
  /** What the assistant sent of its conversation, one request after the other. */
  readonly seen: string[] = [];
  refused: readonly string[] = [];
  readonly #server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: (request) => this.#answer(request),
  });

  constructor(
    readonly dialect: Dialect,
    readonly script: readonly Step[],
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const body = await request.text();
    if (!this.dialect.path.test(url.pathname)) {
      const error = { type: "not_found_error", message: "not played here" };
      return Response.json({ type: "error", error }, { status: 404 });
    }
    const asked = this.dialect.read(body, url);
    if (!asked.isMain) return asked.answer({ text: "A title" });
    this.seen.push(body);
    this.refused = asked.refused;
    return asked.answer(this.script[asked.called] ?? { text: "Done." });
  }
}

/** A stream of events, each with its name and its data. */
export function eventStream(events: readonly (readonly [string | undefined, object])[]): Response {
  const lines = events.map(
    ([name, data]) => `${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`,
  );
  return new Response(lines.join(""), { headers: { "content-type": "text/event-stream" } });
}
