/**
 * The book of faults: one server commits each on request. Every fault has its kind, a sentence of its
 * own and its own advice; a call that meets one ends in those words, and its turn goes on intact.
 */
import { describe, expect, it } from 'vitest';
import { version } from '../../../package.json';
import { runTurn } from '../../../src/agent/loop.ts';
import { diagnose } from '../../../src/mcp/diagnose.ts';
import { ofStatus, type HostErrorCode } from '../../../src/mcp/errors.ts';
import { reportOf } from '../../../src/mcp/report.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import type { CallPart, Outcome } from '../../../src/store/records.ts';
import { startUnruly, type FaultName } from '../../servers/unruly.ts';
import {
  gateOf,
  inputOf,
  memoryJournal,
  portsOf,
  routerOf,
  scriptedBrain,
} from '../agent/world.ts';
import { newHost, never, started } from './setup.ts';

/** Short where nothing is going to come; where something comes first, it has to have come. */
const limitsFor = (fault: FaultName) => {
  const ms = fault === 'hung' ? 1_000 : fault.startsWith('hung') ? 3_000 : 15_000;
  return { connect: ms, list: 15_000, call: ms };
};

interface Row {
  readonly fault: FaultName;
  readonly code: HostErrorCode;
  readonly message: RegExp;
  readonly advice: RegExp;
  /** How a call ends that meets it. */
  readonly read: Outcome['kind'];
  readonly write: Outcome['kind'];
  /** The sentence in a call, where it differs: who answered well before is an MCP server. */
  readonly later: RegExp;
}

/** Faults that are found when a connection is made, and at no other time. */
const AT_FIRST = ['era-new', 'era-old'];

const SENSELESS = /gave an answer that makes no sense/;

const row = (
  fault: FaultName,
  code: HostErrorCode,
  message: RegExp,
  advice: RegExp,
  read: Outcome['kind'] = 'unavailable',
  write: Outcome['kind'] = 'unavailable',
  later: RegExp = message,
): Row => ({ fault, code, message, advice, read, write, later });

const TABLE: readonly Row[] = [
  row('key-wanted', 'auth', /wants to know who is asking/, /with a key/),
  row('sign-in-wanted', 'auth', /wants you to sign in/, /account/),
  row('forbidden', 'forbidden', /does not allow this/, /whoever runs it/),
  row('scope-wanted', 'scope', /wants more rights/, /Sign in again and allow/),
  row('not-found', 'not-mcp', /nothing at this address/, /path.*\/mcp/),
  row('gone', 'not-mcp', /nothing at this address/, /path.*\/mcp/),
  row('no-post', 'not-mcp', /takes no messages at this address/, /\/mcp, or in \/sse/),
  row('rate-seconds', 'rate', /too many requests/, /Try again in 30 seconds/),
  row('rate-date', 'rate', /too many requests/, /Try again in (10|9) minutes/),
  row(
    'failing',
    'server',
    /has a fault of its own/,
    /Try again in a while/,
    'unavailable',
    'unknown',
  ),
  row('down', 'server', /has a fault of its own/, /Try again in a while/, 'unavailable', 'unknown'),
  row(
    'page',
    'not-mcp',
    /answers with a web page/,
    /sign-in page of its own/,
    'unavailable',
    'unknown',
  ),
  row(
    'other-json',
    'not-mcp',
    /no MCP server at this address/,
    /path/,
    'unavailable',
    'unknown',
    SENSELESS,
  ),
  row(
    'broken-json',
    'protocol',
    /gave an answer that is cut off or broken/,
    /^Try again\. If it stays so/,
    'unavailable',
    'unknown',
  ),
  row('broken-rpc', 'protocol', SENSELESS, /^The server has a fault/, 'unavailable', 'unknown'),
  row('era-new', 'era', /speaks a version of MCP/, /Update the app/),
  row('era-old', 'era', /speaks a version of MCP/, /Update the app/),
  row('huge', 'too-large', /larger than 10 MB/, /less at once/, 'unavailable', 'unknown'),
  row('huge-stream', 'too-large', /larger than 10 MB/, /less at once/, 'unavailable', 'unknown'),
  row('hung', 'timeout', /did not answer within 1 second/, /Try again/, 'timeout', 'unknown'),
  row('hung-stream', 'timeout', /began to answer/, /holds answers back/, 'timeout', 'unknown'),
  row('hung-body', 'timeout', /began to answer/, /holds answers back/, 'timeout', 'unknown'),
  row('empty-stream', 'unreachable', /did not answer/, /running/, 'unavailable', 'unknown'),
  row('drop', 'unreachable', /did not answer/, /running/, 'unavailable', 'unknown'),
];

describe('a server that commits the fault', () => {
  it.each(TABLE)('$fault is not added, in words', async (line) => {
    const unruly = await started(startUnruly());
    const { host, store } = await newHost({ limits: limitsFor(line.fault) });
    const added = await host.add({ url: unruly.url(line.fault) });
    if (added.ok) throw new Error('It was added.');
    const { code, message, advice } = added.error;
    expect({ code, message, advice }).toEqual({
      code: line.code,
      message: expect.stringMatching(line.message),
      advice: expect.stringMatching(line.advice),
    });
    expect(JSON.stringify(added.error)).not.toContain('sk-live');
    expect(await store.servers.all()).toEqual([]);
  });
});

/** Every kind of outcome but a result has a sentence and an advice. */
function wordsOf(outcome: Outcome | undefined): { message: string; advice: string } {
  if (!outcome || !('message' in outcome)) throw new Error('An outcome without words.');
  return outcome;
}

describe('a conversation whose call meets the fault', () => {
  it.each(
    TABLE.filter(({ fault }) => !AT_FIRST.includes(fault)).flatMap((line) =>
      ['read', 'write'].map((tool) => ({ ...line, tool })),
    ),
  )('$fault in the tool $tool is intact: the call ends in words, the rest stays', async (line) => {
    const unruly = await started(startUnruly());
    const { host, store } = await newHost({ limits: { call: limitsFor(line.fault).call } });
    const added = await host.add({ url: unruly.url(line.fault, 'call') });
    if (!added.ok) throw new Error(added.error.message);
    await host.update(added.server.id, { trustHints: true });
    const toolbox = createToolbox({ store, host, timeZone: () => 'UTC' });
    const everything = { maxTools: 9, maxTokens: 9e9, cost: () => 1 };
    const offer = await toolbox.offer('', everything);
    const tool = offer.tools.find(({ name }) => name === line.tool);
    const brain = scriptedBrain([
      { text: 'Let me look.', calls: [{ name: tool?.modelName ?? '', args: {} }] },
      { text: 'It did not work.' },
    ]);
    const journal = memoryJournal();
    const ports = portsOf({
      router: routerOf(brain),
      toolbox,
      journal,
      gate: gateOf(() => 'run'),
    });
    expect(await runTurn(inputOf({ lookup: 'read write' }), ports, never())).toBe('done');

    const parts = journal.parts();
    const call = parts.find((part): part is CallPart => part.kind === 'call');
    const { outcome } = call ?? {};
    expect(outcome?.kind).toBe(line.tool === 'read' ? line.read : line.write);
    const { message, advice } = wordsOf(outcome);
    if (outcome?.kind === 'unavailable') {
      expect(message).toMatch(line.later);
      if (line.later === line.message) expect(advice).toMatch(line.advice);
    } else {
      expect(message).toMatch(/\.$/);
      expect(advice).toMatch(line.tool === 'read' ? /Try again/ : /Check before you try/);
    }
    expect(call).toMatchObject({ state: 'done', tool: line.tool });
    const texts = parts.filter((part) => part.kind === 'text').map((part) => part.text);
    expect(texts).toEqual(['Let me look.', 'It did not work.']);
    expect(unruly.ran()).toEqual({ read: 0, write: 0 });
    // The list is what it was, and the server is still there to be tried again.
    const [view] = await host.list();
    expect(view?.tools.map(({ name }) => name)).toEqual(['read', 'write']);
  });
});

describe('a server that is not reached at all', () => {
  it('for want of a safe connection is told from one that is down', async () => {
    const unruly = await started(startUnruly());
    const { host } = await newHost();
    const address = unruly.url('none').replace('http:', 'https:');
    expect(await host.add({ url: address })).toMatchObject({
      ok: false,
      error: {
        code: 'tls',
        message: expect.stringMatching(/no safe connection to localhost/),
        advice: expect.stringMatching(/^Nothing was sent/),
      },
    });
  });

  it.each<[string, HostErrorCode]>([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns'],
    ['ECONNREFUSED', 'unreachable'],
    ['ECONNRESET', 'unreachable'],
  ])('because of %s is %s', async (reason, code) => {
    const peer = { name: 'Far', url: new URL('https://far.example/mcp'), keyHeader: null };
    const failure = new TypeError('fetch failed', { cause: { code: reason } });
    const error = await diagnose(peer, fetch, () => true, 'fetch failed', failure);
    expect(error).toMatchObject({ code, detail: `fetch failed (${reason})` });
    expect(error.message).toContain('far.example');
  });
});

describe('how long to wait', () => {
  const NOW = Date.parse('2026-11-30T06:00:00Z');
  const peer = { name: 'Far', url: new URL('https://far.example/mcp'), keyHeader: null };
  it.each([
    ['30', 'in 30 seconds'],
    ['600', 'in 10 minutes'],
    ['Mon, 30 Nov 2026 06:01:30 GMT', 'in 90 seconds'],
    ['Mon, 30 Nov 2026 06:30:00 GMT', 'in 30 minutes'],
    ['Mon, 30 Nov 2026 05:00:00 GMT', 'later'],
    ['999999999', 'later'],
    ['-5', 'later'],
    ['soon', 'later'],
    [null, 'later'],
  ])('is read from %s', (retryAfter, words) => {
    expect(ofStatus(peer, 429, { retryAfter }, NOW)?.advice).toBe(`Try again ${words}.`);
  });
});

describe('the report of a fault', () => {
  const KEY = 'sk-live-0123456789';

  it('says what was tried where, and what came back', async () => {
    const unruly = await started(startUnruly());
    const { host } = await newHost();
    const url = unruly.url('scope-wanted');
    const added = await host.add({ url });
    if (added.ok) throw new Error('It was added.');
    const at = Date.parse('2026-11-30T06:00:00Z');
    const server = { name: 'Files', url, era: { kind: 'legacy', at } } as const;
    const report = reportOf(added.error, { server, tried: 'Connect', at });
    expect(report.split('\n')).toEqual(
      expect.arrayContaining([
        `App: Deft ${version}`,
        'Time: 2026-11-30T06:00:00.000Z',
        `Server: Files, ${url}`,
        'Protocol: legacy, found 2026-11-30',
        'Tried: Connect',
        `What happened: ${added.error.message}`,
        `Advice: ${added.error.advice}`,
        'Kind: scope',
        'Status: 403',
        'www-authenticate: Bearer error="insufficient_scope", scope="files:write"',
      ]),
    );
  });

  it('has no secret in it, wherever it stands', () => {
    const report = reportOf(
      {
        code: 'protocol',
        message: `What is ${KEY}?`,
        advice: 'Ask.',
        detail: `Bearer abcdef0123456789abcdef and plain hunter2hunter2\nwith breaks`,
        seen: { status: 400, headers: { 'www-authenticate': `Bearer realm="${KEY}"` } },
      },
      {
        server: { name: 'Files', url: `https://far.example/mcp?token=${KEY}#x` },
        tried: 'Call read',
        at: 0,
        secrets: ['hunter2hunter2'],
      },
    );
    expect(report).not.toMatch(/sk-live|abcdef0123456789|hunter2|token=/);
    expect(report).toContain('Server: Files, https://far.example/mcp\n');
    expect(report).toContain('Status: 400');
  });
});
