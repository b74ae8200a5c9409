import { describe, expect, test } from 'vitest';
import { decodeEntities } from '../../../src/ui/markdown/entities.ts';
import { safeLink } from '../../../src/ui/markdown/links.ts';

describe('an address in untrusted text', () => {
  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://a.example/1',
    'ftp://a.example/',
    'intent://scan/#Intent;scheme=zxing;end',
    '/servers',
    'relative',
    '//host.example/x',
    'https://',
    '',
  ])('%j never becomes a link', (address) => {
    expect(safeLink(address)).toBeNull();
  });

  test('http, https and mailto do, with their host', () => {
    expect(safeLink('https://a.example:8443/x?y=1#z')).toEqual({
      href: 'https://a.example:8443/x?y=1#z',
      host: 'a.example:8443',
    });
    expect(safeLink('mailto:someone@a.example')?.host).toBe('someone@a.example');
  });

  test('a name before an @ cannot pose as the host, and is not sent', () => {
    expect(safeLink('https://bank.example@evil.example/login')).toEqual({
      href: 'https://evil.example/login',
      host: 'evil.example',
    });
  });

  test('letters that look like others are shown as the browser resolves them', () => {
    expect(safeLink('https://аpple.example/')?.host).toMatch(/^xn--/);
  });
});

test('character references become characters, what is unknown stays', () => {
  expect(
    decodeEntities('AT&amp;T &lt;b&gt; &#65;&#x42; &nbsp;| &unknown; &#0; &#x110000; & x'),
  ).toBe('AT&T <b> AB \u00a0| &unknown; &#0; &#x110000; & x');
});
