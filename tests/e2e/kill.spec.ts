import type { Page } from '@playwright/test';
import {
  addCloud,
  allow,
  chooseMode,
  connectDemo,
  expect,
  messages,
  newConversation,
  say,
  test,
  TRAVEL_SENTENCE,
  trustDemo,
} from './stack.ts';

/**
 * Makes a page die right behind its nth stored event: from that moment on nothing is written and
 * nothing is sent any more, as when the phone kills the tab. 0 only counts.
 */
async function dieAfter(page: Page, nth: number): Promise<void> {
  await page.evaluate((dieAt) => {
    const state = window as unknown as { stored: number; dead: boolean };
    state.stored = 0;
    state.dead = false;
    const { put, add } = IDBObjectStore.prototype;
    const counting = (write: typeof put): typeof put =>
      function (this: IDBObjectStore, ...input) {
        if (state.dead) throw new DOMException('The page is dead.', 'AbortError');
        const request = write.apply(this, input);
        if (this.name === 'parts' || this.name === 'messages' || this.name === 'decisions')
          this.transaction.addEventListener(
            'complete',
            () => {
              state.stored += 1;
              if (state.stored !== dieAt) return;
              state.dead = true;
              window.fetch = () => new Promise(() => undefined);
            },
            // Before the app itself hears of it.
            { capture: true },
          );
        return request;
      };
    IDBObjectStore.prototype.put = counting(put);
    IDBObjectStore.prototype.add = counting(add);
  }, nth);
}

const stored = (page: Page): Promise<number> =>
  page.evaluate(() => (window as unknown as { stored: number }).stored);

const isDead = (page: Page): Promise<boolean> =>
  page.evaluate(() => (window as unknown as { dead: boolean }).dead);

/** Answers questions and resumes until the turn has ended. */
async function carryOn(page: Page): Promise<void> {
  const question = page.getByRole('dialog', { name: /^Allow/ });
  const resume = page.getByRole('button', { name: 'Resume' });
  const over = messages(page).getByText(/raincoat|Outcome unknown|outcome is unknown|not know/i);
  const idle = page.getByRole('button', { name: 'Stop' });
  await expect(async () => {
    if (await question.isVisible()) await allow(page);
    if (await resume.isVisible()) await resume.click();
    await expect(over.last()).toBeVisible({ timeout: 500 });
    await expect(question.or(resume).or(idle)).toBeHidden({ timeout: 500 });
  }).toPass({ timeout: 30_000, intervals: [100] });
}

test('a page killed behind any stored event of a turn loses nothing and runs nothing twice', async ({
  stack: { context, page, travel, cloud },
}) => {
  test.setTimeout(600_000);
  await connectDemo(page);
  await trustDemo(page);
  await addCloud(page, cloud);

  let events = Infinity;
  for (let nth = 0; nth <= events; nth += 1) {
    const tab = await context.newPage();
    await newConversation(tab);
    await chooseMode(tab, 'Cloud');
    const saved = travel.itinerary().length;
    await dieAfter(tab, nth);
    await say(tab, TRAVEL_SENTENCE);
    if (nth === 0) {
      await carryOn(tab);
      events = await stored(tab);
      expect(events).toBeGreaterThan(12);
      expect(travel.itinerary()).toHaveLength(saved + 1);
      await tab.close();
      continue;
    }
    const question = tab.getByRole('dialog', { name: /^Allow/ });
    await expect(async () => {
      if (await question.isVisible()) await allow(tab).catch(() => undefined);
      expect(await isDead(tab)).toBe(true);
    }).toPass({ timeout: 20_000, intervals: [50] });
    const address = tab.url();
    await tab.close();

    const again = await context.newPage();
    await again.goto(address);
    // The person's words are there whatever happened to the rest.
    await expect(messages(again).getByText(TRAVEL_SENTENCE)).toBeVisible();
    await carryOn(again);
    const unknown = await again.getByText(/Outcome unknown/).count();
    expect(travel.itinerary().length - saved, `killed behind event ${nth}`).toBeLessThanOrEqual(1);
    if (unknown === 0) expect(travel.itinerary()).toHaveLength(saved + 1);
    await again.close();
  }
});
