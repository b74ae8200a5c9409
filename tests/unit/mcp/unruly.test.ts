/**
 * The book of faults: one server commits each on request. Every fault has its kind, a sentence of its
 * own and its own advice; a call that meets one ends in those words, and its turn goes on intact.
 */
import { describe, expect, it } from 'vitest';
import { runTurn } from '../../../src/agent/loop.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import type { HostErrorCode } from '../../../src/mcp/errors.ts';
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

/** Short where nothing is going to come. */
const limitsFor = (fault: FaultName) => {
  const ms = fault.startsWith('hung') ? 1_000 : 15_000;
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
  row('down', 'server', /has a fault of its own/, /Try again in a while/),
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
    'not-mcp',
    /no MCP server at this address/,
    /path/,
    'unavailable',
    'unknown',
    SENSELESS,
  ),
  row(
    'broken-rpc',
    'not-mcp',
    /no MCP server at this address/,
    /path/,
    'unavailable',
    'unknown',
    SENSELESS,
  ),
  row('era-new', 'era', /speaks a version of MCP/, /Update the app/),
  row('era-old', 'era', /speaks a version of MCP/, /Update the app/),
  row('huge', 'too-large', /larger than 10 MB/, /less at once/, 'unavailable', 'unknown'),
  row('huge-stream', 'too-large', /larger than 10 MB/, /less at once/, 'unavailable', 'unknown'),
  row('hung', 'timeout', /did not answer within 1 second/, /Try again/, 'timeout', 'timeout'),
  row('hung-stream', 'timeout', /began to answer/, /holds answers back/, 'timeout', 'timeout'),
  row('hung-body', 'timeout', /began to answer/, /holds answers back/, 'timeout', 'timeout'),
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
