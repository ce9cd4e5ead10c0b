import type { Command } from "commander";
import type { Environment } from "../place/environment.ts";

const HELP = `
An assistant starts this itself: it speaks MCP on standard input and output until its input ends.
The project is the one that a call names, else that of --project, of CLAUDE_PROJECT_DIR or of the
current folder; every answer says which it is, and why. None is guessed: where the folder is in no
project, the layers user and global are read, and a write has to name its project.

Examples:
  claude mcp add --scope user memsync -- memsync mcp
  codex mcp add memsync -- memsync mcp
  memsync mcp --project ~/src/widget`;

/** `mcp`: the memories as tools of an assistant. */
export function addMcpCommand(program: Command, env: Environment): void {
  program
    .command("mcp")
    .description("serve the memories to an assistant, as MCP on standard streams")
    .option("--project <dir|id|name>", "another project than the current folder's")
    .addHelpText("after", HELP)
    .action(async ({ project }: { readonly project?: string }) => {
      // It takes as long to load as everything else together.
      const { serveMemories } = await import("../mcp/serve.ts");
      await serveMemories(env, project);
    });
}
