import { describe, expect, it } from 'vitest';
import { sizeOf as sizeInTheBrain } from '../../../../src/brain/local/size.ts';
import type { CatalogueRow, ModelView } from '../../../../src/brain/local/types.ts';
import { grouped, offerOf, room, sizeOf } from '../../../../src/ui/screens/models.ts';

const view = (status: ModelView['status'], stored = 0): ModelView =>
  ({
    row: { id: 'm', files: [{ path: 'a', bytes: 300e6 }, { path: 'b' }] },
    status,
    stored,
  }) as unknown as ModelView;

describe('the list of models', () => {
  const model = (
    verdict: ModelView['fit']['verdict'],
    status: ModelView['status'] = { kind: 'absent' },
    stored = 0,
  ): ModelView => ({ ...view(status, stored), fit: { verdict, reason: '', asks: [] } });

  it('begins with what is here or on its way, and ends with what is too big', () => {
    const coming = { kind: 'downloading', received: 0, total: 1, bytesPerSecond: 0 } as const;
    const list = [
      model('well'),
      model('slow'),
      model('well', { kind: 'ready' }, 9),
      model('big', coming),
      model('big'),
      model('slow', { kind: 'absent' }, 5),
    ];
    const groups = grouped(list);
    expect(groups.here).toEqual([list[2], list[3], list[5]]);
    expect(groups.fitting).toEqual([list[0], list[1]]);
    expect(groups.tooBig).toEqual([list[4]]);
  });

  it('says how large a model is: as its files do, or as its row estimates', () => {
    const row = { files: [{ path: 'a', bytes: 5 }, { path: 'b' }] };
    expect(sizeOf(row as never)).toBe(5);
    expect(sizeOf({ ...row, approxBytes: 9 } as never)).toBe(9);
    expect(sizeOf({ files: [{ path: 'a', bytes: 5 }], approxBytes: 9 } as never)).toBe(5);
  });
});

it('a model is as large on the screen as it is for a download', () => {
  const files: CatalogueRow['files'][] = [
    [],
    [{ path: 'a' }],
    [{ path: 'a', bytes: 5 }],
    [{ path: 'a', bytes: 5 }, { path: 'b' }],
    [
      { path: 'a', bytes: 5 },
      { path: 'b', bytes: 0 },
    ],
  ];
  for (const some of files)
    for (const estimate of [{}, { approxBytes: 3 }, { approxBytes: 9 }]) {
      const row = { files: some, ...estimate } as CatalogueRow;
      expect(sizeOf(row)).toBe(sizeInTheBrain(row));
    }
});

describe('the model that a newcomer is offered', () => {
  const unfit: ModelView = { ...view({ kind: 'absent' }), unfit: 'It has no such chip.' };
  const fits = view({ kind: 'absent' });

  it('is the first that the phone can run', () => {
    expect(offerOf(undefined, undefined)).toEqual({ kind: 'looking' });
    expect(offerOf([unfit, fits], undefined)).toEqual({ kind: 'model', model: fits });
    expect(offerOf([unfit], undefined)).toEqual({ kind: 'none' });
  });

  it('is not looked for for ever where the list cannot be read', () => {
    expect(offerOf(undefined, new Error('no storage'))).toEqual({ kind: 'unread' });
    expect(offerOf([fits], new Error('no storage'))).toEqual({ kind: 'model', model: fits });
  });
});

describe('room for a model', () => {
  it('is what is missing of it, and some left for conversations', () => {
    const storage = { used: 100e6, quota: 500e6 };
    expect(room(view({ kind: 'absent' }), storage)).toEqual({
      enough: true,
      needed: 300e6,
      free: 400e6,
    });
    expect(room(view({ kind: 'absent' }), { used: 100e6, quota: 450e6 }).enough).toBe(false);
    expect(room(view({ kind: 'absent' }, 200e6), { used: 300e6, quota: 500e6 }).enough).toBe(true);
  });
});
