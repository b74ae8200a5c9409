/** RFC 6570, with the examples of its section 3.2, as far as servers use it. */
import { expect, test } from 'vitest';
import { expand, variablesOf } from '../../../../src/ui/conversation/uri-template.ts';

const values = {
  var: 'value',
  hello: 'Hello World!',
  path: '/foo/bar',
  x: '1024',
  y: '768',
  empty: '',
};

test.each([
  ['{var}', 'value'],
  ['{hello}', 'Hello%20World%21'],
  ['{+path}/here', '/foo/bar/here'],
  ['{+hello}', 'Hello%20World!'],
  ['{#path}', '#/foo/bar'],
  ['map?{x,y}', 'map?1024,768'],
  ['X{.var}', 'X.value'],
  ['{/var,x}/here', '/value/1024/here'],
  ['{;x,y}', ';x=1024;y=768'],
  ['{?x,y}', '?x=1024&y=768'],
  ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
  ['{?empty}', ''],
  ['{missing}x', 'x'],
  ['{path}', '%2Ffoo%2Fbar'],
  ['no gaps', 'no gaps'],
])('%s becomes %s', (template, address) => expect(expand(template, values)).toBe(address));

test('names the values that it wants, each once', () => {
  expect(variablesOf('db://{table}/{id:3}{?fields*,id}')).toEqual(['table', 'id', 'fields']);
  expect(variablesOf('plain')).toEqual([]);
});
