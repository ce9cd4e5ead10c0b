import type { Log } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import type { AnswerBudget } from "../http/answer-budget.ts";
import type { BodyBudget } from "../http/body-budget.ts";
import type { Networks } from "../http/networks.ts";
import type { Quota } from "../limits/quota.ts";
import type { LiveSockets } from "../live/live-sockets.ts";
import type { Operations } from "../operations/operations.ts";
import type { Served } from "../routes/served.ts";
import type { Caller, Services } from "../services/services.ts";

/** The caller of an `Authorization` header; undefined for nobody. */
export type Authenticate = (
  header: string | null,
) => Promise<Caller | undefined> | Caller | undefined;

/** What the interface is built on. It closes none of this. */
export interface AppDeps {
  readonly services: Services;
  /**
   * Called for every request, and again at every ping of a live socket. Must not count its calls.
   */
  readonly authenticate: Authenticate;
  /**
   * The message about a text that is no valid token; when left out, it says who gives tokens out.
   */
  readonly refusedToken?: (token: string) => string;
  /**
   * Called for each authenticated request. A request to an existing path and method is charged
   * before it is examined further; a live handshake when it is accepted.
   */
  readonly quotaOf?: (caller: Caller) => Quota | Promise<Quota>;
  /**
   * Called for each invalid token, with its client's address if that is known. The 401 is sent when
   * this resolves; at once without this.
   */
  readonly guessed?: (client: string | undefined) => Promise<void>;
  readonly world: World;
  /**
   * Time as the other ends of connections know it, where `world` is driven: for bodies that are
   * slow to come and sockets that fall silent. The same when left out.
   */
  readonly connectionWorld?: World;
  readonly log: Log;
  /** The folder of the data, where callers may know it. */
  readonly place?: string;
  /** Sent with every answer. */
  readonly extraHeaders?: Readonly<Record<string, string>>;
  /**
   * Refuse requests that a web page of another site could send to a server on its visitor's
   * machine.
   */
  readonly loopbackOnly?: boolean;
  /** Further names, besides this machine's own, that such requests may use as their host. */
  readonly allowedHosts?: readonly string[];
  /** Proxies that are believed which client a request is of; none when left out. */
  readonly trustedProxies?: Networks;
  /** Compress long answers for clients that accept it. */
  readonly compress?: boolean;
  /** Bounds the bodies under way; nothing does when left out. */
  readonly bodies?: BodyBudget;
  /** Bounds the long answers under way; nothing does when left out. */
  readonly answers?: AnswerBudget;
  /** Counts and limits live sockets; a separate count when left out. */
  readonly sockets?: LiveSockets;
  /** Counts and logs requests and serves `/metrics`; none of this when left out. */
  readonly operations?: Operations;
  /** Which part of the interface is served; all of it when left out. */
  readonly serves?: Served;
}
