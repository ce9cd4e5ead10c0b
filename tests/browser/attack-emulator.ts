// A visitor: pages of others try to control an emulator. What the browser itself holds back is
// no reach either; what it lets through, the emulator has to refuse.
import { createServer } from "node:http";
import type { Browser, Page } from "playwright-core";
import { errand, visitWith } from "./looks.ts";

/** What one page tried, and what became of it. */
export interface Attack {
  readonly page: string;
  /** Each attempt with what its script saw. */
  readonly tried: Readonly<Record<string, string>>;
  /** What the emulator's control calls answered, as the browser saw it. */
  readonly answers: readonly string[];
}

/** Another name for this machine, as after DNS rebinding. */
const FOREIGN_NAME = "attacker.example";

const { given: url } = errand<string>();
const { host, port } = new URL(url);

/** Runs in the page: each attempt resolves to what a script can see of it. */
const SCRIPT = `
async (target) => {
  const json = { "Content-Type": "application/json" };
  const send = (path, init) => fetch(target + "/_emulator/" + path, init)
    .then(async (answer) => answer.type === "opaque" ? "opaque" : answer.status + "")
    .catch((thrown) => thrown.name);
  const body = JSON.stringify({ scope: "all" });
  const socket = (path) => new Promise((resolve) => {
    const made = new WebSocket(target.replace("http", "ws") + path);
    made.onopen = () => resolve("open");
    made.onerror = () => resolve("error");
  });
  const frame = (method, enctype) => new Promise((resolve) => {
    const made = document.createElement("iframe");
    made.name = "frame-" + enctype;
    const form = document.createElement("form");
    Object.assign(form, { method, enctype, target: made.name });
    form.action = target + "/_emulator/reset";
    const field = document.createElement("input");
    Object.assign(field, { name: '{"scope":"all","x":"', value: '"}' });
    form.append(field);
    document.body.append(made, form);
    made.onload = () => resolve("loaded");
    form.submit();
  });
  const element = (name, path) => new Promise((resolve) => {
    const made = document.createElement(name);
    made.onload = () => resolve("loaded");
    made.onerror = () => resolve("error");
    made.src = target + "/_emulator/" + path;
    document.body.append(made);
  });
  return {
    "fetch json": await send("reset", { method: "POST", headers: json, body }),
    "fetch text": await send("reset", { method: "POST", body }),
    "fetch no-cors": await send("reset", { method: "POST", mode: "no-cors", body }),
    "fetch put": await send("faults", { method: "PUT", headers: json, body: '{"faults":[]}' }),
    "fetch delete": await send("requests", { method: "DELETE" }),
    "fetch export": await send("export", {}),
    "form text": await frame("post", "text/plain"),
    "form encoded": await frame("post", "application/x-www-form-urlencoded"),
    "script": await element("script", "export"),
    "socket": await socket("/_emulator/"),
    "live socket": await socket("/api/live"),
  };
}`;

async function attack(page: Page, name: string, address: string, target: string): Promise<Attack> {
  const answers: string[] = [];
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (!pathname.startsWith("/_emulator/")) return;
    answers.push(`${response.request().method()} ${pathname} ${response.status()}`);
  });
  await page.goto(address);
  const tried = (await page.evaluate(`(${SCRIPT})(${JSON.stringify(target)})`)) as Attack["tried"];
  await page.close();
  return { page: name, tried, answers };
}

async function attackAll(browser: Browser): Promise<Attack[]> {
  const others = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end("<!doctype html><body>");
  });
  await new Promise<void>((resolve) => others.listen(0, "127.0.0.1", resolve));
  const address = others.address();
  const other = typeof address === "object" ? address?.port : "";
  const rebound = await browser.newPage();
  // The page came from the attacker's machine, before the name was made this one's.
  await rebound.route(`**://${FOREIGN_NAME}:${port}/attack`, (route) =>
    route.fulfill({ contentType: "text/html", body: "<!doctype html><body>" }),
  );
  try {
    return [
      await attack(await browser.newPage(), "port", `http://127.0.0.1:${other}/`, url),
      await attack(await browser.newPage(), "loopback", `http://localhost:${other}/`, url),
      await attack(await browser.newPage(), "name", `http://${FOREIGN_NAME}:${other}/`, url),
      await attack(
        rebound,
        "rebound",
        `http://${FOREIGN_NAME}:${port}/attack`,
        url.replace(host, `${FOREIGN_NAME}:${port}`),
      ),
    ];
  } finally {
    others.close();
    others.closeAllConnections();
  }
}

/** Browsers of today hold more of this back by themselves than those of yesterday. */
const YESTERDAY = "--disable-features=LocalNetworkAccessChecks";

await visitWith(attackAll, [`--host-resolver-rules=MAP ${FOREIGN_NAME} 127.0.0.1`, YESTERDAY]);
