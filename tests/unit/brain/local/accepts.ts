/**
 * Whether a text fits a grammar, in the notation that GBNF and xgrammar's EBNF share: literals,
 * character classes, groups, alternatives, `? * + {m,n}`. For tests: small, and slow where it may be.
 */

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'class'; readonly matches: (char: string) => boolean }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'any'; readonly choices: readonly Node[] }
  | { readonly kind: 'times'; readonly node: Node; readonly least: number; readonly most: number };

class Parser {
  #at = 0;
  readonly #body: string;

  constructor(body: string) {
    this.#body = body;
  }

  whole(): Node {
    const node = this.#choices();
    if (this.#at < this.#body.length) throw new Error(`not a grammar at: ${this.#rest()}`);
    return node;
  }

  #choices(): Node {
    const choices = [this.#sequence()];
    while (this.#match(/\s*\|/y)) choices.push(this.#sequence());
    return choices.length === 1 ? (choices[0] as Node) : { kind: 'any', choices };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    for (;;) {
      this.#match(/\s*/y);
      if (this.#at >= this.#body.length || /[|)]/.test(this.#body.charAt(this.#at)))
        return { kind: 'all', parts };
      parts.push(this.#repeated());
    }
  }

  #repeated(): Node {
    const node = this.#atom();
    const counted = this.#match(/\{(\d+),(\d+)\}/y);
    if (counted)
      return { kind: 'times', node, least: Number(counted[1]), most: Number(counted[2]) };
    const sign = this.#match(/[?*+]/y)?.[0];
    if (sign === undefined) return node;
    return { kind: 'times', node, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity };
  }

  #atom(): Node {
    const text = this.#match(/"((?:[^"\\]|\\.)*)"/y);
    if (text) return { kind: 'text', text: JSON.parse(`"${text[1]}"`) as string };
    const set = this.#match(/\[((?:[^\]\\]|\\.)*)\]/y);
    if (set) {
      const pattern = new RegExp(`^[${set[1]}]$`, 'u');
      return { kind: 'class', matches: (char) => pattern.test(char) };
    }
    if (this.#match(/\(/y)) {
      const inner = this.#choices();
      if (!this.#match(/\s*\)/y)) throw new Error(`an open bracket at: ${this.#rest()}`);
      return inner;
    }
    const name = this.#match(/[a-z][a-z0-9]*/y)?.[0];
    if (name === undefined) throw new Error(`not a grammar at: ${this.#rest()}`);
    return { kind: 'rule', name };
  }

  #match(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#body);
    if (found) this.#at = sticky.lastIndex;
    return found;
  }

  #rest(): string {
    return this.#body.slice(this.#at, this.#at + 40);
  }
}

/** A recogniser of a grammar whose first rule is `root`. Throws where it is no grammar. */
export function acceptor(grammar: string): (text: string) => boolean {
  const rules = new Map(
    grammar.split('\n').map((line) => {
      const split = /^([a-z][a-z0-9]*) ::= (.+)$/.exec(line);
      if (!split) throw new Error(`not a rule: ${line}`);
      return [split[1] as string, new Parser(split[2] as string).whole()];
    }),
  );
  const named = (name: string): Node => {
    const rule = rules.get(name);
    if (!rule) throw new Error(`no rule ${name}`);
    return rule;
  };

  /** Where a match that began at one of `from` may end. */
  function ends(node: Node, chars: readonly string[], from: ReadonlySet<number>): Set<number> {
    switch (node.kind) {
      case 'text': {
        const wanted = Array.from(node.text);
        const fits = (at: number): boolean => wanted.every((char, n) => chars[at + n] === char);
        return new Set([...from].filter(fits).map((at) => at + wanted.length));
      }
      case 'class':
        return new Set(
          [...from]
            .filter((at) => at < chars.length && node.matches(chars[at] ?? ''))
            .map((at) => at + 1),
        );
      case 'rule':
        return ends(named(node.name), chars, from);
      case 'all':
        return node.parts.reduce<Set<number>>((at, part) => ends(part, chars, at), new Set(from));
      case 'any':
        return new Set(node.choices.flatMap((choice) => [...ends(choice, chars, from)]));
      case 'times': {
        const all = new Set<number>(node.least === 0 ? from : []);
        let at = new Set(from);
        for (let count = 1; count <= node.most && at.size > 0; count += 1) {
          at = ends(node.node, chars, at);
          if (count < node.least) continue;
          at = new Set([...at].filter((end) => !all.has(end) || count === node.least));
          at.forEach((end) => all.add(end));
        }
        return all;
      }
    }
  }

  return (text) => {
    const chars = Array.from(text);
    return ends(named('root'), chars, new Set([0])).has(chars.length);
  };
}
