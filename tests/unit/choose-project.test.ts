import { expect, test } from "bun:test";
import type { KnownPlace } from "../../daemon/files/names/place-store.ts";
import type { ProjectIdentity } from "../../daemon/git/identity.ts";
import type { Link } from "../../daemon/home/links.ts";
import {
  chooseProject,
  type LinkFacts,
  repositoryNote,
} from "../../daemon/links/choose-project.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { projectId } from "../support/project-id.ts";

const OLD = projectId("old");
const NEW = projectId("new");
const ASKED = projectId("asked");
const FORMER: Link = { dir: "/a", projectId: OLD, name: "a", write: false };
const PLACE = { device: "1", inode: "2", bornAt: "3" };
const NO_GIT: ProjectIdentity = { kind: "none", why: "no-git", name: "a" };

function identity(kind: "origin" | "root-commit", projectId: ProjectId): ProjectIdentity {
  return { kind, projectId, name: "a", root: "/a", pathInside: "" };
}

const KNOWN: KnownPlace = {
  place: PLACE,
  evidence: "origin",
  derivedId: OLD,
  rootCommit: "r",
  change: undefined,
};
const FACTS: LinkFacts = {
  asked: undefined,
  identity: identity("origin", NEW),
  rootCommit: "r",
  former: FORMER,
  known: KNOWN,
  replaced: false,
};

/** What is chosen where the facts differ from a URL that changed. */
function chosen(facts: Partial<LinkFacts>) {
  const { projectId, evidence, bringsMemories } = chooseProject({ ...FACTS, ...facts });
  return [projectId, evidence, bringsMemories];
}

const byCommit: KnownPlace = { ...KNOWN, evidence: "root-commit" };
const byNothing: KnownPlace = { ...KNOWN, evidence: "none", derivedId: undefined };
const byUser: KnownPlace = { ...KNOWN, evidence: "chosen", derivedId: NEW };

test("a linked folder stays what it is, until there is better evidence", () => {
  expect(chosen({})).toEqual([OLD, "origin", false]);
  expect(chosen({ identity: identity("root-commit", NEW) })).toEqual([OLD, "origin", false]);
  expect(chosen({ identity: NO_GIT })).toEqual([OLD, "origin", false]);
  expect(chosen({ rootCommit: undefined })).toEqual([OLD, "origin", false]);
  expect(chosen({ known: byUser })).toEqual([OLD, "chosen", false]);
  expect(chosen({ known: byCommit })).toEqual([NEW, "origin", true]);
  expect(chosen({ known: byNothing })).toEqual([NEW, "origin", true]);
});

test("what the user names is what it is linked to", () => {
  expect(chosen({ asked: ASKED })).toEqual([ASKED, "chosen", true]);
  expect(chosen({ asked: NEW })).toEqual([NEW, "origin", true]);
});

test("another repository gets nothing of the former one's", () => {
  expect(chosen({ rootCommit: "s" })).toEqual([NEW, "origin", false]);
  expect(chosen({ replaced: true })).toEqual([NEW, "origin", false]);
  expect(chosen({ replaced: true, known: byNothing })).toEqual([NEW, "origin", false]);
  expect(chosen({ replaced: true, known: byUser })).toEqual([OLD, "chosen", false]);
  expect(chosen({ identity: identity("root-commit", NEW), rootCommit: "s" })).toEqual([
    OLD,
    "origin",
    false,
  ]);
});

test("a folder that is linked for the first time is what git says", () => {
  const first = { former: undefined, known: undefined };
  expect(chosen(first)).toEqual([NEW, "origin", false]);
  expect(chosen({ ...first, identity: NO_GIT })).toEqual([undefined, "none", false]);
  expect(chosen({ known: undefined })).toEqual([NEW, "origin", true]);
  expect(chosen({ known: undefined, identity: NO_GIT })).toEqual([OLD, "none", true]);
});

test("only what git says otherwise than before is noted", () => {
  const note = (known: KnownPlace, said: ProjectIdentity) => repositoryNote(FORMER, said, known);
  expect(note(KNOWN, identity("origin", NEW))).toEqual({
    code: "repository-renamed",
    id: "proj_new",
  });
  expect(note(byCommit, identity("origin", NEW))).toEqual({ code: "repository-identified" });
  for (const [known, said] of [
    [KNOWN, identity("origin", OLD)],
    [KNOWN, identity("root-commit", NEW)],
    [KNOWN, NO_GIT],
    [byUser, identity("origin", NEW)],
  ] as const) {
    expect(note(known, said)).toBeUndefined();
  }
});
