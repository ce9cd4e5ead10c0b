import type { Command } from "commander";
import { LOCAL_ACCOUNT } from "../../gateway/mount.ts";
import type { Environment } from "../environment.ts";
import { findProject } from "../find-project.ts";
import { openLocal } from "../local-memories.ts";
import { sayJson } from "../output.ts";

/** `doc`: the project's description document, merged. */
export function addDocCommand(program: Command, env: Environment): void {
  program
    .command("doc")
    .description("print the project's description document, merged from every machine")
    .option("--project <dir|id>", "a folder or a project's id, instead of the current folder")
    .option("--json", "print it as JSON")
    .action(async (options: { project?: string; json?: boolean }) => {
      const { id, content } = await readDocument(env, options.project);
      if (options.json) sayJson({ project_id: id, claude_md_content: content });
      else process.stdout.write(content);
    });
}

async function readDocument(env: Environment, named: string | undefined) {
  const db = await openLocal(env.home);
  try {
    const id = await findProject(db, named, env.dir);
    const row = await db
      ?.selectFrom("texts")
      .innerJoin("documents", "documents.id", "texts.document_id")
      .select("texts.content")
      .where("documents.owner", "=", LOCAL_ACCOUNT)
      .where("documents.name", "=", id)
      .executeTakeFirst();
    return { id, content: row?.content ?? "" };
  } finally {
    await db?.destroy();
  }
}
