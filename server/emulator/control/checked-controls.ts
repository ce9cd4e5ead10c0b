import type { EmulatorControls, EmulatorTokenRequest } from "../interface/emulator.ts";
import type { EmulatorFaults, FaultRule } from "../interface/faults.ts";
import type { EmulatorRequests, EmulatorViolations } from "../interface/requests.ts";
import type { EmulatorSnapshots } from "../interface/state.ts";
import {
  AwaitedRequests,
  ChangedRequests,
  FaultsOf,
  LimitsBody,
  RandomBody,
  RequestsAsked,
  ResetBody,
  SnapshotBody,
  TokenBody,
  TokenOnlyBody,
} from "./control-bodies.ts";
import { LibraryRule } from "./fault-bodies.ts";
import { inCamelCase, parseStrict } from "./parse-strict.ts";

const LibraryToken = inCamelCase(TokenBody);

const ofToken = (of: unknown = {}) => parseStrict(TokenOnlyBody, of);
// `inCamelCase` loses the schema's type; what passes this schema is a rule.
const ruleOf = (rule: unknown) => parseStrict(LibraryRule, rule) as FaultRule;

/**
 * The same controls, which refuse what they do not know as the calls over HTTP do: a misspelt
 * `token` would reset everybody.
 */
export function checkedControls(controls: EmulatorControls): EmulatorControls {
  return {
    ...controls,
    async reset(options = {}) {
      const { scope, token } = parseStrict(ResetBody, options);
      return await controls.reset({ scope, token });
    },
    seed: async (seed, of) => await controls.seed(seed, ofToken(of)),
    import: async (seed, of) => await controls.import(seed, ofToken(of)),
    export: async (of) => await controls.export(ofToken(of)),
    snapshots: checkedSnapshots(controls.snapshots),
    random: (seed) => controls.random(parseStrict(RandomBody, { seed }).seed),
    faults: checkedFaults(controls.faults),
    requests: checkedRequests(controls.requests),
    violations: checkedViolations(controls.violations),
    limits: {
      set: async (change) => {
        await controls.limits.set(parseStrict(LimitsBody, change));
      },
    },
    tokens: {
      create(request = {}) {
        // `inCamelCase` loses the schema's type; what passes this schema is a token request.
        return controls.tokens.create(parseStrict(LibraryToken, request) as EmulatorTokenRequest);
      },
    },
  };
}

function checkedSnapshots(snapshots: EmulatorSnapshots): EmulatorSnapshots {
  const named = (name: unknown) => parseStrict(SnapshotBody, { name }).name;
  return {
    save: async (name, of) => await snapshots.save(named(name), ofToken(of)),
    restore: async (name, of) => await snapshots.restore(named(name), ofToken(of)),
    list: (of) => snapshots.list(ofToken(of)),
    delete: async (name, of) => await snapshots.delete(named(name), ofToken(of)),
  };
}

function checkedFaults(faults: EmulatorFaults): EmulatorFaults {
  return {
    add: (...rules) => faults.add(...rules.map(ruleOf)),
    set: (rules, of) => faults.set(rules.map(ruleOf), ofToken(of)),
    list: (of) => faults.list(ofToken(of)),
    clear: (of = {}) => faults.clear(parseStrict(FaultsOf, of)),
    assertAllFired: (of) => faults.assertAllFired(ofToken(of)),
  };
}

function checkedRequests(requests: EmulatorRequests): EmulatorRequests {
  return {
    list: async (filter = {}) => await requests.list(parseStrict(RequestsAsked, filter)),
    waitFor: async (filter = {}) => await requests.waitFor(parseStrict(AwaitedRequests, filter)),
    changes: async (filter = {}) => await requests.changes(parseStrict(ChangedRequests, filter)),
    clear: (of) => requests.clear(ofToken(of)),
  };
}

function checkedViolations(violations: EmulatorViolations): EmulatorViolations {
  return {
    list: async (of) => await violations.list(ofToken(of)),
    assertNone: async (of) => await violations.assertNone(ofToken(of)),
  };
}
