/** Whatever a conversation holds, every interface gets it in the order that it insists on. */
import { describe, expect, test } from 'vitest';
import type { BrainMessage } from '../../../../src/brain/brain.ts';
import { historyOf, wireNames } from '../../../../src/brain/cloud/history.ts';

const call = (id: string, name = 'tool', args: Record<string, unknown> | null = {}) => ({
  id,
  name,
  args,
  raw: args ? JSON.stringify(args) : 'broken {',
});
const user = (text: string): BrainMessage => ({ role: 'user', text });
const assistant = (text: string, ...calls: ReturnType<typeof call>[]): BrainMessage => ({
  role: 'assistant',
  text,
  calls,
});
const result = (callId: string, text: string, isError = false): BrainMessage => ({
  role: 'tool',
  callId,
  name: 'tool',
  text,
  isError,
});

const turns = (...messages: BrainMessage[]) => historyOf(messages, wireNames([])).turns;
const shape = (...messages: BrainMessage[]) => turns(...messages).map(({ role }) => role);

describe('turns', () => {
  test('put each result behind its call, in the order of the calls', () => {
    const made = turns(
      user('a'),
      assistant('', call('x'), call('y')),
      result('y', 'of y'),
      result('x', 'of x'),
    );
    expect(made[2]).toMatchObject({ results: [{ text: 'of x' }, { text: 'of y' }] });
  });

  test('answer a call that has no result', () => {
    expect(turns(user('a'), assistant('', call('x')), user('b'))).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'results', results: [{ text: 'This call was not run.', isError: true }] },
      { role: 'user', text: 'b' },
    ]);
  });

  test('leave out a result that has no call', () => {
    expect(shape(user('a'), result('gone', 'text'), assistant('b'), user('c'))).toEqual([
      'user',
      'assistant',
      'user',
    ]);
  });

  test('leave out what is empty', () => {
    expect(shape(user('a'), assistant(''), user(''), user('b'))).toEqual(['user', 'user']);
  });

  test('let a user speak first and last', () => {
    expect(turns(assistant('b'))).toMatchObject([
      { role: 'user', text: '(Earlier messages are left out.)' },
      { role: 'assistant', text: 'b' },
      { role: 'user', text: 'Go on.' },
    ]);
  });

  test('show a malformed call to the model as it was written', () => {
    expect(turns(user('a'), assistant('', call('x', 'tool', null)))[1]).toMatchObject({
      calls: [{ args: { malformed: 'broken {' } }],
    });
  });

  test('give calls ids that the strictest host takes, the same from step to step', () => {
    const first = [user('a'), assistant('', call('a-very-long-id-of-another-host'))];
    const later = [
      ...first,
      result('a-very-long-id-of-another-host', 'r'),
      assistant('', call('z')),
    ];
    const ids = (messages: BrainMessage[]) =>
      turns(...messages).flatMap((turn) =>
        turn.role === 'assistant' ? turn.calls.map(({ id }) => id) : [],
      );
    expect(ids(first)).toEqual(['call00001']);
    expect(ids(later)).toEqual(['call00001', 'call00002']);
  });
});

describe('the key of a conversation', () => {
  const start = [user('a')];
  const names = wireNames([]);

  test('is found again by the turn that followed it', () => {
    const { key } = historyOf(start, names);
    const next = historyOf([...start, assistant('', call('x')), result('x', 'r')], names);
    expect(next.turns[1]).toMatchObject({ after: key });
    const renamed = historyOf(
      [...start, assistant('', call('other id')), result('other id', 'r')],
      names,
    );
    expect(renamed.turns[1]).toMatchObject({ after: key });
  });

  test('differs where the words differ', () => {
    expect(historyOf([user('a')], names).key).not.toBe(historyOf([user('b')], names).key);
  });
});

describe('tool names', () => {
  const tool = (name: string) => ({ name, description: '', inputSchema: {} });

  test('are legal on the wire and come back as they were', () => {
    const given = ['plain', 'with.dot', 'with dot', 'ünïcode', '9lives', 'x'.repeat(80)];
    const names = wireNames(given.map(tool));
    const wire = given.map((name) => names.toWire(name));
    for (const name of wire) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
    expect(wire.map((name) => names.fromWire(name))).toEqual(given);
    expect(wire[0]).toBe('plain');
  });

  test('stay apart where only illegal letters told them apart', () => {
    const names = wireNames([tool('a.b'), tool('a b'), tool('a:b')]);
    expect(new Set(['a.b', 'a b', 'a:b'].map((name) => names.toWire(name))).size).toBe(3);
  });

  test('of calls that nobody offered are made legal too', () => {
    expect(wireNames([]).toWire('make it so!')).toBe('make_it_so_');
    expect(wireNames([]).fromWire('unknown')).toBe('unknown');
  });
});
