import { describe, expect, test } from 'vitest';
import { redact } from '../../../src/store/redact.ts';

describe('redact', () => {
  test.each([
    ['Authorization: Bearer abcd1234efgh5678', 'abcd1234efgh5678'],
    ['authorization: basic dXNlcjpwYXNzd29yZDE=', 'dXNlcjpwYXNzd29yZDE'],
    ['401 for sk-or-v1-0123456789abcdef', '0123456789abcdef'],
    ['key sk_live_51HabcdefGHIJ used', '51HabcdefGHIJ'],
    ['https://x.test/v1?key=AbCdEf123&alt=sse', 'AbCdEf123'],
    ['https://x.test/mcp?access_token=zzzzyyyy&a=1', 'zzzzyyyy'],
    ['{"api_key": "hello-there-1"}', 'hello-there-1'],
    ['"{\\"api_key\\":\\"hello-there-1\\"}"', 'hello-there-1'],
    ['x-api-key: q1w2e3r4', 'q1w2e3r4'],
    ['password=hunter22', 'hunter22'],
    ['https://ann:hunter22@x.test/mcp', 'hunter22'],
    ['Used gsk_abcdefghijklmnop here', 'abcdefghijklmnop'],
    ['sk-ant-api03-abcdefghijkl', 'abcdefghijkl'],
    ['AIzaSyA1234567890abcdefghijklmnopqrstu', 'SyA1234567890'],
    ['ghp_0123456789abcdefghijABCDEFGHIJ', '0123456789abcdef'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', 'eyJzdWIi'],
    ['-----BEGIN PRIVATE KEY-----\nMIIEabc\n-----END PRIVATE KEY-----', 'MIIEabc'],
    [
      '-----BEGIN RSA PRIVATE KEY-----\nDEK-Info: AES-128-CBC,0\n\nMIIEabc\n-----END RSA PRIVATE KEY-----',
      'MIIEabc',
    ],
    ['-----BEGIN PRIVATE KEY-----\nMIIEabc', 'MIIEabc'],
  ])('strikes what looks like a secret: %s', (text, secret) => {
    const struck = redact(text);
    expect(struck).not.toContain(secret);
    expect(struck).toContain('[secret]');
  });

  test('leaves the rest of the text as it is', () => {
    expect(redact('GET https://x.test/v1?key=AbCdEf123&alt=sse: 403')).toBe(
      'GET https://x.test/v1?key=[secret]&alt=sse: 403',
    );
    for (const plain of [
      'The token endpoint wants basic authentication; the bearer authentication failed.',
      'Book a flight to Mumbai on 2026-12-04, 3 tokens a second.',
      'https://example.test:8080/mcp answered 404',
      'monkey=banana keyboard: qwerty',
    ])
      expect(redact(plain)).toBe(plain);
  });

  test('strikes a known secret in every form in which it travels', () => {
    const secret = 'pä"ss wörd/+~';
    const bytes = new TextEncoder().encode(secret);
    const forms = [
      secret,
      JSON.stringify({ a: secret }),
      `https://x.test/?q=${encodeURIComponent(secret)}`,
      new URLSearchParams({ q: secret }).toString(),
      `Basic ${Buffer.from(bytes).toString('base64')}`,
      Buffer.from(bytes).toString('base64url'),
    ];
    for (const form of forms) {
      const struck = redact(`before ${form} after`, [secret]);
      expect(struck).toMatch(/^before .*\[secret\].* after$/);
      expect(struck).not.toContain('ss w');
    }
  });

  test('strikes the longer of two secrets whole', () => {
    expect(redact('a abcd-efgh b', ['abcd', 'abcd-efgh'])).toBe('a [secret] b');
  });

  test('takes secrets for text, not for patterns', () => {
    expect(redact('x a.c*d y axcd', ['a.c*d', '$&$1'])).toBe('x [secret] y axcd');
  });

  test('does not tear up the text for an empty or tiny secret', () => {
    expect(redact('a b c', ['', 'a', 'b c'])).toBe('a b c');
  });

  test('takes a long hostile text in a moment', () => {
    const started = performance.now();
    for (const piece of [
      'key',
      'a:',
      'x://a:',
      '-----BEGIN A',
      'bearer ',
      'eyJaaaaaaaaa',
      'key = ',
    ])
      redact(piece.repeat(200_000 / piece.length));
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
