import type { BoundLink } from "../../daemon/links/linked-folders.ts";

/** What to say of projects that a link has joined, or has left apart. */
export function settledJoinLines({ name, projectId, left, joins }: BoundLink): string[] {
  const nameOf = (join: { readonly to: string; readonly name?: string | undefined }) =>
    join.name === undefined ? join.to : `${join.name} (${join.to})`;
  return [
    // Whoever joins two projects here may believe that every machine has.
    ...(left
      ? [
          `what ${left.name} (${left.projectId}) had is in ${name}, too. Other machines are ` +
            `told, and go on in ${left.name} until \`memsync link --id ${projectId}\` there: ` +
            "what they write meanwhile comes then",
        ]
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
