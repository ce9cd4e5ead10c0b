import type { AccountId } from "../../../shared/ids.ts";
import { refusedAt } from "../../../shared/wire/parse.ts";
import { HEADER_FAULT } from "../faults/fault-header.ts";
import type { FaultRules } from "../faults/fault-rules.ts";
import type { EmulatorFaults, FaultReport } from "../interface/faults.ts";
import type { OfToken } from "../interface/of-token.ts";
import type { Journal } from "../journal/journal.ts";
import type { Recording } from "../journal/recording.ts";
import type { EmulatorAccounts } from "../state/emulator-accounts.ts";

/** What the controls of faults move. */
interface FaultParts {
  readonly faults: FaultRules;
  readonly journal: Journal;
  readonly accounts: EmulatorAccounts;
  readonly recording: Pick<Recording, "lifted">;
}

/** The rules of misbehaviour, for one token's account or for all. */
export function createFaultControls({
  faults,
  accounts,
  journal,
  recording,
}: FaultParts): EmulatorFaults {
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
      const own = rules.map((rule, at) => {
        const { token = of.token } = rule;
        if (account === undefined || accountOf({ token }) === account) return { ...rule, token };
        throw refusedAt(`/faults/${at}/token`, "is of another account than the call is about");
      });
      const before = faults.list(account).map(({ id }) => id);
      const made = faults.replace(account, own);
      recording.lifted(account, [...before, HEADER_FAULT]);
      return told(made);
    },
    list: (of = {}) => faults.list(accountOf(of)),
    clear(of = {}) {
      return told(clearFaults({ faults, recording }, accountOf(of), of.id));
    },
    assertAllFired(of = {}) {
      const silent = faults.list(accountOf(of)).filter(({ hits }) => hits === 0);
      if (silent.length === 0) return;
      throw new Error(`no request had these faults: ${silent.map(shown).join("; ")}`);
    },
  };
}

/**
 * Removes the rules of an id, or all, and forgets what clients were told to wait for by them.
 * Returns how many rules went.
 */
export function clearFaults(
  { faults, recording }: Pick<FaultParts, "faults" | "recording">,
  account: AccountId | undefined,
  id?: string,
): number {
  const gone = faults.clear(account, id);
  recording.lifted(account, id === undefined ? [...gone, HEADER_FAULT] : gone);
  return gone.length;
}

function shown({ id, method = "any method", path = "any path" }: FaultReport): string {
  return `${id} (${method} ${path})`;
}
