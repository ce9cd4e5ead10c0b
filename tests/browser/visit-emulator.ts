// A visitor: looks at the live pages of emulators that have seen some requests.
import type { Browser } from "playwright-core";
import {
  backgroundOf,
  errand,
  LOOKS,
  type Look,
  openPage,
  overflowOf,
  picture,
  visitWith,
} from "./looks.ts";

/** What one look at the page gave. */
export interface EmulatorVisit {
  readonly look: string;
  readonly complaints: readonly string[];
  readonly foreignRequests: readonly string[];
  /** Pixels by which the page is wider than the window: empty, with a list, with all of one. */
  readonly overflows: readonly number[];
  readonly background: string;
  readonly empty: string;
  readonly rows: readonly string[];
  /** All that is shown of the request that was refused, and of the live socket. */
  readonly refused: string;
  readonly socket: string;
  /** The path in the form for faults, after one was asked for for the request that was refused. */
  readonly faultFor: string;
  /**
   * How far from the window's top the controls are, in pixels, by the link that leads to them; null
   * where they are beside the requests and need none.
   */
  readonly controlsAt: number | null;
  /** Elements that a client's text has made. */
  readonly smuggled: number;
}

/** An emulator that nothing has come to, and one to which something has. */
export interface SeenEmulators {
  readonly empty: string;
  readonly busy: string;
}

async function visit(browser: Browser, urls: SeenEmulators, look: Look): Promise<EmulatorVisit> {
  const first = await openPage(browser, urls.empty, look);
  await first.page.goto(`${urls.empty}/_emulator/`);
  const empty = await first.page.locator("#empty").innerText();
  await first.page.locator("#connection[data-state=connected]").waitFor();
  const overflows = [await overflowOf(first.page)];
  await picture(first.page, `emulator-${look.name}-empty`);
  await first.page.close();
  const { page, complaints, foreignRequests } = await openPage(browser, urls.busy, look);
  await page.goto(`${urls.busy}/_emulator`);
  await page.locator(".request").first().waitFor();
  overflows.push(await overflowOf(page));
  await picture(page, `emulator-${look.name}-list`);
  const rows = await page.locator(".request").allInnerTexts();
  const way = page.locator("#to-controls");
  const needsWay = await way.isVisible();
  if (needsWay) await way.click();
  const controls = await page.locator("#controls").boundingBox();
  const controlsAt = needsWay && controls ? controls.y : null;
  const shown = [];
  for (const text of ["429", "/api/live"]) {
    await page.locator(".request", { hasText: text }).click();
    for (const headers of await page.locator("#detail summary").all()) await headers.click();
    shown.push(await page.locator("#detail").innerText());
    overflows.push(await overflowOf(page));
    await picture(page, `emulator-${look.name}-${text.replaceAll("/", "")}`);
    await page.locator("#detail-close").click();
  }
  const [refused = "", socket = ""] = shown;
  await page.locator(".request", { hasText: "429" }).click();
  await page.locator("#detail-break").click();
  await page.locator("#fault-kind:focus").waitFor();
  const faultFor = await page.locator("#fault-path").inputValue();
  return {
    look: look.name,
    complaints: [...first.complaints, ...complaints],
    foreignRequests: [...first.foreignRequests, ...foreignRequests],
    overflows,
    background: await backgroundOf(page),
    empty,
    rows,
    refused,
    socket,
    faultFor,
    controlsAt,
    smuggled: await page.locator("main img, main script").count(),
  };
}

const { given } = errand<SeenEmulators>();
await visitWith(async (browser) => {
  const visits: EmulatorVisit[] = [];
  for (const look of LOOKS) visits.push(await visit(browser, given, look));
  return visits;
});
