import { describe, expect, it } from 'vitest';
import { serverIn } from '../../../../src/ui/shell/invite.ts';

describe('the server that a scanned code proposes', () => {
  it.each([
    ['https://example.com/mcp', 'https://example.com/mcp'],
    [' https://example.com/mcp?tenant=a \n', 'https://example.com/mcp?tenant=a'],
    ['https://deft.example/?server=https%3A%2F%2Fexample.com%2Fmcp', 'https://example.com/mcp'],
    ['https://deft.example/servers?server=example.com/mcp', 'example.com/mcp'],
    ['https://example.com/', 'https://example.com/'],
  ])('%j', (code, address) => {
    expect(serverIn(code)).toBe(address);
  });

  it('is none in a text, a ticket, a network name or code to run', () => {
    for (const code of [
      '',
      'Hello',
      'WIFI:S:home;T:WPA;P:secret;;',
      'javascript:alert(1)',
      'tel:112',
    ])
      expect(serverIn(code)).toBeNull();
  });
});
