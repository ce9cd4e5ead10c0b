import type { DocumentAnswer } from "../../shared/wire/exchange.ts";
import type { Services } from "../services/services.ts";
import type { ServerMetrics } from "./server-metrics.ts";

/** Wraps services so that refused updates of replica exchanges are counted. */
export function countRefusals(services: Services, metrics: ServerMetrics): Services {
  const { sync } = services;
  return {
    ...services,
    sync: {
      ...sync,
      async exchange(...given) {
        const answered = await sync.exchange(...given);
        for (const answer of Object.values(answered.documents)) {
          const reason = refusalIn(answer);
          if (reason) metrics.countRefusedUpdate(reason);
        }
        return answered;
      },
    },
  };
}

function refusalIn(answer: DocumentAnswer): "refused" | "missing" | "forbidden" | undefined {
  if ("refused" in answer) return "refused";
  if ("forbidden" in answer) return "forbidden";
  return answer.missing ? "missing" : undefined;
}
