import { describe, expect, test } from "bun:test";
import type { Kysely } from "kysely";
import { compiled } from "../../shared/sqlite/compiled.ts";
import { connect } from "../../shared/sqlite/connect-bun.ts";
import { kyselyOver } from "../../shared/sqlite/database.ts";
import { savepoint, writeTransaction } from "../../shared/sqlite/transaction.ts";
import { failureOf } from "../support/failure.ts";
import { watched } from "../support/watched-connection.ts";

interface Tables {
  notes: { id: number; text: string };
}

type Db = Kysely<Tables>;

const add = compiled((db: Db, { id, text }: { readonly id: number; readonly text: string }) =>
  db.insertInto("notes").values({ id, text }),
);
const texts = compiled((db: Db, { from }: { readonly from: number }) =>
  db.selectFrom("notes").select("text").where("id", ">=", from).orderBy("id"),
);

function newDatabase(watch: (sql: string) => void = () => undefined) {
  const damage: unknown[] = [];
  const connection = watched(connect(":memory:", { readonly: false }), watch);
  connection.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)");
  return { db: kyselyOver<Tables>(connection, (thrown) => damage.push(thrown)), damage };
}

describe("compiled statements", () => {
  test("run at once inside a transaction, and see what it did", async () => {
    const { db } = newDatabase();
    await writeTransaction(db, async (inside) => {
      add.now(inside, { id: 1, text: "one" });
      await add(inside, { id: 2, text: "two" });
      expect(texts.now(inside, { from: 1 })).toEqual([{ text: "one" }, { text: "two" }]);
    });
    expect(await texts(db, { from: 2 })).toEqual([{ text: "two" }]);
  });

  test("compiled statements are refused at once outside of one", async () => {
    const { db } = newDatabase();
    expect(() => add.now(db, { id: 1, text: "one" })).toThrow("inside a write transaction only");
    let kept: Db | undefined;
    await writeTransaction(db, async (inside) => {
      kept = inside;
    });
    expect(() => add.now(kept ?? db, { id: 1, text: "one" })).toThrow(
      "inside a write transaction only",
    );
    expect(await texts(db, { from: 0 })).toEqual([]);
  });

  test("compiled statements of others wait for the end of a transaction", async () => {
    const { db } = newDatabase();
    let other: Promise<unknown> | undefined;
    await writeTransaction(db, async (inside) => {
      add.now(inside, { id: 1, text: "one" });
      other = texts(db, { from: 0 });
      await Promise.resolve();
      add.now(inside, { id: 2, text: "two" });
    });
    expect(await other).toEqual([{ text: "one" }, { text: "two" }]);
  });

  test("compiled statements that throw leave nothing of their savepoint, or of their transaction", async () => {
    const { db } = newDatabase();
    const failed = await failureOf(() =>
      writeTransaction(db, async (inside) => {
        add.now(inside, { id: 1, text: "one" });
        const step = await savepoint(inside, async () => {
          add.now(inside, { id: 2, text: "two" });
          add.now(inside, { id: 1, text: "again" });
        });
        expect(step.kept).toBeFalse();
        expect(texts.now(inside, { from: 0 })).toEqual([{ text: "one" }]);
        throw new Error("no");
      }),
    );
    expect(failed).toEqual(new Error("no"));
    expect(await texts(db, { from: 0 })).toEqual([]);
  });

  test("compiled statements that find the file damaged say so, as others do", async () => {
    const corrupt = Object.assign(new Error("disk image is malformed"), { code: "SQLITE_CORRUPT" });
    const { db, damage } = newDatabase((sql) => {
      if (sql.startsWith("select")) throw corrupt;
    });
    expect(
      await failureOf(() => writeTransaction(db, (inside) => texts(inside, { from: 0 }))),
    ).toBe(corrupt);
    expect(damage).toEqual([corrupt]);
    expect(await failureOf(() => texts(db, { from: 0 }))).toBe(corrupt);
    expect(damage).toEqual([corrupt, corrupt]);
  });
});
