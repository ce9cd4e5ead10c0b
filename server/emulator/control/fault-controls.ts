import { refusedAt } from "../../../shared/wire/parse.ts";
import type { FaultRules } from "../faults/fault-rules.ts";
import type { EmulatorFaults, FaultReport } from "../interface/faults.ts";
import type { OfToken } from "../interface/of-token.ts";
import type { Journal } from "../journal/journal.ts";
import type { Recording } from "../journal/recording.ts";
import type { EmulatorAccounts } from "../state/emulator-accounts.ts";

/** The rules of misbehaviour, for one token's account or for all. */
export function createFaultControls({
  faults,
  accounts,
  journal,
  recording,
}: {
  readonly faults: FaultRules;
  readonly journal: Journal;
  readonly accounts: EmulatorAccounts;
  readonly recording: Pick<Recording, "lifted">;
}): EmulatorFaults {
  const accountOf = ({ token }: OfToken) =>
    token === undefined ? undefined : accounts.get(token).account;
  const told = <T>(done: T): T => {
    journal.changed();
    return done;
  };
  return {
    add: (...rules) => told(faults.add(rules)),
    set(rules, of = {}) {
      const account = accountOf(of);
      recording.lifted(account);
      if (account === undefined) return told(faults.replace(account, rules));
      const own = rules.map((rule, at) => {
        const { token = of.token } = rule;
        if (accountOf({ token }) === account) return { ...rule, token };
        throw refusedAt(`/faults/${at}/token`, "is of another account than the call is about");
      });
      return told(faults.replace(account, own));
    },
    list: (of = {}) => faults.list(accountOf(of)),
    clear(of = {}) {
      recording.lifted(accountOf(of));
      return told(faults.clear(accountOf(of), of.id));
    },
    assertAllFired(of = {}) {
      const silent = faults.list(accountOf(of)).filter(({ hits }) => hits === 0);
      if (silent.length === 0) return;
      throw new Error(`no request had these faults: ${silent.map(shown).join("; ")}`);
    },
  };
}

function shown({ id, method = "any method", path = "any path" }: FaultReport): string {
  return `${id} (${method} ${path})`;
}
