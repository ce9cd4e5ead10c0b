import { expect, test } from "bun:test";
import { forwardConnections } from "../../daemon/gateway/forwarded-connections.ts";
import type { Caller } from "../../daemon/gateway/mount.ts";
import type { OpenRemotes } from "../../daemon/remotes/open-remotes.ts";
import { projectId } from "../support/project-id.ts";

const REQUEST = { project_id: projectId("a"), target_project_id: projectId("b") };

test("a service that only answers that two projects are connected has done it", async () => {
  for (const value of [{}, null, undefined, "done"]) {
    const service = { forward: async () => ({ kind: "answered", value }) };
    const remotes = { find: () => ({ service }) } as unknown as OpenRemotes;
    const { connect, disconnect } = forwardConnections(() => remotes);
    const caller = { account: "local" } as Caller;
    expect(await connect(caller, REQUEST)).toBeUndefined();
    expect(await disconnect(caller, REQUEST)).toBeUndefined();
  }
});
