// A visitor: looks at the page of the documentation at the address that it is given.
import type { Browser, Page } from "playwright-core";
import {
  backgroundOf,
  errand,
  isKept,
  LOOKS,
  type Look,
  openPage,
  overflowOf,
  picture,
  visitWith,
} from "./looks.ts";

/** What one look at the page gave. */
export interface Visit {
  readonly look: string;
  readonly complaints: readonly string[];
  readonly foreignRequests: readonly string[];
  readonly articles: number;
  /** Pixels by which the page is wider than the window. */
  readonly overflow: number;
  readonly background: string;
  /** The text of what Tab reaches first. */
  readonly firstStop: string;
  /** What "Try it" answered. */
  readonly answer: string;
  /** Whether the token is kept anywhere but in its field. */
  readonly tokenKept: boolean;
}

const TOKEN = "mst_dev_docs";

async function visit(browser: Browser, url: string, look: Look): Promise<Visit> {
  const { name } = look;
  const { page, complaints, foreignRequests } = await openPage(browser, url, look);
  await page.goto(`${url}/docs`);
  await page.keyboard.press("Tab");
  const firstStop = await page.locator(":focus").innerText();
  await picture(page, name);
  const answer = await tryOut(page);
  await picture(page, `${name}-tried`);
  return {
    look: name,
    complaints,
    foreignRequests,
    articles: await page.locator("article").count(),
    overflow: await overflowOf(page),
    background: await backgroundOf(page),
    firstStop,
    answer,
    tokenKept: await isKept(page, TOKEN),
  };
}

/** Makes a memory by the keyboard alone, once the form is reached. */
async function tryOut(page: Page): Promise<string> {
  await page.locator("#access-token").fill(TOKEN);
  const operation = page.locator("#v1CreateMemory");
  await operation.locator(".try summary").focus();
  await page.keyboard.press("Enter");
  await operation.locator("textarea").fill('{"content":"<b>from the page</b>","layer":"user"}');
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  const output = operation.locator("output");
  await output.filter({ hasText: "x-request-id" }).waitFor();
  return await output.innerText();
}

const { given: url } = errand<string>();
await visitWith(async (browser) => {
  const visits: Visit[] = [];
  for (const look of LOOKS) visits.push(await visit(browser, url, look));
  return visits;
});
