import { Type } from "@sinclair/typebox";
import { LIMITS } from "../../shared/limits.ts";
import { MemoryIdText, ProjectIdText, SessionIdText } from "../../shared/wire/id.ts";
import { Layer } from "../../shared/wire/layer.ts";
import { text } from "../../shared/wire/text.ts";
import type { Parameter } from "./operation.ts";

const optional = { required: false } as const;

export const projectIdInPath: Parameter = {
  id: "ProjectId",
  name: "id",
  in: "path",
  required: true,
  description: "The project's id. An ill-formed one is 404, like an unknown one.",
  schema: ProjectIdText,
  example: "proj_shop",
};

export const memoryIdInPath: Parameter = {
  id: "MemoryId",
  name: "id",
  in: "path",
  required: true,
  description: "The memory's id. An ill-formed one is 404, like an unknown one.",
  schema: MemoryIdText,
  example: "mem_u6ykwnieueldi33viiaqvs22vd",
};

export const sessionIdInPath: Parameter = {
  id: "SessionId",
  name: "id",
  in: "path",
  required: true,
  description: "The session's id. An ill-formed one is 404, like an unknown one.",
  schema: SessionIdText,
  example: "sess_7f3a",
};

export const projectIdQuery: Parameter = {
  id: "ProjectIdQuery",
  name: "project_id",
  in: "query",
  ...optional,
  description: "Only what belongs to this project. An unknown one is 404.",
  schema: text(),
  example: "proj_shop",
};

export const currentProjectQuery: Parameter = {
  id: "CurrentProjectQuery",
  name: "project_id",
  in: "query",
  ...optional,
  description:
    "The current project. Without it: `X-Project-Id`, else the only project that the token is " +
    "bound to, else the one that it last created or plainly synced, else the account's last " +
    "synced one. Where there is none, no project's memories are listed.",
  schema: text(),
  example: "proj_widget",
};

export const oneOfTwoProjects: Parameter = {
  id: "OneProject",
  name: "project_id",
  in: "query",
  required: true,
  description: "One of the two projects.",
  schema: text(),
  example: "proj_widget",
};

export const otherOfTwoProjects: Parameter = {
  id: "OtherProject",
  name: "target_project_id",
  in: "query",
  required: true,
  description: "The other one.",
  schema: text(),
  example: "proj_shop",
};

export const projectIdHeader: Parameter = {
  id: "ProjectIdHeader",
  name: "X-Project-Id",
  in: "header",
  ...optional,
  description: "The current project, where the request does not name another.",
  schema: text(),
  example: "proj_widget",
};

export const layer: Parameter = {
  id: "Layer",
  name: "layer",
  in: "query",
  ...optional,
  description: "Only this layer.",
  schema: Layer,
  example: "project",
};

export const search: Parameter = {
  id: "Search",
  name: "q",
  in: "query",
  ...optional,
  description:
    "Full-text search: every word of it, or one that begins with it, occurs in key or content, " +
    "whatever its case and accents. The best match comes first.",
  schema: text({ bytesMax: LIMITS.queryBytes }),
  example: "build",
};

const limit: Parameter = {
  id: "Limit",
  name: "limit",
  in: "query",
  ...optional,
  description: "Size of the page. Without it everything that is left is answered.",
  schema: Type.Integer({ minimum: 1, maximum: LIMITS.pageSize }),
  example: 100,
};

const cursor: Parameter = {
  id: "Cursor",
  name: "cursor",
  in: "query",
  ...optional,
  description: "Where to go on: `next_cursor` of the page before, the rest of the query the same.",
  schema: text(),
  example: "WyJtZW1vcmllcyIsMTc5NTIzOTU3ODQyMSwiMSJd",
};

export const ifNoneMatch: Parameter = {
  id: "IfNoneMatch",
  name: "If-None-Match",
  in: "header",
  ...optional,
  description: "An `ETag` that you hold the answer of: if it is still the same, the answer is 304.",
  schema: text(),
  example: '"2z52aulxp51x4"',
};

export const idempotencyKey: Parameter = {
  id: "IdempotencyKey",
  name: "Idempotency-Key",
  in: "header",
  ...optional,
  description:
    "A text of your own, new for each thing to do. For 24 hours the same user's same request " +
    "with the same key is answered as it was the first time and does nothing; with another body " +
    "it is 400. A replica exchange needs none.",
  schema: text(),
  example: "5d5e4a56-7b0c-4c35-9f0a-1d2f3c4b5a69",
};

export const paging: readonly Parameter[] = [limit, cursor];
