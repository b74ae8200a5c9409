import { describe, expect, it } from 'vitest';
import { keyHeaders, readAddress } from '../../../src/mcp/address.ts';

describe('an address as it is typed', () => {
  it.each([
    ['https://example.com/mcp', 'https://example.com/mcp'],
    ['  https://example.com/mcp#top ', 'https://example.com/mcp'],
    ['example.com/mcp', 'https://example.com/mcp'],
    ['mcp.example.com', 'https://mcp.example.com/'],
    ['localhost:4310/mcp', 'http://localhost:4310/mcp'],
    ['192.168.1.7:8080/mcp', 'http://192.168.1.7:8080/mcp'],
    ['nas.local/mcp', 'http://nas.local/mcp'],
    ['http://127.0.0.1:3000/mcp?x=1', 'http://127.0.0.1:3000/mcp?x=1'],
  ])('%j is %s', (typed, url) => {
    const read = readAddress(typed);
    expect(read.ok && read.url.href).toBe(url);
  });

  it.each([
    '',
    'hello',
    'hello world',
    'https://',
    'ftp://example.com/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://user:secret@example.com/mcp',
  ])('%j is none, and the advice says what to type', (typed) => {
    const read = readAddress(typed);
    expect(read).toMatchObject({ ok: false, error: { code: 'bad-url' } });
    expect(JSON.stringify(read)).not.toContain('secret');
  });
});

describe('a key', () => {
  it.each([
    ['abc123', 'Authorization', { Authorization: 'Bearer abc123' }],
    [' abc123\n', 'Authorization', { Authorization: 'Bearer abc123' }],
    ['Basic dTpw', 'Authorization', { Authorization: 'Basic dTpw' }],
    ['abc123', 'X-API-Key', { 'X-API-Key': 'abc123' }],
  ])('%j goes into %s', (key, header, headers) => {
    expect(keyHeaders(key, header)).toEqual({ ok: true, headers });
  });

  it.each([
    ['abc', 'Mcp-Session-Id'],
    ['abc', 'Cookie'],
    ['abc', 'two words'],
    ['a\nb', 'Authorization'],
    ['schlüssel', 'Authorization'],
    ['', 'Authorization'],
  ])('%j in %s is refused without being repeated', (key, header) => {
    expect(keyHeaders(key, header)).toMatchObject({ ok: false, error: { code: 'auth' } });
  });
});
