import type { BoundLink } from "../../daemon/links/linked-folders.ts";
import { count } from "../screen/output.ts";

/** What to say of projects that a link has joined, or has left apart. */
export function settledJoinLines({ name, projectId, left, joins, held }: BoundLink): string[] {
  const nameOf = (join: { readonly to: string; readonly name?: string | undefined }) =>
    join.name === undefined ? join.to : `${join.name} (${join.to})`;
  // A folder's name may be that of both.
  const there = left?.name === name ? projectId : name;
  const writes = count(held, "write is", "writes are");
  return [
    // The user may believe that every machine has joined them, so it is said what the others do.
    ...(left
      ? [
          `what ${left.name} (${left.projectId}) had is in ${there}, too. Other machines are ` +
            `told, and go on in ${left.name} until \`memsync link --id ${projectId}\` there: ` +
            "what they write meanwhile comes then",
        ]
      : []),
    ...(held > 0
      ? [`${left ? "of that, " : ""}${writes} held on this machine: \`memsync held\` says why`]
      : []),
    ...(joins?.ended ?? []).map(
      (join) =>
        `machines that have followed into ${nameOf(join)} are told that it is ${name} again`,
    ),
    ...(joins?.declined ?? []).map(
      (join) =>
        `${name} stays as it is on this machine, and nothing more is said here of its being ` +
        `joined to ${nameOf(join)}; \`memsync link --id ${join.to}\` still joins it, and ` +
        `\`memsync link --id ${projectId} --everywhere\` ends that for every machine`,
    ),
  ];
}
