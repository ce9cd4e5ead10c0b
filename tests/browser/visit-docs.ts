// A program for Node, on which the browser's driver runs: visits the page of the documentation at
// the address given first, with the browser given second, and prints as JSON what it found. Given a
// folder third, it leaves pictures there.
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";

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

const LOOKS = [
  { name: "desktop-light", width: 1360, height: 900, scheme: "light" },
  { name: "desktop-dark", width: 1360, height: 900, scheme: "dark" },
  { name: "phone-light", width: 390, height: 844, scheme: "light" },
  { name: "phone-dark", width: 390, height: 844, scheme: "dark" },
] as const;

const TOKEN = "mst_dev_docs";

async function visit(browser: Browser, url: string, look: (typeof LOOKS)[number]): Promise<Visit> {
  const { name, width, height, scheme } = look;
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
  const complaints: string[] = [];
  const foreignRequests: string[] = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.route("**/*", (route) => {
    const asked = route.request().url();
    if (asked.startsWith(`${url}/`) || asked.startsWith("data:")) return route.continue();
    foreignRequests.push(asked);
    return route.abort();
  });
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
    overflow: await page.locator("html").evaluate((html) => html.scrollWidth - html.clientWidth),
    background: await page.locator("body").evaluate((body) => {
      return body.ownerDocument.defaultView?.getComputedStyle(body).backgroundColor ?? "";
    }),
    firstStop,
    answer,
    tokenKept: await isTokenKept(page),
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

async function isTokenKept(page: Page): Promise<boolean> {
  const { cookies, origins } = await page.context().storageState();
  return page.url().includes(TOKEN) || JSON.stringify([cookies, origins]).includes(TOKEN);
}

async function picture(page: Page, name: string): Promise<void> {
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`) });
}

const [url = "", executablePath = "", pictures] = process.argv.slice(2);
const isRoot = process.getuid?.() === 0;
const browser = await chromium.launch({ executablePath, args: isRoot ? ["--no-sandbox"] : [] });
try {
  const visits: Visit[] = [];
  for (const look of LOOKS) visits.push(await visit(browser, url, look));
  process.stdout.write(JSON.stringify(visits));
} finally {
  await browser.close();
}
