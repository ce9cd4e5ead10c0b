import { afterAll, beforeAll, beforeEach } from "vitest";
import { timeOutsideTests } from "./outside-tests.mjs";

const ADDRESS = "http://memories.test";

await timeOutsideTests(async () => {
  const { HttpResponse, http } = await import("msw");
  const { setupServer } = await import("msw/node");
  let memories = [];
  const path = `${ADDRESS}/v1/memories`;
  const server = setupServer(
    http.get(path, () => HttpResponse.json({ memories })),
    http.post(path, async ({ request }) => {
      const memory = { id: `mem_${memories.length}`, ...(await request.json()) };
      memories.push(memory);
      return HttpResponse.json(memory);
    }),
  );
  beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
  beforeEach(() => {
    server.resetHandlers();
    memories = [];
  });
  afterAll(() => server.close());
  return () => ADDRESS;
});
