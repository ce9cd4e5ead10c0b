import {
  MEMORY_ID,
  type MemoryId,
  PROJECT_ID,
  type ProjectId,
  SESSION_ID,
  type SessionId,
} from "../ids.ts";
import { text } from "./text.ts";

/** A project's id where another form is refused, and in answers. */
export const ProjectIdText = text<ProjectId>({
  pattern: PROJECT_ID,
  expected: "proj_ and 1 to 64 of [0-9A-Za-z_-]",
});

/** A memory's id in answers. */
export const MemoryIdText = text<MemoryId>({
  pattern: MEMORY_ID,
  expected: "mem_ and 1 to 64 of [0-9A-Za-z_-]",
});

/** A session's id where another form is refused, and in answers. */
export const SessionIdText = text<SessionId>({
  pattern: SESSION_ID,
  expected: "sess_ and 1 to 64 of [0-9A-Za-z_-]",
});
