import type { Memory } from "../../../shared/wire/memory.ts";
import type { Project } from "../../../shared/wire/project.ts";
import type { ProjectDetails } from "../../services/services.ts";

/** A memory with the specification's four fields. */
export function publishedMemory({ id, content, layer, created_at }: Memory) {
  return { id, content, layer, created_at };
}

/** A project as variant A and the lists of both variants show it. */
export function publishedProject({ id, name }: Project) {
  return { id, name };
}

/** A project with its memories, as variant B shows it. */
export function publishedProjectWithMemories(found: ProjectDetails) {
  return {
    ...publishedProject(found.project),
    claude_md_content: found.claudeMdContent,
    metadata: found.project.metadata,
    memories: found.memories.map(({ id, key, content }) => ({ id, key, value: content })),
  };
}
