/** Who is asked for anything: from the first load to the first answer, only whom the person picked. */
import { addCloud, chooseMode, expect, newConversation, say, test, turnEnded } from './stack.ts';

test('nothing is asked of another host before the person picks one, and then of that one alone', async ({
  stack: { page, context, app, cloud, travel },
}) => {
  const hosts = new Set<string>();
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (/^https?:$/.test(url.protocol)) hosts.add(url.origin);
  });
  await page.goto('/');
  await page.evaluate(() => navigator.serviceWorker.ready);
  for (const path of ['/models', '/servers', '/cloud', '/settings', '/actions', '/chats'])
    await page.goto(path);
  await newConversation(page);
  await say(page, 'Hello');
  await turnEnded(page);
  expect([...hosts]).toEqual([new URL(app.url).origin]);
  expect(Object.keys(travel.counts())).toEqual([]);

  await addCloud(page, cloud);
  await newConversation(page);
  await chooseMode(page, 'Cloud');
  await say(page, 'Hello');
  await turnEnded(page);
  expect(cloud.requests.length).toBeGreaterThan(0);
  expect([...hosts].sort()).toEqual([app.url, cloud.url].map((url) => new URL(url).origin).sort());
});
