// A TCP proxy before the gateway whose connections can be cut, as a network does.
import { createServer, connect } from "node:net";
import { once } from "node:events";
import { GATEWAY } from "./sandbox.mjs";

export async function proxied() {
  const { hostname, port, pathname } = new URL(GATEWAY);
  const open = new Set();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) return client.destroy();
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [[client, upstream], [upstream, client]]) {
      open.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy()).on("close", () => (open.delete(from), to.destroy()));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}${pathname}`,
    cut() {
      isCut = true;
      for (const socket of open) socket.destroy();
    },
    restore() {
      isCut = false;
    },
    close() {
      this.cut();
      server.close();
    },
  };
}
