import { describe, expect, test } from 'vitest';
import { renewed } from '../../../src/mcp/allow.ts';
import { heldNames, holdBack } from '../../../src/mcp/held.ts';
import type { ToolListRecord } from '../../../src/store/records.ts';

const tool = (name: string, pin: string) => ({ name, pin, inputSchema: {} });
type Listed = ReturnType<typeof tool>[];

/** What is held after the lists came in one after the other. */
function after(...lists: Listed[]): { held: string[]; names: string[] } {
  let record: { tools: Listed; held: Listed } = { tools: lists[0] ?? [], held: [] };
  for (const tools of lists.slice(1)) record = { tools, held: holdBack(record, tools) as Listed };
  return {
    held: record.held.map(({ name, pin }) => `${name} ${pin}`),
    names: [...heldNames(record)],
  };
}

describe('a tool is held back', () => {
  test('when its definition changes, against the one that the person knows', () => {
    expect(after([tool('pay', '1')], [tool('pay', '2')])).toEqual({
      held: ['pay 1'],
      names: ['pay'],
    });
    expect(after([tool('pay', '1')], [tool('pay', '2')], [tool('pay', '3')])).toEqual({
      held: ['pay 1'],
      names: ['pay'],
    });
  });

  test('when it was gone in between and comes back changed', () => {
    expect(after([tool('pay', '1')], [], [tool('pay', '2')])).toEqual({
      held: ['pay 1'],
      names: ['pay'],
    });
  });

  test('however many others come and go in between', () => {
    const dummies = Array.from({ length: 1_500 }, (_, at) => tool(`dummy_${at}`, '1'));
    const lists = [[tool('pay', '1')], [], dummies, [], [tool('pay', '2')]];
    for (const rule of [undefined, { pattern: '*' }]) {
      let record: ToolListRecord = {
        ...{ server: 's', fetchedAt: 0, ttlMs: 0, off: [] },
        tools: lists[0]!,
        ...(rule ? { rule } : {}),
      };
      for (const tools of lists.slice(1)) {
        const held = holdBack(record, tools);
        record = { ...renewed(record, { ...record, tools }), held };
      }
      expect([...heldNames(record)]).toEqual(['pay']);
    }
  });

  test('not when it is as it was, also after it was gone or changed back', () => {
    for (const between of [[], [tool('pay', '2')]])
      expect(after([tool('pay', '1')], between, [tool('pay', '1')])).toEqual({
        held: [],
        names: [],
      });
  });

  test('not when it is new, nor because others change', () => {
    expect(after([tool('a', '1')], [tool('a', '1'), tool('b', '1')]).names).toEqual([]);
    expect(after([tool('a', '1'), tool('b', '1')], [tool('a', '2'), tool('b', '1')]).names).toEqual(
      ['a'],
    );
  });
});
