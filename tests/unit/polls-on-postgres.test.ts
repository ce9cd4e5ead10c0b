import { expect, test } from "bun:test";
import { keepOthersOut } from "../../server/stores/keep-others-out.ts";
import type { ExchangeRequest } from "../../shared/wire/exchange.ts";
import { encodeExchangeRequest } from "../../shared/wire/exchange.ts";
import type { Position } from "../../shared/wire/position.ts";
import { openHost } from "../support/postgres-host.ts";
import { serversOfTests } from "../support/postgres-servers.ts";

const newDatabase = serversOfTests();

test("a poll waits for nobody who writes to its account, and hears all that is committed", async () => {
  const { address } = await newDatabase();
  await using host = await openHost(address);
  await using other = await openHost(address, host.token);
  await host.ask("/api/projects", { id: "proj_a", name: "a" });
  await host.write("first");
  const poll = async (documents: ExchangeRequest["documents"]) => {
    const answer = await other.ask(
      "/v1/projects/proj_a/sync",
      encodeExchangeRequest({ documents }),
    );
    expect(answer.status).toBe(200);
    // As the interface describes it; an update is left out of what is compared.
    const { crdt } = (await answer.json()) as {
      readonly crdt: {
        readonly documents: Record<"project" | "global", Position & { readonly update?: string }>;
      };
    };
    return crdt.documents;
  };
  const known = await poll({ project: {}, global: {} });
  expect(known.global).toMatchObject({ seq: 1, update: expect.any(String) });
  const at = ({ epoch, seq }: Position) => ({ position: { epoch, seq } });
  const positions = { project: at(known.project), global: at(known.global) };
  const account = await host.database.reader
    .selectFrom("accounts")
    .select("id")
    .executeTakeFirstOrThrow();
  await host.database.write(async (db) => {
    await keepOthersOut(db, account.id);
    expect(await poll(positions)).toEqual({
      project: positions.project.position,
      global: positions.global.position,
    });
  });
  await host.write("second");
  expect((await poll(positions)).global).toMatchObject({ seq: 2, update: expect.any(String) });
});
