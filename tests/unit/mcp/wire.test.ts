/** How much a server may send at once, and what nests too deep to be taken. */
import { describe, expect, it } from 'vitest';
import { blocksOf } from '../../../src/mcp/depth.ts';
import { createWire, type Wire } from '../../../src/mcp/wire.ts';

/** A server whose answers come in these pieces. */
function wireOver(answers: readonly (readonly string[])[]): Wire {
  const left = [...answers];
  const encoder = new TextEncoder();
  const serve = async () => {
    const pieces = (left.shift() ?? []).map((piece) => encoder.encode(piece));
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  return createWire(serve, 100, () => 0);
}

const read = async (wire: Wire) =>
  (await wire.fetch('https://a.test/mcp', { method: 'POST' })).text().catch(() => 'cut');

const EVENT = `data: ${'x'.repeat(30)}`;

describe('a stream', () => {
  it.each(['\n', '\r', '\r\n'])(
    'may go on for ever, wherever its pieces end (%j), as long as its events are small',
    async (line) => {
      const whole = `${EVENT}${line}${line}`.repeat(20);
      const pieces = whole.match(/[^]{1,45}/g) ?? [];
      const wire = wireOver([pieces]);
      expect(await read(wire)).toBe(whole);
      expect(wire.overflowed()).toBe(false);
    },
  );

  it('is cut at an event that is too large, however its pieces end', async () => {
    const wire = wireOver([Array.from({ length: 10 }, () => `${EVENT}\n:\n`)]);
    expect(await read(wire)).toBe('cut');
    expect(wire.overflowed()).toBe(true);
  });

  it('that was too large is not held against the next one', async () => {
    const wire = wireOver([['x'.repeat(200)], [`${EVENT}\n\n`]]);
    expect(await read(wire)).toBe('cut');
    expect(await read(wire)).toBe(`${EVENT}\n\n`);
    expect(wire.overflowed()).toBe(false);
  });
});

describe('content', () => {
  it('is taken without what is no block and what would overflow whoever walks it', () => {
    const bottomless: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    const text = { type: 'text', text: 'a' };
    expect(blocksOf([null, 'text', { text: 'no type' }, text, { type: 'x', bottomless }])).toEqual([
      text,
    ]);
  });
});
