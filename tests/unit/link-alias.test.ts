import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KyselyPlugin } from "kysely";
import { readPlace } from "../../daemon/files/names/folder-place.ts";
import { putKnownPlace } from "../../daemon/files/names/place-store.ts";
import type { Link } from "../../daemon/home/links.ts";
import { findAlias } from "../../daemon/links/plan-place.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { projectId } from "../support/project-id.ts";

const FOLDERS = 50;

test("another path of a linked folder is found by as many questions as there is one link", async () => {
  const folder = mkdtempSync(join(tmpdir(), "memsync-alias-"));
  const store = await openTestReplica(join(folder, "memsync.db"), createDrivenWorld("alias"));
  const links: Link[] = [];
  for (let at = 0; at < FOLDERS; at++) {
    const dir = join(folder, `linked-${at}`);
    mkdirSync(dir);
    const found = await readPlace(dir);
    if (found.kind !== "folder") throw new Error("the folder was made");
    const { place } = found;
    const known = { evidence: "none", derivedId: undefined, rootCommit: undefined } as const;
    await store.write(({ db }) => putKnownPlace(db, dir, { ...known, place, change: undefined }));
    const projectName = `p${at}`;
    links.push({ dir, projectId: projectId(projectName), name: projectName, write: false });
  }
  let asked = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      asked++;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const db = store.reader.withPlugin(counting);
  const last = join(folder, `linked-${FOLDERS - 1}`);
  const alias = join(folder, "alias");
  symlinkSync(last, alias);
  expect(await findAlias(db, links, alias)).toBe(last);
  // The folder itself is no other path, nor is one that is linked nowhere.
  expect(await findAlias(db, links, last)).toBeUndefined();
  expect(await findAlias(db, links, folder)).toBeUndefined();
  expect(await findAlias(db, [], alias)).toBeUndefined();
  expect(asked).toBe(4);
  await store.close();
});
