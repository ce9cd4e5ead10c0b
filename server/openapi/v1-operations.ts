import { Memory, MemoryCreateBody, MemoryDeleted, MemoryList } from "../../shared/wire/memory.ts";
import { ProjectList, ProjectWithText } from "../../shared/wire/project.ts";
import { Session, SessionList } from "../../shared/wire/session.ts";
import * as examples from "./examples.ts";
import type { Operation } from "./operation.ts";
import * as parameters from "./parameters.ts";
import { SYNC_ANSWER, SYNC_BODY, SYNC_DESCRIPTION } from "./sync-bodies.ts";

const memories: readonly Operation[] = [
  {
    id: "v1ListMemories",
    method: "get",
    path: "/v1/memories",
    tag: "Memories",
    summary: "List or search memories",
    description:
      "Without `layer`: the current project's memories, yours and the account's. The order is by " +
      "creation, the oldest first; with `q` by rank.",
    parameters: [
      parameters.currentProjectQuery,
      parameters.layer,
      parameters.search,
      ...parameters.paging,
      parameters.projectIdHeader,
      parameters.ifNoneMatch,
    ],
    answer: {
      kind: "page",
      schemas: [MemoryList],
      examples: { page: { summary: "The first page of two", value: examples.memoryPage } },
    },
    refusals: ["invalid_request", "not_found"],
  },
  {
    id: "v1CreateMemory",
    method: "post",
    path: "/v1/memories",
    tag: "Memories",
    summary: "Create a memory, or update one by its key",
    description:
      "A `key` that exists is updated and keeps its `id`; without a key each call makes a new " +
      "memory. A memory of the layer `project` goes to `project_id`, else to `X-Project-Id`, " +
      "else to the only project that the token is bound to or that the account has; with several " +
      "to choose from it is 400, rather than a guess.",
    parameters: [parameters.projectIdHeader, parameters.idempotencyKey],
    body: {
      required: true,
      schemas: [MemoryCreateBody],
      examples: {
        project: { summary: "Of a project, with a key", value: examples.memoryCreate },
        user: { summary: "Of the user, without a key", value: examples.userMemoryCreate },
      },
    },
    answer: {
      kind: "write",
      schemas: [Memory],
      examples: {
        project: { summary: "Of a project, with a key", value: examples.memory },
        user: { summary: "Of the user, without a key", value: examples.userMemory },
      },
    },
    refusals: ["invalid_request", "not_found"],
  },
  {
    id: "v1DeleteMemory",
    method: "delete",
    path: "/v1/memories/{id}",
    tag: "Memories",
    summary: "Delete a memory",
    description: "The second time it is 404.",
    parameters: [parameters.memoryIdInPath],
    answer: {
      kind: "write",
      schemas: [MemoryDeleted],
      examples: { deleted: { summary: "It is gone", value: examples.memoryDeleted } },
    },
    refusals: ["not_found"],
  },
];

const projects: readonly Operation[] = [
  {
    id: "v1ListProjects",
    method: "get",
    path: "/v1/projects",
    tag: "Projects",
    summary: "List projects",
    description: "By creation, the oldest first.",
    parameters: [...parameters.paging, parameters.ifNoneMatch],
    answer: {
      kind: "page",
      schemas: [ProjectList],
      examples: { all: { summary: "All there are", value: examples.projectList } },
    },
    refusals: ["invalid_request"],
  },
  {
    id: "v1GetProject",
    method: "get",
    path: "/v1/projects/{id}",
    tag: "Projects",
    summary: "Read a project with its description document",
    description: "Its memories come with variant B's `GET /api/projects/{id}`.",
    parameters: [parameters.projectIdInPath, parameters.ifNoneMatch],
    answer: {
      kind: "read",
      schemas: [ProjectWithText],
      examples: { project: { summary: "A project", value: examples.projectWithText } },
    },
    refusals: ["not_found"],
  },
  {
    id: "v1SyncProject",
    method: "post",
    path: "/v1/projects/{id}/sync",
    tag: "Sync",
    summary: "Sync a project",
    description: `${SYNC_DESCRIPTION}

An unknown project is created. Without a body nothing is changed, and the answer is the project as \
it is.`,
    parameters: [parameters.projectIdInPath, parameters.idempotencyKey],
    body: { required: false, ...SYNC_BODY },
    answer: SYNC_ANSWER,
    refusals: ["invalid_request", "not_found"],
  },
];

const sessions: readonly Operation[] = [
  {
    id: "v1ListSessions",
    method: "get",
    path: "/v1/sessions",
    tag: "Sessions",
    summary: "List sessions",
    description: "By last activity, the latest first. They come in by sync.",
    parameters: [parameters.projectIdQuery, ...parameters.paging, parameters.ifNoneMatch],
    answer: {
      kind: "page",
      schemas: [SessionList],
      examples: { all: { summary: "All there are", value: examples.sessionList } },
    },
    refusals: ["invalid_request", "not_found"],
  },
  {
    id: "v1GetSession",
    method: "get",
    path: "/v1/sessions/{id}",
    tag: "Sessions",
    summary: "Read a session",
    description: "What is not known of it is null.",
    parameters: [parameters.sessionIdInPath, parameters.ifNoneMatch],
    answer: {
      kind: "read",
      schemas: [Session],
      examples: { session: { summary: "A session", value: examples.session } },
    },
    refusals: ["not_found"],
  },
];

/** Variant A, in the order in which it is shown. */
export const v1Operations: readonly Operation[] = [...memories, ...projects, ...sessions];
