import { expect } from "bun:test";
import { openScene, SHOP, steps } from "../support/guide-scene.ts";
import { connectLive } from "../support/live-client.ts";
import { inCi, testWith } from "../support/needs.ts";
import { POSTGRES_PROGRAMS } from "../support/postgres-folders.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";
import { waitFor } from "../support/wait-for.ts";

const TIMEOUT_MS = 240_000;

testWith(
  inCi(POSTGRES_PROGRAMS),
  "a standby that lacks the last writes takes over by the guide's steps, and daemons bring them back",
  async () => {
    await using scene = await openScene();
    const { folders, machine, two } = scene;
    const address = { ADDRESS: folders.address("PRIMARY", "postgres") };
    await machine.save("- first");
    await machine.synced();
    folders.run(
      "STANDBY",
      await steps('pg_basebackup --dbname "$ADDRESS" --pgdata "$STANDBY"'),
      address,
    );
    expect((await two.write("kept")).status).toBe(200);
    const standby = (...sql: readonly string[]) =>
      runOnPostgres(folders.address("STANDBY"), ...sql);
    const count = "SELECT count(*)::int AS found FROM memories WHERE key = 'kept'";
    await waitFor("the standby to follow", async () => (await standby(count))[0]?.found === 1);
    // It follows no more. Nobody has told it what comes now.
    await standby("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()");
    const receivers = "SELECT count(*)::int AS found FROM pg_stat_wal_receiver";
    await waitFor("the stream to end", async () => (await standby(receivers))[0]?.found === 0);
    expect((await two.write("lost")).status).toBe(200);
    await machine.save("- of the tail");
    await machine.synced();
    const before = await scene.epochOf("PRIMARY");

    let isOver = false;
    const acknowledged: string[] = [];
    const writing = (async () => {
      for (let at = 0; !isOver; at++) {
        const wasPromoted = scene.leadsTo === folders.address("STANDBY");
        const { status } = await two.write(`during-${at}`);
        if (status === 200 && wasPromoted) acknowledged.push(`during-${at}`);
      }
    })();
    await machine.save("- while nothing answers");
    folders.run("STANDBY", await steps('pg_ctl stop --mode immediate --pgdata "$PRIMARY"'));
    scene.lead(folders.address("STANDBY"));
    await waitFor("writes to go on", () => acknowledged.length > 2);
    isOver = true;
    await writing;
    await machine.save("- afterwards");
    await machine.synced();
    await waitFor("the daemon to bring its file", () =>
      two.hasLines("- first", "- of the tail", "- while nothing answers", "- afterwards"),
    );
    const keys = await two.keys();
    for (const key of ["kept", ...acknowledged]) expect(keys).toContain(key);
    // What was written by REST alone is gone, as the guide says.
    expect(keys).not.toContain("lost");
    expect(await scene.epochOf("STANDBY")).not.toBe(before);
  },
  TIMEOUT_MS,
);

testWith(
  inCi(POSTGRES_PROGRAMS),
  "a database that is put back to a moment by the guide's steps gets from daemons what came later",
  async () => {
    await using scene = await openScene();
    const { folders, machine, server, two } = scene;
    const address = { ADDRESS: folders.address("PRIMARY", "postgres") };
    const primary = (...sql: readonly string[]) =>
      runOnPostgres(folders.address("PRIMARY"), ...sql);
    folders.run(
      "BACKUP",
      await steps('pg_basebackup --dbname "$ADDRESS" --pgdata "$BACKUP"'),
      address,
    );
    const lent = await server.token("acme", "--name", "lent");
    await machine.save("- before the moment");
    await machine.synced();
    expect((await two.write("before")).status).toBe(200);
    const [row] = await primary("SELECT clock_timestamp()::text AS moment");
    const moment = { MOMENT: String(row?.moment) };
    await machine.save("- after the moment");
    await machine.synced();
    expect((await two.write("after")).status).toBe(200);
    const revoke = async () => {
      const listed = await server.memsync("server", "token", "list");
      const id = /^(tok_\w+) +lent /m.exec(listed)?.[1] ?? "";
      await server.memsync("server", "token", "revoke", id);
    };
    await revoke();
    await primary("SELECT pg_switch_wal()");
    const before = await scene.epochOf("PRIMARY");

    await scene.endServers();
    folders.run("RESTORED", await steps('pg_ctl stop --mode fast --pgdata "$PRIMARY"'), moment);
    scene.lead(folders.address("RESTORED"));
    await waitFor("the end of the recovery", async () => {
      const asked = "SELECT pg_is_in_recovery() AS is_standby";
      return (await runOnPostgres(folders.address("RESTORED"), asked))[0]?.is_standby === false;
    });
    // It is valid again, and is revoked before any server is started.
    await revoke();
    await scene.startServers();
    expect(await two.keys()).toEqual(["before"]);
    const refused = await two.write("refused", { by: lent });
    expect(refused.status).toBe(401);
    await machine.synced();
    await waitFor("the daemon to bring its file", () =>
      two.hasLines("- before the moment", "- after the moment"),
    );
    expect(await scene.epochOf("RESTORED")).not.toBe(before);
  },
  TIMEOUT_MS,
);

testWith(
  inCi(POSTGRES_PROGRAMS),
  "of two primaries at once the promoted one gets from daemons what the former took meanwhile",
  async () => {
    await using scene = await openScene();
    const { folders, machine, one, two } = scene;
    const other = await scene.otherMachine();
    await machine.save("- first");
    await machine.synced();
    await waitFor("the other machine to hear", async () => (await other.lines()).length === 1);
    const address = { ADDRESS: folders.address("PRIMARY", "postgres") };
    const copying = await steps('pg_basebackup --dbname "$ADDRESS" --pgdata "$STANDBY"');
    folders.run("STANDBY", copying, address);
    expect((await two.write("kept")).status).toBe(200);
    const count = "SELECT count(*)::int AS found FROM memories WHERE key = 'kept'";
    await waitFor("the standby to follow", async () => {
      return (await runOnPostgres(folders.address("STANDBY"), count))[0]?.found === 1;
    });

    // The former one was not fenced: a server and a machine still find it.
    folders.run("STANDBY", 'pg_ctl promote --wait --silent --pgdata "$STANDBY"');
    scene.lead(folders.address("STANDBY"), [1]);
    const sockets = await Promise.all(scene.urls.map((url) => connectLive(url, scene.token)));
    await waitFor("a write at the promoted one", async () => {
      return (await two.write("at the promoted")).status === 200;
    });
    expect((await one.write("at the former")).status).toBe(200);
    expect((await one.write("heard at the former", { id: SHOP })).status).toBe(200);
    await machine.save("- at the former");
    await other.save("- at the promoted");
    await Promise.all([machine.synced(), other.synced()]);
    expect(await one.keys()).toEqual(["kept", "at the former"]);
    expect(await two.keys()).toEqual(["kept", "at the promoted"]);
    expect(await scene.epochOf("STANDBY")).not.toBe(await scene.epochOf("PRIMARY"));

    folders.run("", 'pg_ctl stop --mode immediate --silent --pgdata "$PRIMARY"');
    scene.lead(folders.address("STANDBY"));
    await waitFor("writes to go on", async () => (await one.write("afterwards")).status === 200);
    // Who listened there has to look anew.
    expect((await sockets[0]?.closed)?.code).toBe(1001);
    const lines = ["- first", "- at the former", "- at the promoted"];
    for (const each of [machine, other]) {
      await each.synced();
      await waitFor("both lines in a file", async () => {
        const found = await each.lines();
        return lines.every((line) => found.includes(line));
      });
    }
    for (const each of [one, two]) {
      expect(await each.hasLines(...lines)).toBe(true);
      expect(await each.keys(SHOP)).toEqual(["heard at the former"]);
      // What was written by calls alone, and no machine has heard, is gone with the former one.
      expect(await each.keys()).toEqual(["kept", "at the promoted", "afterwards"]);
    }
  },
  TIMEOUT_MS,
);
