import { describe, expect, it } from 'vitest';
import type { ServerView } from '../../../../src/mcp/types.ts';
import {
  ageOf,
  changesOf,
  cutOf,
  offerOf,
  placeLines,
  stateOf,
  toolsOf,
  wantsSignIn,
} from '../../../../src/ui/screens/servers.ts';
import { serverView } from '../../../browser/ui/server-view.ts';

const tool = (name: string, on = true) => ({
  name,
  inputSchema: { type: 'object' },
  pin: name,
  on,
});

describe('the state of a server in a word or two', () => {
  const lastError = { at: 1, code: 'unreachable', message: 'No', advice: 'Wait' };
  const cases: readonly (readonly [string, Parameters<typeof serverView>[0], string | null])[] = [
    ['at rest', {}, null],
    ['connected', { status: 'connected' }, 'Connected'],
    ['connecting', { status: 'connecting' }, 'Connecting'],
    ['failed', { status: 'failed' }, 'No answer'],
    ['failed the last time', { record: { lastError } }, 'No answer'],
    ['paused, whatever else', { status: 'failed', record: { enabled: false } }, 'Paused'],
    [
      'expired, before the failure it causes',
      { status: 'failed', auth: 'expired' },
      'Sign-in expired',
    ],
    ['wanted', { auth: 'wanted' }, 'Wants you to sign in'],
  ];
  it.each(cases)('%s', (_name, change, words) => {
    expect(stateOf(serverView(change))?.text ?? null).toBe(words);
  });

  it('asks for a sign-in only of a server that is in use', () => {
    const asks = (change: Parameters<typeof serverView>[0]): boolean =>
      wantsSignIn(serverView(change));
    expect(asks({ auth: 'expired' })).toBe(true);
    expect(asks({ auth: 'wanted' })).toBe(true);
    expect(asks({ auth: 'signed-in' })).toBe(false);
    expect(asks({ auth: 'expired', record: { enabled: false } })).toBe(false);
  });
});

it('says how old a list is, and that an old one is due', () => {
  const age = (change: Partial<ServerView>): string => ageOf(serverView(change), 7_200_000);
  expect(age({ listedAt: null })).toBe('not listed yet');
  expect(age({ listedAt: 3_600_000 })).toBe('listed 1 h ago');
  expect(age({ listedAt: 0, stale: true })).toBe('listed 2 h ago, due for renewal');
});

it('counts tools that are off, that are new and that are missing', () => {
  const view = serverView({
    tools: [tool('a'), tool('b', false), tool('c', false)],
    appeared: ['c'],
    missing: [{ name: 'gone', at: 1 }],
  });
  expect(toolsOf(view)).toBe('3 tools, 2 off');
  expect(changesOf(view)).toBe('1 new tool, off · 1 tool missing');
  expect(changesOf(serverView())).toBe('');
});

it('says what a server offers, and which of its lists had no end', () => {
  const none = { tools: [], prompts: [], resources: [], templates: [] };
  expect(offerOf(none)).toBe('nothing');
  expect(offerOf({ ...none, tools: [1] })).toBe('1 tool');
  expect(offerOf({ tools: [1, 2], prompts: [1], resources: [1, 2, 3], templates: [1] })).toBe(
    '2 tools, 1 prompt, 3 resources and 1 resource template',
  );
  expect(cutOf([])).toBe('');
  expect(cutOf(['tools'])).toMatch(/^Its list of tools had no end/);
  expect(cutOf(['prompts', 'tools', 'resources'])).toMatch(
    /^Its list of tools, prompts and resources/,
  );
});

it('tells apart what is encrypted, what is near, and what never leaves the device', () => {
  const lines = (secure: boolean, where: 'internet' | 'network' | 'device'): string =>
    placeLines({ url: '', host: '', secure, where }).join(' ');
  expect(lines(true, 'internet')).toMatch(/on the internet.*encrypted/);
  expect(lines(false, 'network')).toMatch(/your own network.*read by others/);
  expect(lines(false, 'device')).toMatch(/this device.*nothing leaves/);
});
