import { mayWrite } from "../../daemon/remotes/check-token.ts";
import { createHttpService } from "../../daemon/service/http-service.ts";
import { realWorld } from "../../shared/world-real.ts";

/** Nobody waits longer for a mere remark. */
const DEADLINE_MS = 3000;

/** Whether a service lets a token write, found by one request; undefined where it does not tell. */
export async function rightOf(url: string, token: string): Promise<boolean | undefined> {
  const service = createHttpService({ url, token, world: realWorld });
  const late = realWorld.setTimer(DEADLINE_MS, () => service.abandonCalls?.());
  try {
    return await mayWrite(service);
  } finally {
    late.cancel();
    await service.close();
  }
}
