/**
 * Colours for code: highlight.js and one language at a time, loaded when first met. Gives spans of
 * text with a scope, so that nothing is ever parsed as HTML.
 */
import type { Emitter, HLJSApi, LanguageFn } from 'highlight.js';

export interface Span {
  readonly text: string;
  /** First word of highlight.js's scope, e.g. `keyword`; null for plain text. */
  readonly scope: string | null;
}

const LANGUAGES: Readonly<Record<string, () => Promise<{ default: LanguageFn }>>> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  css: () => import('highlight.js/lib/languages/css'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  python: () => import('highlight.js/lib/languages/python'),
  sql: () => import('highlight.js/lib/languages/sql'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
};

const ALIASES: Readonly<Record<string, string>> = {
  sh: 'bash',
  shell: 'bash',
  zsh: 'bash',
  js: 'javascript',
  jsx: 'javascript',
  mjs: 'javascript',
  kt: 'kotlin',
  py: 'python',
  ts: 'typescript',
  tsx: 'typescript',
  html: 'xml',
  svg: 'xml',
  yml: 'yaml',
};

/** Longer code stays plain: colouring it would block the page. */
const LONGEST = 20_000;

/** Collects flat spans; a nested scope wins over the one around it. */
class SpanEmitter implements Emitter {
  readonly spans: Span[] = [];
  readonly #scopes: string[] = [];

  addText(text: string): void {
    if (text) this.spans.push({ text, scope: this.#scopes.at(-1) ?? null });
  }
  startScope(scope: string): void {
    this.#scopes.push(scope.split('.')[0] ?? scope);
  }
  endScope(): void {
    this.#scopes.pop();
  }
  /** The engine itself still uses these two older names. */
  openNode(scope: string): void {
    this.startScope(scope);
  }
  closeNode(): void {
    this.endScope();
  }
  __addSublanguage(emitter: Emitter): void {
    if (emitter instanceof SpanEmitter) this.spans.push(...emitter.spans);
  }
  finalize(): void {}
  toHTML(): string {
    return '';
  }
}

let engine: Promise<HLJSApi> | undefined;

async function load(): Promise<HLJSApi> {
  const { default: hljs } = await import('highlight.js/lib/core');
  hljs.configure({ __emitter: SpanEmitter, throwUnescapedHTML: false });
  return hljs;
}

/** Null where there is nothing to colour: an unknown language, code too long. */
export async function highlight(code: string, language: string): Promise<readonly Span[] | null> {
  const asked = language.toLowerCase();
  const name = ALIASES[asked] ?? asked;
  const source = Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : undefined;
  if (!source || code.length > LONGEST) return null;
  const [hljs, grammar] = await Promise.all([(engine ??= load()), source()]);
  if (!hljs.getLanguage(name)) hljs.registerLanguage(name, grammar.default);
  const emitter = hljs.highlight(code, { language: name, ignoreIllegals: true })._emitter;
  return emitter instanceof SpanEmitter ? emitter.spans : null;
}
