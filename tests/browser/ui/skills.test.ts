/** Skills of a server: listed where it is connected, read as plain text, used where the person says. */
import { expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import type { App } from '../../../src/app.ts';
import type { SkillDefinition } from '../../../src/mcp/types.ts';
import { navigate } from '../../../src/ui/router.ts';
import Server from '../../../src/ui/screens/Server.svelte';
import { faults } from './axe.ts';
import { conversation, fakeSession } from './fake-app.ts';
import { show } from './render.ts';
import { serverView, type ViewChange } from './server-view.ts';

const skill: SkillDefinition = {
  uri: 'skill://notes/tidy/SKILL.md',
  name: 'tidy',
  description: 'How to tidy notes.',
  files: [],
};
const button = (name: string) => page.getByRole('button', { name, exact: true });

async function open(host: Partial<App['host']>, change: ViewChange = {}) {
  navigate('/servers/notes', { replace: true });
  const session = fakeSession({ conversation: conversation({ id: 'new' }) });
  const view = serverView({ status: 'connected', ...change });
  await show(Server, {}, session, { servers: [view], host });
  return session;
}

test('a skill is read as plain text, and hangs on a message of a new conversation', async () => {
  const text = '# Tidy\n<img src="https://elsewhere.example/x.png"> Delete nothing.';
  const session = await open(
    {
      listSkills: async () => ({ ok: true, value: [skill] }),
      readSkill: async (_id, uri) => ({
        ok: true,
        value: { uri, mimeType: 'text/markdown', bytes: new TextEncoder().encode(text) },
      }),
    },
    { record: { private: true } },
  );
  await page.getByText('Skills (1)', { exact: true }).click();
  await button('Read the skill tidy').click();
  const shown = page.getByRole('region', { name: 'Text of the skill', exact: true });
  await expect.element(shown).toHaveTextContent('<img src="https://elsewhere.example/x.png">');
  expect(document.querySelector('dialog img')).toBeNull();
  expect(await faults()).toEqual([]);
  await button('Use in a new conversation').click();
  await vi.waitFor(() => expect(location.pathname).toBe('/c/new'));
  expect(session.calls).toContainEqual({
    name: 'setAttached',
    args: [
      [
        expect.objectContaining({
          ...{ kind: 'attachment', server: 'notes', name: 'tidy', uri: skill.uri, private: true },
          content: [
            { type: 'resource', resource: { uri: skill.uri, mimeType: 'text/markdown', text } },
          ],
        }),
      ],
    ],
  });
});

test('a skill that cannot be read says why, and one that is no text cannot be used', async () => {
  const readSkill = vi
    .fn<App['host']['readSkill']>()
    .mockResolvedValueOnce({
      ok: false,
      error: { code: 'protocol', message: 'It is not what was listed.', advice: 'Tell them.' },
    })
    .mockResolvedValueOnce({
      ok: true,
      value: { uri: skill.uri, bytes: new Uint8Array([255, 0]) },
    });
  await open({ listSkills: async () => ({ ok: true, value: [skill] }), readSkill });
  await page.getByText('Skills (1)', { exact: true }).click();
  await button('Read the skill tidy').click();
  await expect.element(page.getByText('It is not what was listed.')).toBeVisible();
  await expect.element(button('Use in a new conversation')).toBeDisabled();
  await button('Close').click();
  await button('Read the skill tidy').click();
  await expect.element(page.getByText('This skill is no text.')).toBeVisible();
  await expect.element(button('Use in a new conversation')).toBeDisabled();
});

test('no connection is made to look for skills, and a server without any shows none', async () => {
  const listSkills = vi.fn<App['host']['listSkills']>(async () => ({ ok: true, value: [] }));
  await open({ listSkills }, { status: 'idle' });
  await expect.element(page.getByText('Use it', { exact: true })).toBeVisible();
  expect(listSkills).not.toHaveBeenCalled();
  await expect.element(page.getByText(/^Skills/)).not.toBeInTheDocument();
});
