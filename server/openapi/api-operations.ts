import { Account } from "../../shared/wire/account.ts";
import { BatchAnswerBody, BatchBody } from "../../shared/wire/batch.ts";
import { ConnectAnswer, ConnectBody } from "../../shared/wire/connection.ts";
import { AccountBody, ChangedBody, SubscribeBody, SubscribedBody } from "../../shared/wire/live.ts";
import {
  ProjectDeleted,
  ProjectList,
  ProjectPutAnswer,
  ProjectPutBody,
  ProjectWithMemories,
} from "../../shared/wire/project.ts";
import { Stats } from "../../shared/wire/stats.ts";
import * as examples from "./examples.ts";
import type { Operation } from "./operation.ts";
import * as parameters from "./parameters.ts";
import { SYNC_ANSWER, SYNC_BODY, SYNC_DESCRIPTION } from "./sync-bodies.ts";

const projects: readonly Operation[] = [
  {
    id: "apiListProjects",
    method: "get",
    path: "/api/projects",
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
    id: "apiPutProject",
    method: "post",
    path: "/api/projects",
    tag: "Projects",
    summary: "Create or update a project",
    description:
      "With `id` it is that project. With a `name` alone it is the account's project of exactly " +
      "this name, else a new one; where several have the name it is 400. Text and metadata are " +
      "merged as in a plain sync.",
    parameters: [parameters.idempotencyKey],
    body: {
      required: true,
      schemas: [ProjectPutBody],
      examples: {
        byId: { summary: "By id", value: examples.projectPut },
        byName: { summary: "By name", value: examples.projectPutByName },
      },
    },
    answer: {
      kind: "write",
      schemas: [ProjectPutAnswer],
      examples: { created: { summary: "A new project", value: examples.projectPutAnswer } },
    },
    refusals: ["invalid_request"],
  },
  {
    id: "apiGetProject",
    method: "get",
    path: "/api/projects/{id}",
    tag: "Projects",
    summary: "Read a project with everything",
    description: "The project, its text, its memories, and what connected projects share.",
    parameters: [parameters.projectIdInPath, parameters.ifNoneMatch],
    answer: {
      kind: "read",
      schemas: [ProjectWithMemories],
      examples: {
        project: { summary: "A connected project", value: examples.projectWithMemories },
      },
    },
    refusals: ["not_found"],
  },
  {
    id: "apiDeleteProject",
    method: "delete",
    path: "/api/projects/{id}",
    tag: "Projects",
    summary: "Delete a project",
    description:
      "With its text, memories, metadata, sessions and connections, wherever it is synced to: " +
      "replicas learn of it by their next exchange. Files that are followed stay. Again: " +
      "404. Creating it again, or a plain sync by variant A, begins it anew, empty.",
    parameters: [parameters.projectIdInPath],
    answer: {
      kind: "write",
      schemas: [ProjectDeleted],
      examples: { deleted: { summary: "It is gone", value: examples.projectDeleted } },
    },
    refusals: ["not_found"],
  },
];

const syncs: readonly Operation[] = [
  {
    id: "apiSyncProject",
    method: "post",
    path: "/api/projects/{id}/sync",
    tag: "Sync",
    summary: "Sync a project",
    description: `${SYNC_DESCRIPTION}

An unknown project is 404: create it first.`,
    parameters: [parameters.projectIdInPath, parameters.idempotencyKey],
    body: { required: true, ...SYNC_BODY },
    answer: SYNC_ANSWER,
    refusals: ["invalid_request", "not_found"],
  },
  {
    id: "apiSyncAccount",
    method: "post",
    path: "/api/sync",
    tag: "Sync",
    summary: "Exchange many projects, or the user's and the account's documents alone",
    description: `A replica exchange of \`user\` and \`global\`. Sessions that come with it belong \
to no project.

With \`projects\` it is about up to 50 of them, too, and is one request. Each is answered as by a \
call of its own, and refused by itself: the answer has its \`documents\`, or the \`error\` that \
such a call would be answered. An unknown one is made, by its \`name\`. Once the answer or the \
work is large, the rest of the projects is answered \`later\`: nothing was done about \
them, send them again.`,
    parameters: [],
    body: {
      required: true,
      schemas: [BatchBody],
      examples: {
        both: { summary: "First contact", value: examples.accountExchange },
        projects: { summary: "Two projects", value: examples.batch },
      },
    },
    answer: {
      kind: "write",
      schemas: [BatchAnswerBody],
      examples: {
        both: { summary: "One with memories, one empty", value: examples.accountExchangeAnswer },
        projects: { summary: "One served, one not for this token", value: examples.batchAnswer },
      },
    },
    refusals: ["invalid_request"],
  },
];

const connections: readonly Operation[] = [
  {
    id: "apiConnectProjects",
    method: "post",
    path: "/api/projects/connect",
    tag: "Connections",
    summary: "Connect two projects",
    description: "Each sees the other's project memories. Again: the same answer.",
    parameters: [parameters.idempotencyKey],
    body: {
      required: true,
      schemas: [ConnectBody],
      examples: { two: { summary: "Two projects", value: examples.connectRequest } },
    },
    answer: {
      kind: "write",
      schemas: [ConnectAnswer],
      examples: { connected: { summary: "Connected", value: examples.connected } },
    },
    refusals: ["invalid_request", "not_found"],
  },
  {
    id: "apiDisconnectProjects",
    method: "delete",
    path: "/api/projects/connect",
    tag: "Connections",
    summary: "Undo a connection",
    description: "Which of the two is named first does not matter.",
    parameters: [parameters.oneOfTwoProjects, parameters.otherOfTwoProjects],
    answer: {
      kind: "write",
      schemas: [ConnectAnswer],
      examples: { undone: { summary: "Undone", value: examples.disconnected } },
    },
    refusals: ["invalid_request", "not_found"],
  },
];

const others: readonly Operation[] = [
  {
    id: "apiGetStats",
    method: "get",
    path: "/api/projects/stats",
    tag: "Usage",
    summary: "Read usage statistics",
    description: "Of what the token may see; `requests` are the whole account's.",
    parameters: [parameters.ifNoneMatch],
    answer: {
      kind: "read",
      schemas: [Stats],
      examples: { stats: { summary: "On the plan Pro", value: examples.stats } },
    },
    refusals: [],
  },
  {
    id: "apiGetAccount",
    method: "get",
    path: "/api/account",
    tag: "Usage",
    summary: "Read who shares the account",
    description:
      "The account's name, plan and number of users. Each of them sees the memories of the layer " +
      "`global`. Every token of the account is told, whatever it is bound to, and when it expires.",
    parameters: [parameters.ifNoneMatch],
    answer: {
      kind: "read",
      schemas: [Account],
      examples: { account: { summary: "A team of three", value: examples.account } },
    },
    refusals: [],
  },
  {
    id: "apiLive",
    method: "get",
    path: "/api/live",
    tag: "Live",
    summary: "Open a live socket",
    description: `A WebSocket handshake, charged as one request; a plain \`GET\` is 400. Frames \
are JSON texts. The client says which projects it wants to hear of, and may say more at any time; \
\`user\` and \`global\` come by themselves. The server answers with where their documents stand, \
and from then on tells of each commit.

Frames are hints and may be lost; the sync is the truth. The socket is closed with 1008 for a bad \
frame, 4401 once the token is no longer good, and 1001 when the server stops.`,
    parameters: [],
    answer: undefined,
    refusals: ["invalid_request"],
    more: {
      frames: { client: [SubscribeBody], server: [SubscribedBody, ChangedBody, AccountBody] },
      answers: {
        "101": {
          description: "The socket is open.",
          headers: {
            "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" },
            RateLimit: { $ref: "#/components/headers/RateLimit" },
            "RateLimit-Policy": { $ref: "#/components/headers/RateLimit-Policy" },
          },
        },
      },
    },
  },
];

/** Variant B and the extensions under its base address, in the order in which they are shown. */
export const apiOperations: readonly Operation[] = [
  ...projects,
  ...syncs,
  ...connections,
  ...others,
];
