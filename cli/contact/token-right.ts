import { mayWrite } from "../../daemon/remotes/check-token.ts";
import { hearAccount } from "../../daemon/remotes/hear-audience.ts";
import { createHttpService } from "../../daemon/service/http-service.ts";
import type { Service } from "../../daemon/service/service.ts";
import type { Account } from "../../shared/wire/account.ts";
import { realWorld } from "../../shared/world-real.ts";

/** Nobody waits longer for a mere remark. */
const DEADLINE_MS = 3000;

/** Whether a service lets a token write, found by one request; undefined where it does not tell. */
export async function rightOf(url: string, token: string): Promise<boolean | undefined> {
  return await asked(url, token, mayWrite);
}

/** Whose a token is, found by one request; undefined where the service does not tell. */
export async function accountOf(url: string, token: string): Promise<Account | undefined> {
  return await asked(url, token, hearAccount);
}

async function asked<Answer>(
  url: string,
  token: string,
  ask: (service: Service) => Promise<Answer>,
): Promise<Answer> {
  const service = createHttpService({ url, token, world: realWorld });
  const late = realWorld.setTimer(DEADLINE_MS, () => service.abandonCalls?.());
  try {
    return await ask(service);
  } finally {
    late.cancel();
    await service.close();
  }
}
