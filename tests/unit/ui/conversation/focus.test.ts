// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from 'vitest';
import { holdsFocus, regainFocus } from '../../../../src/ui/conversation/focus.ts';

const one = (selector: string): HTMLElement => document.querySelector<HTMLElement>(selector)!;

describe('the focus in a place whose button goes away', () => {
  beforeEach(() => {
    document.body.innerHTML =
      '<div id="place" tabindex="-1"><button id="inside">Undo</button></div><input id="outside" />';
  });

  it('is taken back to the place', () => {
    one('#inside').focus();
    expect(holdsFocus(one('#place'))).toBe(true);
    one('#inside').remove();
    expect(document.activeElement).toBe(document.body);
    regainFocus(one('#place'));
    expect(document.activeElement).toBe(one('#place'));
  });

  it('stays where the person has moved it', () => {
    one('#outside').focus();
    expect(holdsFocus(one('#place'))).toBe(false);
    regainFocus(one('#place'));
    expect(document.activeElement).toBe(one('#outside'));
  });

  it('is nowhere to be taken where the place is gone', () => {
    expect(holdsFocus(undefined)).toBe(false);
    regainFocus(undefined);
    expect(document.activeElement).toBe(document.body);
  });
});
