/**
 * The rows that a person added by their address: kept in the settings until they are taken away. Rows
 * from a file need no such list, for they lie beside their file (files.ts).
 */
import type { SettingsTable } from '../../store/store.ts';
import { toRow } from './catalogue.ts';
import type { CatalogueRow } from './types.ts';

/** What the ids of all such rows begin with. */
export const OWN = 'own-';

export interface OwnList {
  rows(): Promise<CatalogueRow[]>;
  add(row: CatalogueRow): Promise<void>;
  remove(id: string): Promise<void>;
}

/** What is kept is read as carefully as a list from outside. */
const fromStore = (entry: Readonly<Record<string, unknown>>): CatalogueRow | null =>
  toRow({ ...entry, folder: entry['base'] }, 'https://own.invalid/', { beside: false, own: 'url' });

export function createOwnList(settings: SettingsTable): OwnList {
  const entries = async (): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    (await settings.get()).ownModels ?? [];
  const without = async (id: string) => (await entries()).filter((entry) => entry['id'] !== id);
  return {
    rows: async () => (await entries()).flatMap((entry) => fromStore(entry) ?? []),
    async add(row) {
      await settings.set({ ownModels: [...(await without(row.id)), { ...row }] });
    },
    async remove(id) {
      await settings.set({ ownModels: await without(id) });
    },
  };
}
