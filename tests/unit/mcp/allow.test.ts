import { describe, expect, it } from 'vitest';
import {
  appeared,
  covers,
  fits,
  renewed,
  seen,
  withAll,
  withRule,
  withTool,
} from '../../../src/mcp/allow.ts';
import type { ToolListRecord } from '../../../src/store/records.ts';

const tool = (name: string, readOnlyHint?: boolean, title?: string) => ({
  name,
  ...(title === undefined ? {} : { title }),
  inputSchema: { type: 'object' },
  ...(readOnlyHint === undefined ? {} : { annotations: { readOnlyHint } }),
  pin: name,
});

const list = (...tools: ReturnType<typeof tool>[]): ToolListRecord => ({
  server: 's',
  fetchedAt: 7,
  ttlMs: 1,
  tools,
  off: [],
});

const onOf = ({ tools, off }: ToolListRecord) =>
  tools.map(({ name }) => name).filter((name) => !off.includes(name));

const first = (...tools: ReturnType<typeof tool>[]) => renewed(undefined, list(...tools));

describe('a pattern', () => {
  it.each([
    ['get_*', 'get_note', true],
    ['get_*', 'forget_note', false],
    ['*note*', 'my_notes', true],
    ['get_?', 'get_a', true],
    ['get_?', 'get_ab', false],
    ['GET_*', 'get_note', true],
    ['*', '', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-b-b-d', false],
    ['get.note', 'get_note', false],
  ])('%s and the name %s: %s', (pattern, name, fit) => {
    expect(fits(name, pattern)).toBe(fit);
  });

  it('takes no longer than the two are long, whatever a server calls its tools', () => {
    const before = performance.now();
    expect(fits('a'.repeat(2_000), `${'*a'.repeat(200)}b`)).toBe(false);
    expect(performance.now() - before).toBeLessThan(2_000);
  });

  it('may be several, with commas between them', () => {
    expect(covers({ pattern: 'get_*, list_*' }, tool('list_notes'))).toBe(true);
    expect(covers({ pattern: 'get_*, list_*' }, tool('drop_notes'))).toBe(false);
  });
});

describe('a rule', () => {
  it('of what only reads goes by the hint, and by nothing else', () => {
    expect(covers({ readOnly: true }, tool('a', true))).toBe(true);
    expect(covers({ readOnly: true }, tool('get_a', false))).toBe(false);
    expect(covers({ readOnly: true }, tool('get_a'))).toBe(false);
  });

  it('of two parts covers what both cover', () => {
    const rule = { readOnly: true, pattern: 'get_*' };
    expect(covers(rule, tool('get_a', true))).toBe(true);
    expect(covers(rule, tool('get_a'))).toBe(false);
    expect(covers(rule, tool('list_a', true))).toBe(false);
  });

  it('turns on what it covers and off what it does not, also of what appears later', () => {
    const ruled = withRule(first(tool('get_a'), tool('put_a')), { pattern: 'get_*' });
    expect(onOf(ruled)).toEqual(['get_a']);
    const next = renewed(ruled, list(tool('get_a'), tool('get_b'), tool('put_b')));
    expect(onOf(next)).toEqual(['get_a', 'get_b']);
    expect(appeared(next)).toEqual(['put_b']);
  });

  it('turns a tool off that no longer says that it only reads', () => {
    const ruled = withRule(first(tool('a', true), tool('b', true)), { readOnly: true });
    const next = renewed(ruled, list(tool('a', false), tool('b', true)));
    expect(onOf(next)).toEqual(['b']);
  });

  it("leaves the person's own switches alone", () => {
    const ruled = withRule(first(tool('get_a'), tool('put_a')), { pattern: 'get_*' });
    const switched = withTool(withTool(ruled, 'get_a', false), 'put_a', true);
    expect(onOf(renewed(switched, list(tool('get_a'), tool('put_a'))))).toEqual(['put_a']);
  });

  it('that is taken away changes no tool, and later ones are off', () => {
    const ruled = withRule(first(tool('get_a'), tool('put_a')), { pattern: 'get_*' });
    const free = withRule(ruled, null);
    expect(free.rule).toBeUndefined();
    expect(onOf(free)).toEqual(['get_a']);
    expect(onOf(renewed(free, list(tool('get_a'), tool('get_b'))))).toEqual(['get_a']);
  });
});

describe('a tool that appears', () => {
  it('with the first list is on', () => {
    expect(onOf(first(tool('a'), tool('b')))).toEqual(['a', 'b']);
    expect(appeared(first(tool('a')))).toEqual([]);
  });

  it('later is off and told of, renewal after renewal, until the person has seen it', () => {
    const later = renewed(first(tool('a')), list(tool('a'), tool('b')));
    expect(onOf(later)).toEqual(['a']);
    const again = renewed(later, list(tool('a'), tool('b')));
    expect(appeared(again)).toEqual(['b']);
    expect(appeared(seen(again))).toEqual([]);
    expect(onOf(seen(again))).toEqual(['a']);
    expect(onOf(withTool(again, 'b', true))).toEqual(['a', 'b']);
    expect(appeared(withTool(again, 'b', false))).toEqual([]);
  });

  it('in a list stored by an older version is told from those that were there', () => {
    const old = { ...list(tool('a'), tool('b')), off: ['b'] };
    const next = renewed(old, list(tool('a'), tool('b'), tool('c')));
    expect(onOf(next)).toEqual(['a']);
    expect(appeared(next)).toEqual(['c']);
  });
});

describe('a tool that vanishes', () => {
  it('is missing where it was on, forgotten where it was off', () => {
    const some = withTool(first(tool('a', true, 'Tool A'), tool('b')), 'b', false);
    const next = renewed(some, { ...list(), fetchedAt: 9 });
    expect(next.missing).toEqual([{ name: 'a', title: 'Tool A', at: 9 }]);
    expect(next).toMatchObject({ off: [], known: ['a'] });
  });

  it('and comes back is on as it was, where it was on', () => {
    const some = withTool(first(tool('a'), tool('b')), 'b', false);
    const back = renewed(renewed(some, list()), list(tool('a'), tool('b')));
    expect(back.missing).toBeUndefined();
    expect(onOf(back)).toEqual(['a']);
    expect(appeared(back)).toEqual(['b']);
  });

  it('stays missing over more renewals, until the person turns it off', () => {
    const gone = renewed(renewed(first(tool('a')), list()), list());
    expect(gone.missing?.map(({ name }) => name)).toEqual(['a']);
    const dropped = withTool(gone, 'a', false);
    expect(dropped.missing).toEqual([]);
    expect(onOf(renewed(dropped, list(tool('a'))))).toEqual([]);
  });

  it('leaves no growing heap where a server makes up names all the time', () => {
    let stored = withRule(first(), {});
    for (let round = 0; round < 30; round += 1)
      stored = renewed(
        stored,
        list(...Array.from({ length: 20 }, (_, at) => tool(`${round}-${at}`))),
      );
    expect(stored.missing?.length).toBe(200);
    expect(stored.known?.length).toBe(220);
    expect(stored.off).toEqual([]);
  });
});

describe('all tools at once', () => {
  const chosen = (): ToolListRecord => {
    const before = withRule(first(tool('a', true), tool('b'), tool('gone', true)), {
      readOnly: true,
    });
    // `gone` was on and vanished, `c` appeared and is off.
    return renewed(before, list(tool('a', true), tool('b'), tool('c')));
  };

  it('turned on are on, what has just appeared as well, and nothing is new any more', () => {
    const before = chosen();
    expect([onOf(before), appeared(before)]).toEqual([['a'], ['c']]);
    const on = withAll(before, true);
    expect(onOf(on)).toEqual(['a', 'b', 'c']);
    expect(appeared(on)).toEqual([]);
    expect(on.missing?.map(({ name }) => name)).toEqual(['gone']);
  });

  it('turned off are off, and one that is missing is not waited for any more', () => {
    const off = withAll(chosen(), false);
    expect(onOf(off)).toEqual([]);
    expect(off).not.toHaveProperty('missing');
    const back = renewed(off, list(tool('a', true), tool('gone', true)));
    expect(onOf(back)).toEqual([]);
  });

  it.each([true, false])('take the rule away (%s): tools to come stay off', (on) => {
    const all = withAll(chosen(), on);
    expect(all).not.toHaveProperty('rule');
    const later = renewed(all, list(tool('a', true), tool('later', true)));
    expect(later.off).toContain('later');
    expect(appeared(later)).toEqual(['later']);
  });

  it('change nothing else of the list', () => {
    const { off, known, rule, ...rest } = chosen();
    expect(withAll(chosen(), true)).toMatchObject({ ...rest, off: [] });
  });
});
