/** An address is taken as people type it, and refused where it is wrong or unsafe. */
import { describe, expect, test } from 'vitest';
import { isPrivateHost, readAddress } from '../../../../src/brain/cloud/address.ts';

test.each([
  ['https://api.example.com/v1', 'openai', 'https://api.example.com/v1'],
  ['  https://api.example.com/v1/  ', 'openai', 'https://api.example.com/v1'],
  ['https://api.example.com', 'openai', 'https://api.example.com/v1'],
  ['https://api.example.com', 'gemini', 'https://api.example.com/v1beta'],
  ['api.example.com/openai/v1', 'openai', 'https://api.example.com/openai/v1'],
  ['https://api.example.com/v1/chat/completions', 'openai', 'https://api.example.com/v1'],
  ['https://api.anthropic.com/v1/messages', 'anthropic', 'https://api.anthropic.com/v1'],
  ['https://api.example.com/v1/models', 'openai', 'https://api.example.com/v1'],
  ['http://localhost:11434', 'openai', 'http://localhost:11434/v1'],
  ['localhost:1234/v1', 'openai', 'http://localhost:1234/v1'],
  ['192.168.1.20:8080', 'openai', 'http://192.168.1.20:8080/v1'],
  ['http://[::1]:8080/v1', 'openai', 'http://[::1]:8080/v1'],
  ['http://studio.local:1234/v1', 'openai', 'http://studio.local:1234/v1'],
  ['https://192.168.1.20/v1', 'openai', 'https://192.168.1.20/v1'],
] as const)('%s (%s)', (typed, kind, baseUrl) => {
  expect(readAddress(typed, kind)).toEqual({ ok: true, baseUrl });
});

test.each([
  ['', /empty/],
  ['not an address', /not an address/],
  ['https://', /not an address/],
  ['ftp://example.com', /begin with https/],
  ['javascript://alert(1)', /begin with https|not an address/],
  ['http://api.example.com/v1', /unprotected/],
  ['http://8.8.8.8/v1', /unprotected/],
  ['https://me:secret@example.com/v1', /name or a password/],
  ['https://example.com/v1?key=secret', /after \?/],
  ['https://example.com/v1#x', /after \?/],
])('refuses %s', (typed, words) => {
  const read = readAddress(typed, 'openai');
  expect(read).toMatchObject({ ok: false, error: { message: expect.stringMatching(words) } });
  expect(JSON.stringify(read)).not.toContain('secret');
});

describe('the network at hand', () => {
  test.each([
    'localhost',
    'app.localhost',
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.9.9',
    '192.168.0.7',
    '169.254.1.1',
    '100.64.0.1',
    '[::1]',
    '[fd00::1]',
    '[fe80::1]',
    'printer',
    'nas.local',
    'box.home.arpa',
  ])('%s is in it', (host) => expect(isPrivateHost(host)).toBe(true));
  test.each([
    'example.com',
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '192.169.0.1',
    '[2001:db8::1]',
    'local.example.com',
  ])('%s is not', (host) => expect(isPrivateHost(host)).toBe(false));
});
