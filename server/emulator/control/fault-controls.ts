import type { FaultRules } from "../faults/fault-rules.ts";
import type { EmulatorFaults, FaultReport } from "../interface/faults.ts";
import type { OfToken } from "../interface/of-token.ts";
import type { Journal } from "../journal/journal.ts";
import type { EmulatorAccounts } from "../state/emulator-accounts.ts";

/** The rules of misbehaviour, for one token's account or for all. */
export function createFaultControls({
  faults,
  accounts,
  journal,
}: {
  readonly faults: FaultRules;
  readonly journal: Journal;
  readonly accounts: EmulatorAccounts;
}): EmulatorFaults {
  const accountOf = ({ token }: OfToken) =>
    token === undefined ? undefined : accounts.get(token).account;
  const told = <T>(done: T): T => {
    journal.changed();
    return done;
  };
  return {
    add: (...rules) => told(faults.add(rules)),
    set: (rules, of = {}) => told(faults.replace(accountOf(of), rules)),
    list: (of = {}) => faults.list(accountOf(of)),
    clear: (of = {}) => told(faults.clear(accountOf(of), of.id)),
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
