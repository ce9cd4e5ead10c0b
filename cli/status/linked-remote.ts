import { EMBEDDED } from "../../daemon/home/remote.ts";
import type { BoundLink } from "../../daemon/links/linked-folders.ts";
import { shellWord } from "../../shared/shell-word.ts";
import type { Environment } from "../place/environment.ts";
import { listRemotesOf } from "../writes/remote-changes.ts";

/** The name of the remote that each project is bound to, by the project's id. */
export async function boundRemotes(env: Environment): Promise<ReadonlyMap<string, string>> {
  const listed = await listRemotesOf(env);
  return new Map(
    listed.flatMap(({ name, projects }) => projects.map(({ id }) => [id, name] as const)),
  );
}

/** What to say of a project that was bound to a remote by its name. `former`: its remote before. */
export async function boundRemoteLines(
  env: Environment,
  { dir, remote }: Pick<BoundLink, "dir" | "remote">,
  former: string | undefined,
): Promise<string[]> {
  const now = (await listRemotesOf(env)).find(({ name }) => name === remote);
  const isMoved = former !== undefined && former !== remote;
  return [
    ...(isMoved
      ? [
          `what ${former} has of it stays there, and nothing more of this machine's goes there; ` +
            `\`memsync link ${shellWord(dir)} --remote ${former}\` binds it to that again`,
        ]
      : []),
    ...(now && now.url !== null && now.token === null
      ? [
          `${remote} has no token here, so nothing is sent there until ` +
            `\`memsync login --remote ${remote}\``,
        ]
      : []),
  ];
}

/** How other machines get a new project that nothing in its folder names. */
export function joinedByIdShown({
  dir,
  projectId,
  remote,
}: Pick<BoundLink, "dir" | "projectId" | "remote">): string {
  const unnamed = "nothing says elsewhere which project this is, such as a git remote";
  const joins = `on other machines \`memsync link --id ${projectId}\` joins it`;
  if (remote !== EMBEDDED) return `${unnamed}: ${joins}`;
  return (
    `${unnamed}, and the embedded service is on this machine alone. Once \`memsync login\` and ` +
    `\`memsync link ${shellWord(dir)} --remote NAME\` have brought it to another one, ${joins}`
  );
}
