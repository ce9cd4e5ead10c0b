import { Type } from "@sinclair/typebox";
import { Health, Ready, Unready } from "../../shared/wire/health.ts";
import { jsonObject } from "../../shared/wire/json.ts";
import type { Operation } from "./operation.ts";
import { ifNoneMatch } from "./parameters.ts";

const METRICS = `# HELP memsync_live_sockets Live sockets that are open.
# TYPE memsync_live_sockets gauge
memsync_live_sockets 3
`;

/** What is served without an account's token, in display order. */
export const serviceOperations: readonly Operation[] = [
  {
    id: "serviceHealth",
    method: "get",
    path: "/healthz",
    tag: "Service",
    summary: "Ask whether the process answers",
    description: "It says nothing of the database.",
    open: true,
    parameters: [ifNoneMatch],
    answer: {
      kind: "read",
      schemas: [Health],
      examples: { ok: { summary: "It does", value: { status: "ok" } satisfies Health } },
    },
    refusals: [],
  },
  {
    id: "serviceReady",
    method: "get",
    path: "/readyz",
    tag: "Service",
    summary: "Ask whether requests can be served",
    description: "The one place where a status is 503.",
    open: true,
    parameters: [ifNoneMatch],
    answer: {
      kind: "read",
      schemas: [Ready],
      examples: { ready: { summary: "They can", value: { status: "ready" } satisfies Ready } },
    },
    refusals: [],
    more: {
      answers: {
        "503": {
          description: "They can't be served now, or no longer.",
          headers: { "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" } },
          content: {
            "application/json": {
              schema: Unready,
              examples: {
                starting: {
                  summary: "The database is being opened",
                  value: { status: "starting" } satisfies Unready,
                },
              },
            },
          },
        },
      },
    },
  },
  {
    id: "serviceMetrics",
    method: "get",
    path: "/metrics",
    tag: "Service",
    summary: "Read metrics",
    description:
      "In the text format of Prometheus. To this machine only, unless the server was given a " +
      "token for it, which is then the bearer token to send.",
    open: true,
    parameters: [],
    answer: {
      kind: "write",
      mediaType: "text/plain",
      schemas: [Type.String()],
      examples: { gauge: { summary: "One figure", value: METRICS } },
    },
    refusals: ["unauthorized"],
  },
  {
    id: "serviceDescription",
    method: "get",
    path: "/openapi.json",
    tag: "Service",
    summary: "Read this description",
    description: "OpenAPI 3.1, made from the schemas by which requests are checked.",
    open: true,
    parameters: [ifNoneMatch],
    answer: {
      kind: "document",
      schemas: [jsonObject({ description: "an OpenAPI document" })],
      examples: {
        head: {
          summary: "Its first lines",
          value: { openapi: "3.1.1", info: { title: "memsync", version: "0.1.0" } },
        },
      },
    },
    refusals: [],
  },
  {
    id: "serviceDocs",
    method: "get",
    path: "/docs",
    tag: "Service",
    summary: "Read this description as a page",
    description: "It loads nothing from anywhere else.",
    open: true,
    parameters: [ifNoneMatch],
    answer: {
      kind: "document",
      mediaType: "text/html",
      schemas: [Type.String()],
      examples: { head: { summary: "Its first line", value: "<!doctype html>" } },
    },
    refusals: [],
  },
];
