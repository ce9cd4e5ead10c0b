import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import type { Errand } from "./run-visitor.ts";

/** The windows in which each page is looked at. */
export const LOOKS = [
  { name: "desktop-light", width: 1280, height: 900, scheme: "light" },
  { name: "desktop-dark", width: 1280, height: 900, scheme: "dark" },
  { name: "phone-light", width: 390, height: 844, scheme: "light" },
  { name: "phone-dark", width: 390, height: 844, scheme: "dark" },
] as const;

export type Look = (typeof LOOKS)[number];

/** A page that is watched. */
export interface WatchedPage {
  readonly page: Page;
  /** What the browser complained of. */
  readonly complaints: readonly string[];
  /** What it asked of others than `url`. */
  readonly foreignRequests: readonly string[];
}

/** A page in which nothing outside of `url` is reached. */
export async function openPage(browser: Browser, url: string, look: Look): Promise<WatchedPage> {
  const { width, height, scheme } = look;
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
  page.setDefaultTimeout(60_000);
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
  return { page, complaints, foreignRequests };
}

/** Pixels by which the page is wider than the window. */
export function overflowOf(page: Page): Promise<number> {
  return page.locator("html").evaluate((html) => html.scrollWidth - html.clientWidth);
}

export function backgroundOf(page: Page): Promise<string> {
  return page.locator("body").evaluate((body) => {
    return body.ownerDocument.defaultView?.getComputedStyle(body).backgroundColor ?? "";
  });
}

/** Whether `secret` is anywhere that outlives the page. */
export async function isKept(page: Page, secret: string): Promise<boolean> {
  const { cookies, origins } = await page.context().storageState();
  return page.url().includes(secret) || JSON.stringify([cookies, origins]).includes(secret);
}

/** Leaves a picture, where they are wanted. */
export async function picture(page: Page, name: string): Promise<void> {
  const { pictures } = errand();
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`) });
}

/** What this program was started for. */
export function errand<Given>(): Errand<Given> {
  return JSON.parse(process.argv[2] ?? "");
}

/** Prints what `work` found. `args`: further arguments of the browser. */
export async function visitWith(
  work: (browser: Browser) => Promise<unknown>,
  args: readonly string[] = [],
): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  const browser = await chromium.launch({
    executablePath: errand().browser,
    args: [...args, ...(isRoot ? ["--no-sandbox"] : [])],
  });
  try {
    process.stdout.write(JSON.stringify(await work(browser)));
  } finally {
    await browser.close();
  }
}
