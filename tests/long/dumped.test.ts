import { expect } from "bun:test";
import { openScene, SHOP, steps } from "../support/guide-scene.ts";
import { inCi, testWith } from "../support/needs.ts";
import { POSTGRES_PROGRAMS } from "../support/postgres-folders.ts";
import { waitFor } from "../support/wait-for.ts";

const TIMEOUT_MS = 240_000;

const LINES = ["- before the dump", "- after the dump"];

/** A dump by the guide's step, and what came after it by a machine and by calls alone. */
async function openDumped() {
  const scene = await openScene();
  const { folders, machine, two } = scene;
  const variables = {
    ADDRESS: folders.address("PRIMARY", "postgres"),
    DATABASE: folders.address("PRIMARY"),
    RESTORED_DATABASE: folders.address("PRIMARY", "memsync_restored"),
    DUMP: folders.path("dump"),
    ROWS: folders.path("rows.sql"),
  };
  const run = async (begin: string) => folders.run("PRIMARY", await steps(begin), variables);
  await machine.save(LINES[0] ?? "");
  await machine.synced();
  expect((await two.write("before")).status).toBe(200);
  await run("pg_dump ");
  folders.run("PRIMARY", `pg_dump --dbname "$DATABASE" --data-only --file "$ROWS"`, variables);
  await machine.save(LINES[1] ?? "");
  await machine.synced();
  expect((await two.write("after")).status).toBe(200);
  expect((await two.write("heard", { id: SHOP })).status).toBe(200);
  await machine.synced();
  return { ...scene, run, former: await scene.epochOf("PRIMARY") };
}

/** Daemons have brought what they had; what was written by calls alone is as it was dumped. */
async function expectBack(scene: Awaited<ReturnType<typeof openDumped>>, database?: string) {
  const { machine, one, two } = scene;
  await waitFor("writes to go on", async () => (await two.write("afterwards")).status === 200);
  await machine.synced();
  for (const each of [one, two]) {
    expect(await each.keys()).toEqual(["before", "afterwards"]);
    await waitFor("the daemon to bring its file", () => each.hasLines(...LINES));
    expect(await each.keys(SHOP)).toEqual(["heard"]);
    expect(await each.isAsMade()).toBe(true);
  }
  expect(await scene.epochOf("PRIMARY", database)).not.toBe(scene.former);
}

testWith(
  inCi(POSTGRES_PROGRAMS),
  "a dump that is put into a new database by the guide's steps gets from daemons what came later",
  async () => {
    await using scene = await openDumped();
    await scene.endServers();
    await scene.run("createdb ");
    await scene.startServers("memsync_restored");
    await expectBack(scene, "memsync_restored");
  },
  TIMEOUT_MS,
);

testWith(
  inCi(POSTGRES_PROGRAMS),
  "a dump that is put in the place of a database under running servers is noticed by all of them",
  async () => {
    await using scene = await openDumped();
    await scene.run("pg_restore ");
    await expectBack(scene);
  },
  TIMEOUT_MS,
);

testWith(
  inCi(POSTGRES_PROGRAMS),
  "a database that is dropped and made of a dump under running servers is noticed by all of them",
  async () => {
    await using scene = await openDumped();
    const { folders } = scene;
    folders.run(
      "PRIMARY",
      `dropdb --force --maintenance-db "$ADDRESS" memsync
      createdb --maintenance-db "$ADDRESS" --template template0 memsync
      pg_restore --dbname "$DATABASE" --no-owner --single-transaction "$DUMP"`,
      {
        ADDRESS: folders.address("PRIMARY", "postgres"),
        DATABASE: folders.address("PRIMARY"),
        DUMP: folders.path("dump"),
      },
    );
    await expectBack(scene);
  },
  TIMEOUT_MS,
);

/** Rows of a dump, as `printed`, in the place of those that are there. */
async function putRowsBack(printed: string) {
  await using scene = await openDumped();
  const { folders } = scene;
  folders.run(
    "PRIMARY",
    `tables=$(psql --quiet --tuples-only --dbname "$DATABASE" --command "SELECT
        string_agg(quote_ident(tablename), ', ') FROM pg_tables WHERE schemaname = 'public'")
      { echo "BEGIN; TRUNCATE $tables;"
        ${printed}
        echo "COMMIT;"
      } | psql --quiet --set ON_ERROR_STOP=1 --dbname "$DATABASE" > rows.log`,
    {
      DATABASE: folders.address("PRIMARY"),
      DUMP: folders.path("dump"),
      ROWS: folders.path("rows.sql"),
    },
  );
  await expectBack(scene);
}

testWith(
  inCi(POSTGRES_PROGRAMS),
  "rows that are put back into the tables that are there are another database, too",
  () => putRowsBack('pg_restore --data-only --disable-triggers --file - "$DUMP"'),
  TIMEOUT_MS,
);

testWith(
  inCi(POSTGRES_PROGRAMS),
  "rows that are put back and meet triggers are as they were",
  () => putRowsBack('cat "$ROWS"'),
  TIMEOUT_MS,
);
