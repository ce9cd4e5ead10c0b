import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { RULE_FOLDERS } from "../../daemon/assistants/rules/rule-folders.ts";
import { serenaHome } from "../../daemon/assistants/serena/memory-folders.ts";
import { type FolderKind, type FolderMode, folderMode } from "../../daemon/home/folder-switches.ts";
import { listLinks } from "../../daemon/home/links.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { assistantsFor } from "../setup/assistant.ts";
import { TURN_ON_AUTO_MEMORY } from "../setup/auto-memory-hint.ts";
import { isInUse } from "../setup/set-up.ts";
import { type Finding, noted } from "./finding.ts";

/** What is said of each kind of folder. */
const SAID: Readonly<Record<FolderKind, Readonly<Record<FolderMode, string>>>> = {
  "auto-memory": {
    off: `not read: ${TURN_ON_AUTO_MEMORY}`,
    read: "read, and not written",
    write: "read and written",
  },
  serena: {
    off: "its memories are not read: `memsync serena on` brings them to your other machines",
    read: "its memories are read, and not written",
    write: "its memories are read and written",
  },
  rules: {
    off: "those of linked projects are not followed: `memsync rules on` follows them",
    read: "those of linked projects are read, and not written",
    write: "those of linked projects are followed",
  },
};

/**
 * Whether what assistants keep in files is read. Says nothing of assistants that are not in use.
 */
export async function checkMemoryFolders(env: Environment): Promise<Finding[]> {
  const { variables, home } = env;
  const around = { userFolder: homedir(), platform: process.platform, variables };
  const used: Readonly<Record<FolderKind, boolean>> = {
    "auto-memory": assistantsFor(around).some((each) => each.id === "claude" && isInUse(each)),
    serena: existsSync(serenaHome(homedir(), variables)),
    rules: await hasRules(env),
  };
  const found = (kind: FolderKind) => SAID[kind][folderMode(home, kind)];
  return [
    ...(used["auto-memory"] ? [noted("auto-memory-mode", found("auto-memory"))] : []),
    ...(used.serena ? [noted("serena-mode", found("serena"))] : []),
    ...(used.rules ? [noted("rules-mode", found("rules"))] : []),
  ];
}

/** Whether a linked project has rules here. What is wrong with the database is another finding. */
async function hasRules(env: Environment): Promise<boolean> {
  const found = await withLocal(env, async (db) => {
    const links = db ? await listLinks(db) : [];
    return await RULE_FOLDERS.find({ links, cwds: [], kept: new Map() });
  }).catch(() => []);
  return found.some(({ isNew }) => !isNew);
}
