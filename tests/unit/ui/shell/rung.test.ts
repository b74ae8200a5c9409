import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { App } from '../../../../src/app.ts';
import type { ModelView, Rung } from '../../../../src/brain/local/types.ts';
import { rungReason, setbackKey, takeRung } from '../../../../src/ui/shell/rung.ts';

// The router reads the address of a page, which there is none of here.
const router = vi.hoisted(() => ({
  navigate: vi.fn(),
  currentRoute: () => ({ screen: { name: 'models' } }),
}));
vi.mock('../../../../src/ui/router.ts', () => router);

const view = (id: string, more: Partial<ModelView> = {}): ModelView =>
  ({
    row: { id, label: `Model ${id}`, files: [{ path: 'a', bytes: 600e6 }] },
    status: { kind: 'absent' },
    stored: 0,
    fit: { verdict: 'well', reason: 'It fits.', asks: [] },
    ...more,
  }) as ModelView;
const smaller = (id: string, contextTokens = 2048): Rung => ({
  kind: 'smaller',
  row: view(id).row,
  contextTokens,
});
const MEANING = 'Model b is smaller and needs less memory.';
const asks = ['This connection may cost by the megabyte.', 'The battery is at 9%.'];
const careful: ModelView['fit'] = { verdict: 'well', reason: 'It fits.', asks };

describe('the reason for a safer choice', () => {
  it('says what is downloaded, and asks what a download of that model asks', () => {
    const list = [view('a'), view('b', { fit: careful })];
    expect(rungReason(smaller('b'), list)).toBe(
      `${MEANING} 600\u00a0MB are downloaded first. ${asks.join(' ')}`,
    );
  });

  it('asks nothing of a model that is here', () => {
    const here = view('b', { status: { kind: 'ready' }, fit: careful });
    expect(rungReason(smaller('b'), [here])).toBe(MEANING);
  });

  it('says why its download failed', () => {
    const status = { kind: 'failed', message: 'The network went away.', advice: 'Try again.' };
    const failed = view('b', { status: status as ModelView['status'], fit: careful });
    expect(rungReason(smaller('b'), [failed])).toBe(
      `${MEANING} The network went away. Try again. ${asks.join(' ')}`,
    );
  });

  it('speaks of no download where that model is stored and failed with a larger window', () => {
    const stored = view('b', {
      status: { kind: 'failed', message: 'The browser closed.', advice: 'Take the safer choice.' },
      setback: { message: 'The browser closed.', next: { kind: 'cloud' } },
    });
    expect(rungReason(smaller('b', 512), [stored])).toBe(MEANING);
  });
});

describe('a setback that was read', () => {
  const key = (id: string, next: Rung): string => setbackKey(view(id), { message: 'Why.', next });

  it('is the same one as long as the same is offered for the same model', () => {
    expect(key('a', smaller('b'))).toBe(key('a', smaller('b')));
    expect(key('a', { kind: 'cloud' })).toBe(key('a', { kind: 'cloud' }));
  });

  it('is another one for another model, another choice, and another window', () => {
    const keys = [
      key('a', smaller('b')),
      key('c', smaller('b')),
      key('a', smaller('b', 1024)),
      key('a', { kind: 'context', row: view('a').row, contextTokens: 2048 }),
      key('a', { kind: 'cloud' }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('a tap on the safer choice', () => {
  const stepDown = vi.fn<(id: string) => Promise<Rung | null>>();
  const set = vi.fn(async (_some: object) => undefined);
  const app = (cloudAccount: string | null): App =>
    ({
      models: { stepDown },
      settings: { get: async () => ({ cloudAccount }), set },
    }) as unknown as App;
  beforeEach(() => {
    vi.clearAllMocks();
    stepDown.mockResolvedValue({ kind: 'cloud' });
  });

  it('leads to a key where the cloud has none, and keeps the offer', async () => {
    await takeRung(app(null), 'a', { kind: 'cloud' });
    expect(router.navigate).toHaveBeenCalledWith('/cloud');
    expect(stepDown).not.toHaveBeenCalled();
    expect(set).not.toHaveBeenCalled();
  });

  it('takes the cloud where it has one', async () => {
    await takeRung(app('account'), 'a', { kind: 'cloud' });
    expect(stepDown).toHaveBeenCalledWith('a');
    expect(set).toHaveBeenCalledWith({ mode: 'cloud' });
    expect(router.navigate).not.toHaveBeenCalled();
  });

  it('leads to a key where the offer became the cloud since it was shown', async () => {
    await takeRung(app(null), 'a', smaller('b'));
    expect(router.navigate).toHaveBeenCalledWith('/cloud');
    expect(set).not.toHaveBeenCalled();
  });

  it('needs no key for a choice on the phone', async () => {
    stepDown.mockResolvedValue(smaller('b'));
    await takeRung(app(null), 'a', smaller('b'));
    expect(stepDown).toHaveBeenCalledWith('a');
    expect(router.navigate).not.toHaveBeenCalled();
    expect(set).not.toHaveBeenCalled();
  });
});
