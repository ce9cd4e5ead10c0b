// A visitor: uses the live page of an emulator, by the keyboard where a person would.

import { createServer, connect as dial, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { errand, isKept, LOOKS, openPage, visitWith } from "./looks.ts";

/** What was done by the page, and what came of it. */
export interface EmulatorUse {
  readonly complaints: readonly string[];
  /** The fault's row: when it was added, when a request had it, when it was turned on again. */
  readonly faults: readonly string[];
  /** How the request ended that had the fault. */
  readonly lost: string;
  /** Where the focus was with the request open, and after Escape. */
  readonly focus: readonly string[];
  readonly copied: string;
  readonly command: string;
  readonly clock: { readonly frozen: boolean; readonly offset_ms: number };
  /** How many memories there were: after a reset that was given up, one that was not, put back. */
  readonly memories: readonly number[];
  /** What the page said of each. */
  readonly said: readonly string[];
  readonly refusedFault: string;
  /** Rows with another account, and the status of its next request after its minute was used up. */
  readonly otherRows: number;
  readonly exhausted: number;
  /** How a client gets to the other account, and to the usual one afterwards. */
  readonly hints: readonly string[];
  /** What the page said while the connection was lost; what came meanwhile is there afterwards. */
  readonly problem: string;
  readonly problemsLeft: number;
}

/** What a page with a control token went through. */
export interface TokenUse {
  readonly wrong: string;
  readonly tokenKept: boolean;
}

/** One emulator for each. */
export interface UsedEmulators {
  readonly open: string;
  readonly guarded: string;
  readonly controlToken: string;
}

const TOKEN = "mst_dev_pro";
const { given } = errand<UsedEmulators>();
const [look] = LOOKS;

function ask(url: string, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function memoriesIn(url: string): Promise<number> {
  return ((await (await ask(url, "GET", "/v1/memories")).json()) as { total: number }).total;
}

/** A connection to the emulator that can be lost. */
async function openWay(to: string) {
  const { port: target } = new URL(to);
  const sockets = new Set<Socket>();
  let isLost = false;
  const server = createServer((socket) => {
    if (isLost) return void socket.destroy();
    const other = dial(Number(target), "127.0.0.1");
    for (const [one, next] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => next.destroy());
      one.on("close", () => next.destroy());
    }
    socket.pipe(other).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    lose(lost: boolean) {
      isLost = lost;
      for (const socket of lost ? sockets : []) socket.destroy();
    },
    close: () => server.close(),
  };
}

/** A write, compressed as clients do, whose answer does not come. */
async function loseAnswer(url: string, memory: object): Promise<void> {
  const sent = fetch(`${url}/v1/memories`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
      "content-encoding": "gzip",
    },
    body: gzipSync(JSON.stringify(memory)),
  });
  await sent.then(
    () => Promise.reject(new Error("the answer came")),
    () => undefined,
  );
}

async function useFaults(page: Page, url: string) {
  const row = page.locator("#fault-rules li");
  await page.locator("#fault-kind").focus();
  await page.locator("#fault-path").fill("/v1/memories");
  await page.keyboard.press("Enter");
  await row.waitFor();
  const faults = [await row.innerText()];
  await loseAnswer(url, { content: "it's <b>one</b>", layer: "user" });
  await row.filter({ hasText: "1 of 1 hit" }).waitFor();
  await page.locator('[role="switch"][data-rule]:not(:checked)').waitFor();
  await page.locator(".request", { hasText: "cut" }).waitFor();
  const lost = await page.locator(".request").first().innerText();
  await page.locator('[role="switch"][data-rule]').focus();
  await page.keyboard.press("Space");
  await row.filter({ hasText: "0 of 1 hit" }).waitFor();
  faults.push(await row.innerText());
  await row.getByRole("button", { name: "Remove" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("#no-faults").waitFor();
  await page.locator("#fault-path").fill("/v1/nothing");
  await page.keyboard.press("Enter");
  const refused = page.locator("#faults-said.refused");
  await refused.filter({ hasText: "served by nothing" }).waitFor();
  return { faults, lost, refusedFault: await refused.innerText() };
}

async function useList(page: Page) {
  await page.locator('.request[tabindex="0"]').focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.locator("#detail-title").waitFor();
  const focused = () =>
    page.evaluate("document.activeElement.id || document.activeElement.className");
  const focus = [String(await focused())];
  await page.locator("#detail-copy").focus();
  await page.keyboard.press("Enter");
  await page.locator("#detail-copy", { hasText: "Copied" }).waitFor();
  const copied = String(await page.evaluate("navigator.clipboard.readText()"));
  const command = await page.locator('#detail pre[aria-label="Command"]').innerText();
  await page.keyboard.press("Escape");
  focus.push(String(await focused()));
  return { focus, copied, command };
}

async function useClock(page: Page, url: string) {
  await page.locator("#frozen").focus();
  await page.keyboard.press("Space");
  await page.locator("#frozen:checked").waitFor();
  await page.locator("#clock-to").fill("2h");
  await page.keyboard.press("Enter");
  const read = async () => (await ask(url, "GET", "/_emulator/clock")).json();
  let clock = (await read()) as EmulatorUse["clock"];
  while (clock.offset_ms < 7_000_000) clock = (await read()) as EmulatorUse["clock"];
  return clock;
}

async function useState(page: Page, url: string) {
  const said = page.locator("#snapshots-said, #reset-said");
  await page.locator("#snapshot-name").fill("one");
  await page.keyboard.press("Enter");
  await page.locator("#snapshot-list li", { hasText: "one" }).waitFor();
  await page.locator("#reset-scope").selectOption("data");
  const reset = page.locator("#reset-form button");
  await reset.focus();
  await page.keyboard.press("Enter");
  await page.locator("#confirm-no:focus").waitFor();
  await page.keyboard.press("Escape");
  const memories = [await memoriesIn(url)];
  await reset.focus();
  await page.keyboard.press("Enter");
  await page.locator("#confirm-no:focus").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await said.filter({ hasText: "Forgotten" }).waitFor();
  memories.push(await memoriesIn(url));
  await page.getByRole("button", { name: "Restore one" }).click();
  await page.locator("#confirm-yes").click();
  await said.filter({ hasText: "put back" }).waitFor();
  memories.push(await memoriesIn(url));
  return { memories, said: await said.allInnerTexts() };
}

async function useAccount(page: Page, url: string) {
  await page.locator("#account").fill("mst_dev_other");
  await page.keyboard.press("Enter");
  await page.locator("#limits-of", { hasText: "mst_dev_other" }).waitFor();
  await page.locator("#list:not(:has(li))").waitFor({ state: "attached" });
  const hint = () => page.locator("#empty").evaluate((shown) => shown.textContent ?? "");
  const hints = [await hint()];
  const otherRows = await page.locator(".request").count();
  await page.getByRole("button", { name: "Use up the minute" }).click();
  await page.locator("#limits-said", { hasText: "done" }).waitFor();
  const headers = { authorization: "Bearer mst_dev_other" };
  const { status } = await fetch(`${url}/v1/projects`, { headers });
  await page.locator(".request", { hasText: "429" }).waitFor();
  await page.locator("#account").fill("");
  await page.keyboard.press("Enter");
  await page.locator(".request", { hasText: "mst_dev_pro" }).first().waitFor();
  hints.push(await hint());
  return { otherRows, exhausted: status, hints };
}

async function use(browser: Browser): Promise<EmulatorUse> {
  const { open: url } = given;
  const way = await openWay(url);
  try {
    const { page, complaints } = await openPage(browser, way.url, look);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${way.url}/_emulator/`);
    const used = {
      ...(await useFaults(page, url)),
      ...(await useList(page)),
      clock: await useClock(page, url),
      ...(await useState(page, url)),
      ...(await useAccount(page, url)),
    };
    const expected = [...complaints];
    way.lose(true);
    const problem = page.locator("#problem", { hasText: "does not answer" });
    await problem.waitFor();
    const text = await problem.innerText();
    await ask(url, "GET", "/v1/projects?while=lost");
    way.lose(false);
    await page.locator(".request", { hasText: "while=lost" }).waitFor();
    await page.locator("#connection[data-state=connected]").waitFor();
    const problemsLeft = await page.locator("#problem:visible").count();
    return { ...used, complaints: expected, problem: text, problemsLeft };
  } finally {
    way.close();
  }
}

async function useToken(browser: Browser): Promise<TokenUse> {
  const { guarded: url, controlToken } = given;
  const { page } = await openPage(browser, url, look);
  await page.goto(`${url}/_emulator/`);
  await page.locator("#access-token:focus").fill("wrong");
  await page.keyboard.press("Enter");
  const problem = page.locator("#problem", { hasText: "not its control token" });
  await problem.waitFor();
  const wrong = await problem.innerText();
  await page.locator("#access-token").fill(controlToken);
  await page.keyboard.press("Enter");
  await page.locator("#connection[data-state=connected]").waitFor();
  await page.locator("#empty").waitFor();
  return { wrong, tokenKept: await isKept(page, controlToken) };
}

await visitWith(async (browser) => [await use(browser), await useToken(browser)]);
