import { createServer } from "node:http";

/**
 * Lets the benchmark ask for one piece of work after another: `POST /NAME` with a JSON body runs
 * the handler of that name and answers what it resolves to.
 */
export function serve(handlers) {
  const server = createServer(async (request, response) => {
    try {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = JSON.parse(Buffer.concat(chunks).toString() || "{}");
      const result = await handlers[request.url.slice(1)](body);
      response.end(JSON.stringify(result ?? {}));
    } catch (thrown) {
      response.statusCode = 500;
      response.end(String(thrown?.stack ?? thrown));
    }
  });
  server.listen(0, "127.0.0.1", () => {
    process.stdout.write(`ready at http://127.0.0.1:${server.address().port}\n`);
  });
}
