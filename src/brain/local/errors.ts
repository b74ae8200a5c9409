/** The one error that the phone's engines throw: a kind, and technical detail without secrets. */

/**
 * absent: the model's files are not on the phone · unfit: this phone cannot run it; the detail is a
 * sentence for the person · gpu: the device was lost, or calculates nonsense ·
 * memory: out of memory · context: the prompt does not fit the window · stalled: no token in time ·
 * unsafe: it failed on this phone before, and the person has not chosen yet · internal: anything
 * else, a fault of ours or of the engine
 */
export type EngineErrorKind =
  'absent' | 'unfit' | 'gpu' | 'memory' | 'context' | 'stalled' | 'unsafe' | 'internal';

const KINDS: ReadonlySet<string> = new Set<EngineErrorKind>([
  'absent',
  'unfit',
  'gpu',
  'memory',
  'context',
  'stalled',
  'unsafe',
  'internal',
]);

export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly kind: EngineErrorKind;

  /** `detail` is for a report: what the engine said; a sentence for the person only of `unfit`. */
  constructor(kind: EngineErrorKind, detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.kind = kind;
  }

  /** As plain data, to cross a worker's border. */
  toWire(): EngineErrorWire {
    return { kind: this.kind, detail: this.message };
  }

  /** From plain data that came out of a worker; what does not fit becomes `internal`. */
  static fromWire(wire: unknown): EngineError {
    const { kind, detail } = (typeof wire === 'object' && wire !== null ? wire : {}) as {
      kind?: unknown;
      detail?: unknown;
    };
    return new EngineError(
      typeof kind === 'string' && KINDS.has(kind) ? (kind as EngineErrorKind) : 'internal',
      typeof detail === 'string' ? detail : 'unknown engine failure',
    );
  }

  /** Any thrown value as an EngineError: kept where it is one, else `internal`. */
  static from(thrown: unknown): EngineError {
    if (thrown instanceof EngineError) return thrown;
    if (thrown instanceof Error)
      return new EngineError('internal', `${thrown.name}: ${thrown.message}`, { cause: thrown });
    return new EngineError('internal', String(thrown));
  }
}

export interface EngineErrorWire {
  readonly kind: EngineErrorKind;
  readonly detail: string;
}
