import pg from "pg";
import { type Wire, wireTo } from "./wire.ts";

// What the program has in place of the driver's module: the driver itself, whose connections go
// where their server's wire leads.

/** A connection of one of the simulation's servers. */
class WiredClient extends pg.Client {
  readonly #wire: Wire;

  constructor(config: pg.ClientConfig = {}) {
    const asked = new URL(config.connectionString ?? "");
    const wire = wireTo(asked.href);
    const { pathname } = new URL(wire.address);
    super({ ...config, connectionString: Object.assign(asked, { pathname }).href });
    this.#wire = wire;
    const ask = this.query.bind(this);
    Object.assign(this, {
      query(statement: pg.QueryConfig | string, values: unknown[] = []) {
        const asked = typeof statement === "string" ? { text: statement, values } : statement;
        return wire.run(this, ask, asked);
      },
    });
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    const wire = this.#wire;
    if (!wire.isCut && !wire.isDead) {
      wire.add(this);
      return callback ? void super.connect(callback) : super.connect();
    }
    const refused = Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
    if (!callback) return Promise.reject(refused);
    setImmediate(() => callback(refused));
    return undefined;
  }
}

type Connected = (error: Error) => void;

/** The driver's own, but for the connections. */
class WiredPool extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super({ ...config, Client: WiredClient });
  }
}

/** In place of the driver's module. */
export const driver = { ...pg, Pool: WiredPool, Client: WiredClient };
