/** Addresses with gaps (RFC 6570, up to level 3): which values they want, and what they become. */

interface Gap {
  readonly operator: string;
  readonly names: readonly string[];
}

interface Style {
  readonly first: string;
  readonly between: string;
  /** Values are written behind their names. */
  readonly named: boolean;
  /** Reserved characters stay as they are. */
  readonly raw: boolean;
}

/** RFC 6570, appendix A. */
const STYLES: Readonly<Record<string, Style>> = {
  '': { first: '', between: ',', named: false, raw: false },
  '+': { first: '', between: ',', named: false, raw: true },
  '#': { first: '#', between: ',', named: false, raw: true },
  '.': { first: '.', between: '.', named: false, raw: false },
  '/': { first: '/', between: '/', named: false, raw: false },
  ';': { first: ';', between: ';', named: true, raw: false },
  '?': { first: '?', between: '&', named: true, raw: false },
  '&': { first: '&', between: '&', named: true, raw: false },
};

const GAP = /\{([+#./;?&]?)([^{}]+)\}/g;

function gapOf(operator: string, inner: string): Gap {
  const names = inner.split(',').map((name) => name.replace(/(\*|:\d+)$/, '').trim());
  return { operator, names: names.filter(Boolean) };
}

/** Names of the values, each once, in order. */
export function variablesOf(template: string): readonly string[] {
  const names = [...template.matchAll(GAP)].flatMap(
    ([, operator = '', inner = '']) => gapOf(operator, inner).names,
  );
  return [...new Set(names)];
}

/** Everything but what an address reserves for itself. */
const encodeRaw = (value: string): string =>
  encodeURI(value).replace(/%5B/g, '[').replace(/%5D/g, ']');
const encodeWhole = (value: string): string =>
  encodeURIComponent(value).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** The address with the gaps filled; values that are empty are left out. */
export function expand(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(GAP, (_, operator: string, inner: string) => {
    const style = STYLES[operator]!;
    const pieces = gapOf(operator, inner).names.flatMap((name) => {
      const value = values[name] ?? '';
      if (value === '') return [];
      const written = style.raw ? encodeRaw(value) : encodeWhole(value);
      return [style.named ? `${name}=${written}` : written];
    });
    return pieces.length > 0 ? style.first + pieces.join(style.between) : '';
  });
}
