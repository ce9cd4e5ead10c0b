import { SQLite } from "@hocuspocus/extension-sqlite";
import { Server } from "@hocuspocus/server";

// As its documentation has it: documents in SQLite, stored some time after a change.
const [database, token] = process.argv.slice(2);
const server = new Server({
  address: "127.0.0.1",
  port: 0,
  quiet: true,
  extensions: [new SQLite({ database })],
  async onAuthenticate(data) {
    if (data.token !== token) throw new Error("a wrong token");
  },
});
await server.listen();
process.stdout.write(`ready at ${server.httpURL}\n`);
