import type { ReadConnections } from "../stores/connection-store.ts";
import type { RequestUsage, Services } from "./services.ts";
import type { Withholding } from "./withholding.ts";

/** What a host knows that is not in its replica. */
export interface HostKnowledge {
  readonly usage: RequestUsage;
  readonly account: Services["account"];
  /** Only where writes may be held. */
  readonly withholding?: Withholding;
  /** Only where others connect projects. */
  readonly connections?: ReadConnections;
}
