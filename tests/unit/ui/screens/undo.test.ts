import { describe, expect, it } from 'vitest';
import {
  choiceOf,
  faultOf,
  likelyChoice,
  ruleOf,
  sourcesOf,
} from '../../../../src/ui/screens/undo.ts';

const tool = {
  name: 'create_event',
  inputSchema: { type: 'object', properties: { title: {}, calendar: {} } },
  outputSchema: { type: 'object', properties: { id: {} } },
};

describe('the choice of how a tool is undone', () => {
  it('offers what the call was given and what it gave', () => {
    expect(sourcesOf(tool).map(({ value }) => value)).toEqual([
      ...['result.id', 'args.title', 'args.calendar', 'result', 'fixed'],
    ]);
    expect(sourcesOf({ name: 'x', inputSchema: {} }).map(({ title }) => title)).toEqual([
      ...['A field of the result', 'A fixed text'],
    ]);
  });

  it('starts with what has the same name', () => {
    expect(likelyChoice('id', tool).from).toBe('result.id');
    expect(likelyChoice('calendar', tool).from).toBe('args.calendar');
    expect(likelyChoice('reason', tool).from).toBe('');
    expect(likelyChoice('__proto__', tool).from).toBe('');
  });

  it('makes a rule, and reads a rule as it was chosen', () => {
    const rule = ruleOf('delete_event', {
      id: { from: 'result.id', text: '' },
      calendar: { from: 'args.calendar', text: '' },
      etag: { from: 'result', text: ' event.etag ' },
      reason: { from: 'fixed', text: 'undone' },
    });
    expect(rule).toEqual({
      tool: 'delete_event',
      arguments: {
        ...{ id: '$result.id', calendar: '$args.calendar' },
        ...{ etag: '$result.event.etag', reason: 'undone' },
      },
    });
    expect(Object.values(rule.arguments).map((value) => choiceOf(value, tool))).toEqual([
      { from: 'result.id', text: '' },
      { from: 'args.calendar', text: '' },
      { from: 'result', text: 'event.etag' },
      { from: 'fixed', text: 'undone' },
    ]);
    expect(choiceOf({ deep: 1 }, tool)).toEqual({ from: 'fixed', text: '{"deep":1}' });
  });

  it('says what is missing', () => {
    expect(faultOf({ from: '', text: '' })).toMatch(/^Choose where/);
    expect(faultOf({ from: 'result', text: ' ' })).toMatch(/^Name the field/);
    expect(faultOf({ from: 'fixed', text: '$args.id' })).toMatch(/read as a field/);
    expect(faultOf({ from: 'fixed', text: '' })).toBeUndefined();
  });
});
