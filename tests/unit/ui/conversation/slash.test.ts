/** Slash commands: which prompts fit, and what a prompt becomes. */
import { describe, expect, test } from 'vitest';
import { filled, nameOfUri, promptChoices } from '../../../../src/ui/conversation/slash.ts';
import { blocksOf, resourceRows } from '../../../../src/ui/conversation/resources.ts';
import { serverView } from '../../../browser/ui/server-view.ts';

const notes = serverView({
  prompts: [
    { name: 'summary', title: 'Sum up', description: 'Sums up a note.' },
    { name: 'weekly-summary' },
    { name: 'plan' },
  ],
  resources: [
    { uri: 'note:1', name: 'first', title: 'First note', mimeType: 'text/plain', size: 2048 },
    { uri: 'note:2', name: 'second' },
  ],
  templates: [{ uriTemplate: 'note:{id}', name: 'Any note' }],
});
const off = serverView({
  record: { id: 'off', enabled: false },
  prompts: [{ name: 'summary' }],
  resources: [{ uri: 'x:1', name: 'x' }],
});

test('prompts of servers that are on come best first', () => {
  const names = (query: string) => promptChoices([off, notes], query).map((it) => it.prompt.name);
  expect(names('')).toEqual(['summary', 'weekly-summary', 'plan']);
  expect(names('SUMM')).toEqual(['summary', 'weekly-summary']);
  expect(names('notes')).toHaveLength(3);
  expect(names('nothing')).toEqual([]);
});

test('resources of servers that are on are found by every word, wherever it stands', () => {
  const titles = (query: string) => resourceRows([off, notes], query).map(({ title }) => title);
  expect(titles('')).toEqual(['Any note', 'First note', 'second']);
  expect(titles('notes FIRST')).toEqual(['First note']);
  expect(titles('note:2')).toEqual(['second']);
  expect(resourceRows([notes], 'first')[0]?.note).toBe('text/plain · 2 KB');
});

test('what is too large is not attached', () => {
  expect(blocksOf([{ uri: 'a', text: 'x' }])).toEqual([
    { type: 'resource', resource: { uri: 'a', text: 'x' } },
  ]);
  expect(blocksOf([{ uri: 'a', blob: 'x'.repeat(4_000_001) }])).toBeNull();
});

describe('a prompt that came back', () => {
  const from = { id: 's', name: 'Notes', private: true };

  test('its texts are words, everything else hangs on them', () => {
    const { words, source, attached } = filled(
      {
        messages: [
          { role: 'user', content: { type: 'text', text: 'Sum up this note.' } },
          { role: 'assistant', content: { type: 'text', text: 'Which one?' } },
          {
            role: 'user',
            content: {
              type: 'resource',
              resource: { uri: 'file:///my%20note.txt', text: 'Milk.' },
            },
          },
          { role: 'user', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } },
        ],
      },
      from,
      7,
    );
    expect(words).toBe('Sum up this note.\n\nAssistant: Which one?');
    expect(source).toBe('Notes');
    expect(attached.map(({ name, uri }) => [name, uri])).toEqual([
      ['my note.txt', 'file:///my%20note.txt'],
      ['Image', ''],
    ]);
    expect(attached[0]).toMatchObject({ server: 's', serverName: 'Notes', private: true, at: 7 });
  });

  test('a name is the last part of an address, also of a broken one', () => {
    expect(nameOfUri('https://a.example/x/y.md?z=1')).toBe('z=1');
    expect(nameOfUri('note:%E0%A4%A')).toBe('note:%E0%A4%A');
    expect(nameOfUri('///')).toBe('///');
  });
});
