import type { FaultRules } from "../faults/fault-rules.ts";
import type { EmulatorFaults, FaultReport } from "../interface/faults.ts";
import type { OfToken } from "../interface/of-token.ts";
import type { EmulatorAccounts } from "../state/emulator-accounts.ts";

/** The rules of misbehaviour, for one token's account or for all. */
export function createFaultControls({
  faults,
  accounts,
}: {
  readonly faults: FaultRules;
  readonly accounts: EmulatorAccounts;
}): EmulatorFaults {
  const accountOf = ({ token }: OfToken) =>
    token === undefined ? undefined : accounts.get(token).account;
  return {
    add: (...rules) => faults.add(rules),
    set: (rules, of = {}) => faults.replace(accountOf(of), rules),
    list: (of = {}) => faults.list(accountOf(of)),
    clear: (of = {}) => faults.clear(accountOf(of), of.id),
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
