/**
 * What the screen of the built app can take: a long answer of a cloud as fast as it can be sent and
 * at the pace of a fast model, and a scroll through a thousand messages.
 */
import { expect, type Page } from '@playwright/test';
import {
  addCloud,
  chooseMode,
  messages,
  newConversation,
  say,
  startStack,
  turnEnded,
} from '../e2e/stack.ts';
import { startCloud, type CloudServer } from '../servers/cloud.ts';
import { bringIn, takeFunctions } from './browser.ts';
import type { Measured } from './figures.ts';

/** 70 paragraphs of the test cloud's Markdown are about 3,000 words. */
const REQUEST = 'Write a long answer in Markdown with 70 paragraphs.';
const LAST_WORDS = 'Have a good walk.';
/** Some 700 pieces a second at most, far above any model. */
const PACE_MS = 1;
const LONG_TURN_MS = 90_000;

const SCROLL_MS = 4_000;
/** Pixels a frame: a hard fling. */
const SCROLL_STEP = 150;
const SMOOTH_MS = 34;

interface Watched {
  /** Milliseconds between the first and the last change of the answer on the screen. */
  readonly drawnMs: number;
  /** Durations of tasks over 50 ms. */
  readonly longTasks: readonly number[];
}

/** From now on notes long tasks and when the answer grows; `read` ends it. */
async function watch(page: Page): Promise<{ read(): Promise<Watched> }> {
  const handle = await page.evaluateHandle(() => {
    const longTasks: number[] = [];
    let first = 0;
    let last = 0;
    const tasks = new PerformanceObserver((list) =>
      longTasks.push(...list.getEntries().map((entry) => entry.duration)),
    );
    tasks.observe({ entryTypes: ['longtask'] });
    const inAnswer = ({ target }: MutationRecord): boolean => {
      const element = target instanceof Element ? target : target.parentElement;
      return Boolean(element?.closest('.markdown'));
    };
    const changes = new MutationObserver((records) => {
      if (!records.some(inAnswer)) return;
      last = performance.now();
      first ||= last;
    });
    changes.observe(document.body, { childList: true, characterData: true, subtree: true });
    return {
      read() {
        longTasks.push(...tasks.takeRecords().map((entry) => entry.duration));
        tasks.disconnect();
        changes.disconnect();
        return { drawnMs: last - first, longTasks };
      },
    };
  });
  return { read: () => handle.evaluate((watching) => watching.read()) };
}

/** One long answer into a new conversation. */
async function stream(page: Page): Promise<Watched> {
  await newConversation(page);
  await chooseMode(page, 'Cloud');
  const watching = await watch(page);
  await say(page, REQUEST);
  await expect(messages(page).getByText(LAST_WORDS)).toBeAttached({ timeout: LONG_TURN_MS });
  await turnEnded(page, LONG_TURN_MS);
  return watching.read();
}

/** Events of the stream that was drawn: the same request once more, counted. */
async function countEvents(cloud: CloudServer): Promise<number> {
  const sent = cloud.requests.findLast(({ method }) => method === 'POST');
  if (!sent) throw new Error('Nothing was sent to the cloud.');
  const response = await fetch(new URL(sent.path, cloud.url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: sent.headers['authorization'] ?? '',
    },
    body: JSON.stringify(sent.body),
  });
  const events = (await response.text()).match(/^data: \{/gm)?.length ?? 0;
  if (events < 500) throw new Error(`The cloud sent ${events} events only.`);
  return events;
}

/** Share of frames that came in time while the list was scrolled from its end towards its start. */
async function scroll(page: Page): Promise<number> {
  return page.evaluate(
    async ({ forMs, step, smoothMs }) => {
      const list = document.querySelector('[aria-label="Messages"]')!;
      const frame = (): Promise<number> => new Promise(requestAnimationFrame);
      const gaps: number[] = [];
      const begin = await frame();
      for (let last = begin; last - begin < forMs;) {
        list.scrollTop -= step;
        const now = await frame();
        gaps.push(now - last);
        last = now;
      }
      return gaps.filter((gap) => gap < smoothMs).length / gaps.length;
    },
    { forMs: SCROLL_MS, step: SCROLL_STEP, smoothMs: SMOOTH_MS },
  );
}

export async function measureScreen(): Promise<Measured> {
  const stack = await startStack();
  const paced = await startCloud({ chunkDelayMs: PACE_MS });
  try {
    const { page, context } = stack;
    await takeFunctions(context);
    // The first account is the chosen one.
    await addCloud(page, stack.cloud);
    const fast = await stream(page);
    const events = await countEvents(stack.cloud);
    await addCloud(page, paced);
    await page.getByRole('radio', { name: new URL(paced.url).host }).check();
    const slow = await stream(page);

    await page.goto(`${stack.app.url}${await bringIn(page, stack.app.url, 1_000)}`);
    await expect(messages(page).getByText('How does it go on after stage 998?')).toBeVisible();
    const smooth = await scroll(page);
    const longTasks = fast.longTasks.filter((duration) => duration > 50);
    return {
      figures: {
        'screen.eventsPerSecond': events / (fast.drawnMs / 1000),
        'screen.longTasksOver50ms': longTasks.length,
        'screen.longestTaskMs': Math.max(0, ...longTasks),
        'screen.pacedLongTasksOver50ms': slow.longTasks.filter((duration) => duration > 50).length,
        'list.smoothFrames': smooth,
      },
      cases: longTasks.map((value) => ({ figure: 'screen.longestTaskMs' as const, value })),
    };
  } finally {
    await stack.close();
    await paced.close();
  }
}
