import { describe, expect, it } from 'vitest';
import { readPlace } from '../../../src/mcp/place.ts';

describe('where an address leads, before anything is sent there', () => {
  it.each([
    ['example.com/mcp', 'example.com', true, 'internet'],
    ['https://tools.example.com:8443/mcp?key=1#top', 'tools.example.com:8443', true, 'internet'],
    ['http://192.168.1.20:3000/mcp', '192.168.1.20:3000', false, 'network'],
    ['printer.local', 'printer.local', false, 'network'],
    ['localhost:3101/mcp', 'localhost:3101', false, 'device'],
    ['http://[::1]:8080/mcp', '[::1]:8080', false, 'device'],
  ])('%s', (typed, host, secure, where) => {
    expect(readPlace(typed)).toMatchObject({ ok: true, place: { host, secure, where } });
  });

  it('spells a name in another script as the network does, so that none passes for another', () => {
    const read = readPlace('https://аpple.com/mcp');
    expect(read.ok && read.place.host).toBe('xn--pple-43d.com');
  });

  it('says of what is no address that it is none', () => {
    for (const text of ['', 'hello there', 'ftp://example.com', 'https://a:b@example.com'])
      expect(readPlace(text)).toMatchObject({ ok: false, error: { code: 'bad-url' } });
  });
});
