import { expect, test } from "bun:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { createDocsPage } from "../../server/docs/page.ts";
import { createEmulatorApp } from "../../server/emulator/emulator-app.ts";
import { createOpenApiDocument, OPERATIONS } from "../../server/openapi/document.ts";
import { SchemaPublisher } from "../../server/openapi/published-schema.ts";
import { Readiness } from "../../server/operations/readiness.ts";
import { silentLog } from "../../shared/log.ts";
import { Account } from "../../shared/wire/account.ts";
import { realWorld } from "../../shared/world-real.ts";
import { OpenApiContract } from "../support/openapi-contract.ts";

const document = createOpenApiDocument();
const contract = new OpenApiContract(document);

/** What a socket needs and OpenAPI has no word for. */
const OF_THE_SOCKET = [
  "operation-2xx-response #/paths/~1api~1live/get/responses",
  "no-unused-components #/components/schemas/LiveAccount",
  "no-unused-components #/components/schemas/LiveChanged",
  "no-unused-components #/components/schemas/LiveSubscribe",
  "no-unused-components #/components/schemas/LiveSubscribed",
];

test("the description keeps to all recommended rules of a linter", async () => {
  const problems = await lintFromString({
    source: JSON.stringify(document),
    config: await createConfig({ extends: ["recommended-strict"] }),
  });
  const found = problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`);
  expect(found.sort()).toEqual(OF_THE_SOCKET.sort());
});

test("every route is described, and nothing else", async () => {
  const { app, close } = await createEmulatorApp({
    path: ":memory:",
    plan: "pro",
    limits: "on",
    loopbackOnly: true,
    readiness: new Readiness("ready"),
    world: realWorld,
    log: silentLog,
  });
  await close();
  const served = app.routes.map(
    ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
  );
  const described = contract
    .operations()
    .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(described.sort()).toEqual(served.sort());
});

test("every body, answer, parameter and header has an example that is valid", () => {
  const problems: string[] = [];
  const check = (place: readonly string[], value: unknown) => {
    problems.push(...contract.problems(place, value).map((each) => `${place.join(" ")}: ${each}`));
  };
  const checkContent = (place: readonly string[], content: object = {}) => {
    for (const [type, { examples }] of Object.entries(content)) {
      const values = Object.values(examples) as { value: unknown }[];
      expect(values.length).toBeGreaterThan(0);
      for (const { value } of values) check([...place, "content", type, "schema"], value);
    }
  };
  for (const { method, path, operation } of contract.operations()) {
    const place = ["paths", path, method];
    checkContent([...place, "requestBody"], operation.requestBody?.content);
    for (const [status, response] of Object.entries(operation.responses)) {
      if (!("$ref" in response)) checkContent([...place, "responses", status], response.content);
    }
  }
  const { parameters, headers, responses } = document.components;
  for (const [name, { content }] of Object.entries(responses)) {
    checkContent(["components", "responses", name], content);
  }
  for (const [kind, all] of Object.entries({ parameters, headers })) {
    for (const [name, { example }] of Object.entries(all)) {
      check(["components", kind, name, "schema"], example);
    }
  }
  expect(problems).toEqual([]);
});

test("an example that breaks its schema is found", () => {
  const place = ["components", "schemas", "Memory"];
  expect(contract.problems(place, { id: "mem_a", layer: "team" })).not.toEqual([]);
  const [list] = OPERATIONS;
  const value = Object.values(list?.answer?.examples ?? {})[0]?.value as object;
  const listed = ["components", "schemas", "MemoryList"];
  expect(contract.problems(listed, value)).toEqual([]);
  expect(contract.problems(listed, { ...value, more: 1 })).not.toEqual([]);
});

test("operations have names that differ, and say whether they need a token", () => {
  const ids = OPERATIONS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, operation } of contract.operations()) {
    const isInterface = /^\/(v1|api)\//.test(path);
    expect(operation.security === undefined).toBe(isInterface);
    expect(operation.responses["401"] === undefined && isInterface).toBe(false);
  }
});

test("the page shows every operation and names no other host", () => {
  const { html } = createDocsPage(document);
  for (const { operation, path } of contract.operations()) {
    expect(html).toContain(`<article id="${operation.operationId}">`);
    expect(html).toContain(`$MEMSYNC_URL${path.split("{")[0]}`);
  }
  expect(html).not.toMatch(/(https?:)?\/\/[a-z]/);
  expect(html).not.toContain("[object Object]");
  expect(html).not.toMatch(/undefined[<"]/);
});

test("every link of the page leads to one place of it", () => {
  const { html } = createDocsPage(document);
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const links = [...html.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id);
  expect(links.filter((link) => !ids.includes(link))).toEqual([]);
});

test("nothing in a description can break out of the page", () => {
  const evil = '<img src=x onerror="a">';
  const changed = { ...document, info: { ...document.info, description: evil, title: evil } };
  const { html } = createDocsPage(changed);
  expect(html).not.toContain("<img");
  expect(html).toContain("&lt;img src=x onerror=&quot;a&quot;&gt;");
});

test("what is one of a few words or null is described with null", () => {
  const publisher = new SchemaPublisher();
  publisher.publish(Account, "answer");
  const { properties } = publisher.components().Account ?? {};
  expect(properties).toMatchObject({
    plan: { type: ["string", "null"], enum: ["pro", "team", null] },
    users: { type: ["integer", "null"] },
  });
});
